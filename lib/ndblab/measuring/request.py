"""What is asked of a measurement, whichever experiment it is of, and the command that asks it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.measuring.deciding import Judging


@dataclass(frozen=True)
class Request:
    """The options of a measurement.

    Parameters
    ----------
    size, overrides : name of the profile, and values by field of the profile.
    budget, port : how CPUs are divided, and the first port of the lab's own clusters.
    again : repeat a complete measurement. If False, its dataset is returned instead; with
        `minutes`, what others on the host disturbed is first measured again, and the open claims
        get the rest of the time.
    minutes : minutes from the start after which open claims are no longer measured; the sweep is
        always completed. None for the profile's own time.
    engines : the two installations of an experiment that compares engines, as for
        `install.engines`; None for any other experiment.
    hosts : the hosts to spread the cluster over, as for `connected.opened`; None for this machine
        alone, or for namespaces of this machine if the experiment needs several hosts.
    insecure_network : leave NDB's own links between `hosts` in plain text. Links between namespaces
        that the experiment needs never leave this machine, and are always in plain text.
    attach : connect string and endpoints, as typed, of a running cluster to measure.
    judging : what contrasts are measured for; None for the published claims.
    progress : show a bar with the time left.
    """

    size: str = "quick"
    budget: str = "auto"
    overrides: Mapping[str, object] = field(default_factory=dict)
    port: int | str | None = None
    progress: bool = True
    again: bool = True
    minutes: int | None = None
    engines: str | None = None
    hosts: str | None = None
    insecure_network: bool = False
    attach: tuple[str | None, str | None] | None = None
    judging: Judging | None = None

    def say(self, text: str) -> None:
        """Tell the user what is going on, if that is wanted."""
        if self.progress:
            print(text, file=sys.stderr)

    def command(self, experiment: Experiment) -> str:
        """Return the command of this measurement, without its minutes."""
        figure = next((figure for figure in experiment.figures if figure.isdigit()), None)
        options: dict[str, object] = (
            {"figure": figure} if figure else {"experiment": experiment.name}
        )
        options |= {"profile": self.size} if self.size != "quick" else {}
        if self.budget != "auto" and not self.attach:
            options["budget"] = self.budget
        options |= {key.removesuffix("_s"): value for key, value in self.overrides.items()}
        if self.attach:
            connectstring, endpoints = (shlex.quote(str(word)) for word in self.attach)
            options |= {"attach": connectstring, "endpoints": endpoints}
        else:
            options |= {"base_port": self.port, "engines": self.engines, "hosts": self.hosts}
        words = (
            f"--{name.replace('_', '-')} {_as_typed(value)}"
            for name, value in options.items()
            if value is not None
        )
        insecure = ["--insecure-network"] * bool(self.hosts and self.insecure_network)
        return " ".join(["./lab reproduce", *words, *insecure])


def _as_typed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
