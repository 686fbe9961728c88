"""What the user asks of a comparison or a search: sides, the load, and how it is answered."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ndblab.comparing import judged, made
from ndblab.comparing.made import Load
from ndblab.comparing.sides import Sides
from ndblab.planning import number
from ndblab.planning.point import DEFAULT_WORKLOAD

MINUTES = 15
"""How long a comparison takes at most, by default."""


@dataclass(frozen=True)
class Options:
    """What `./lab compare` and `./lab tune` are asked, as it was typed; None where it was not.

    LabError if the minutes are not a whole number.

    Parameters
    ----------
    words : as `sides.parse` takes them.
    workload, schema, writes : as `resolving.resolve` takes them; None for point selects.
    servers, clients : of a side that does not set them.
    minutes : after which measuring ends, even if nothing is decided.
    profile, overrides : the size; `overrides` are tables, table_size and seed.
    port : first port of the lab's own clusters.
    again : repeat what is complete.
    as_json : answer for programs.
    only_plan : start nothing, and return what would be done.
    """

    USUAL_MINUTES: ClassVar[int]

    words: tuple[str, ...] = ()
    workload: str | None = None
    schema: str | None = None
    writes: bool = False
    servers: object = None
    clients: object = None
    minutes: object = None
    profile: str = "quick"
    overrides: Mapping[str, object] = field(default_factory=dict)
    port: int | str | None = None
    again: bool = False
    as_json: bool = False
    only_plan: bool = False

    def __post_init__(self) -> None:
        # A mistake is told before anything is installed or read.
        _ = self.limit

    @property
    def limit(self) -> int:
        """Return the minutes after which measuring ends."""
        minutes = self.USUAL_MINUTES if self.minutes is None else self.minutes
        return number.whole("--minutes", minutes)

    @property
    def load(self) -> str:
        """Return the workload as the user names it."""
        return self.workload or DEFAULT_WORKLOAD

    @property
    def given(self) -> dict[str, object]:
        """Return the overrides of the size that were typed."""
        return {key: value for key, value in self.overrides.items() if value is not None}

    def common(self, parsed: Sides, workload: str, cpus: int) -> Load:
        """Return the load of a side that does not set its own, on a host with so many CPUs."""
        servers = number.whole("--servers", 1 if self.servers is None else self.servers)
        clients = None if self.clients is None else number.whole("--clients", self.clients)
        return made.load(parsed, workload, servers, clients, cpus)


@dataclass(frozen=True)
class Request(Options):
    """The options of `./lab compare`; LabError if `within` is no such distance.

    Parameters
    ----------
    within : distance from equal, in per cent, that still counts as equivalent.
    attach, endpoints : connect string and MySQL servers of an attached cluster, as
        `attach.target` takes them.
    may_change : whether global variables of these servers may be set temporarily.
    of_another : the command that makes this request, if it is not `./lab compare`.
    """

    USUAL_MINUTES = MINUTES

    within: object = None
    attach: str | None = None
    endpoints: str | None = None
    may_change: bool = False
    of_another: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.band

    @property
    def band(self) -> float:
        """Return the distance from equal, as a share, that still counts as equivalent."""
        if self.within is None:
            return judged.WITHIN
        return number.positive("--within", self.within, 50) / 100

    @property
    def command(self) -> str:
        """Return the command as it was typed, without its minutes."""
        if self.of_another:
            return self.of_another
        options = {
            "attach": self.attach, "endpoints": self.endpoints, "workload": self.workload,
            "schema": self.schema, "servers": self.servers, "clients": self.clients,
            "within": self.within, "profile": None if self.profile == "quick" else self.profile,
            "base-port": self.port, **self.given,
        }  # fmt: skip
        typed = [str(word) for word in self.words]
        for name, value in options.items():
            if value is not None:
                typed += [f"--{name.replace('_', '-')}", str(value)]
        typed += ["--writes"] * self.writes + ["--may-change"] * self.may_change
        return shlex.join(["./lab", "compare", *typed])
