"""The request for a measurement, and the command that makes it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.measuring.deciding import Judging


@dataclass(frozen=True)
class Request:
    """The parameters of `measurement.measure`, except for the network between hosts."""

    experiment: Experiment
    size: str
    budget: str
    overrides: dict[str, object] | None
    port: int | str | None
    progress: bool
    again: bool
    minutes: int | None
    engines: str | None
    hosts: str | None
    judging: Judging | None

    def say(self, text: str) -> None:
        """Tell the user what is going on, if that is wanted."""
        say(text, self.progress)


def say(text: str, progress: bool) -> None:
    """Tell the user what is going on, if that is wanted."""
    if progress:
        print(text, file=sys.stderr)


def command(
    experiment: Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object] | None,
    port: int | str | None = None,
    engines: str | None = None,
    hosts: str | None = None,
    insecure_network: bool = False,
) -> str:
    """Return the command of a measurement with these options."""
    figure = next((figure for figure in experiment.figures if figure.isdigit()), None)
    options: dict[str, object] = {"figure": figure} if figure else {"experiment": experiment.name}
    options |= {"profile": size} if size != "quick" else {}
    options |= {"budget": budget} if budget != "auto" else {}
    options |= {key.removesuffix("_s"): value for key, value in (overrides or {}).items()}
    options |= {"base_port": port, "engines": engines, "hosts": hosts}
    words = (
        f"--{name.replace('_', '-')} {_as_typed(value)}"
        for name, value in options.items()
        if value is not None
    )
    insecure = ["--insecure-network"] if insecure_network else []
    return " ".join(["./lab reproduce", *words, *insecure])


def _as_typed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
