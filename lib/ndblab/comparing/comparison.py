"""A comparison, from the words that the user typed to the answer."""

from __future__ import annotations

import functools
import json
import math
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.comparing import (
    answer,
    choice,
    figure,
    installed,
    judged,
    made,
    read_back,
    room,
    sides,
)
from ndblab.comparing.choice import Choice
from ndblab.comparing.made import Load
from ndblab.comparing.sides import Sides
from ndblab.design import time_needed
from ndblab.error import LabError
from ndblab.formatting import count, duration
from ndblab.install import engines
from ndblab.machine import host
from ndblab.measuring import dry_run, feasible, measurement, prerequisites
from ndblab.measuring.manifest import ROOT
from ndblab.planning import config, deployment, number
from ndblab.planning.cpu_budget import ATTACHED
from ndblab.planning.point import DEFAULT_VARIANT, DEFAULT_WORKLOAD
from ndblab.planning.shape import Shape
from ndblab.workloads import registry
from ndblab.workloads.own import resolving

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.profile import Profile

PICTURES = ROOT / "out/compare"
MINUTES = 15
"""How long a comparison takes at most, unless told."""
_CPUS = {"scaled": "divided as said", "shared": "undivided", ATTACHED: "as they are"}


@dataclass(frozen=True)
class Comparison:
    """Two sides with the experiment that compares them, of one size, on this host."""

    sides: Sides
    choice: Choice
    experiment: Experiment
    size: Profile
    profile: str
    overrides: Mapping[str, object]
    engines: str | None
    binaries: Binaries
    workload: str

    @property
    def block_s(self) -> float:
        """Expected seconds of a block."""
        [contrast] = self.experiment.contrasts(self.experiment, self.size, None)
        return time_needed.block_s(contrast, self.experiment, self.size)

    def to_json(self, minutes: int) -> dict[str, object]:
        """Return what would be done as plain data; null where it would take more than a day."""
        before_s = time_needed.sweep_s(self.experiment, self.size)
        needed = choice.seconds(self.choice.design, self.block_s, before_s)
        return {
            "a": [str(setting) for setting in self.sides.of("a")],
            "b": [str(setting) for setting in self.sides.of("b")],
            "left_out": list(self.sides.left_out),
            "design": self.choice.design,
            "because": list(self.choice.because),
            "restarts": choice.restarts(self.sides),
            "workload": self.workload,
            "block_s": round(self.block_s, 1),
            "minutes": minutes,
            "minutes_to_decide": {
                str(effect): round(needed_s / 60, 1) if math.isfinite(needed_s) else None
                for effect, needed_s in needed.items()
            },
        }

    def plan(self, minutes: int) -> str:
        """Say what will be done and how long it takes, before anything is started."""
        point = made.point(self.sides, "a", _load_of(self.experiment))
        before_s = time_needed.sweep_s(self.experiment, self.size)
        return "\n".join(
            [
                answer.said(self.sides),
                f"by {self.choice.described}",
                f"under {self.workload}, {count(point.servers, 'MySQL server')} and "
                f"{count(point.clients, 'client')} on A, CPUs {_CPUS[self.experiment.budget]}",
                choice.times(self.choice.design, self.block_s, before_s)
                + f"; {duration(self.block_s)} a block, at most {minutes} min",
            ]
        )


def compare(
    words: Sequence[str],
    *,
    workload: str | None = None,
    schema: str | None = None,
    writes: bool = False,
    servers: object = None,
    clients: object = None,
    minutes: object = None,
    within: object = None,
    profile: str = "quick",
    overrides: Mapping[str, object] | None = None,
    port: int | str | None = None,
    again: bool = False,
    as_json: bool = False,
    only_plan: bool = False,
    pictures: Path = PICTURES,
    notebook: Callable[[datasets.Dataset, float], Path | None] | None = None,
) -> tuple[str, int]:
    """Compare two sides; return the answer as text and the exit status of the command.

    Parameters
    ----------
    words : as `sides.parse` has them.
    workload, schema, writes : as `resolving.resolve` has them; None for point selects.
    within : per cent from equal that still count as equivalent.
    only_plan : start nothing, and return what would be done.
    pictures : folder for the figure.
    notebook : writes the notebook of a dataset, judged within a band, and returns its file.

    Raises
    ------
    LabError
        If the sides cannot be compared; completed slices are saved.
    """
    limit = number.whole("--minutes", MINUTES if minutes is None else minutes)
    band = judged.WITHIN if within is None else number.positive("--within", within, 50) / 100
    overrides = {key: value for key, value in (overrides or {}).items() if value is not None}
    typed = {"workload": workload, "schema": schema, "servers": servers, "clients": clients}
    again_command = command(words, typed, writes, within, profile, overrides, port)
    asked, binaries = resolved(workload or DEFAULT_WORKLOAD, schema, writes), programs()
    comparison = prepare(words, binaries, asked, servers, clients, profile, overrides, port)
    if only_plan and as_json:
        return json.dumps(comparison.to_json(limit), indent=1), 0
    if only_plan:
        return _dry_run(comparison, limit, port), 0
    print(comparison.plan(limit), file=sys.stderr)
    data = measurement.measure(
        comparison.experiment, profile, "auto", dict(comparison.overrides), port,
        again=again, minutes=limit, engines=comparison.engines,
        judging=judging(band, again_command),
    )  # fmt: skip
    picture = figure.save(data, judged.judge(data, band), comparison.sides, band, pictures)
    written = {"Figure": picture, "Notebook": notebook and notebook(data, band)}
    return answered(comparison, data, band, again_command, as_json, written)


def judging(within: float, command: str) -> measurement.Judging:
    """Return what blocks are measured for: that the throughput is decided."""
    findings = functools.partial(judged.findings, within=within)
    return measurement.Judging(findings, judged.claims(within), command)


def prepare(
    words: Sequence[str],
    binaries: Binaries,
    workload: resolving.Workload,
    servers: object,
    clients: object,
    profile: str,
    overrides: Mapping[str, object],
    port: int | str | None = None,
) -> Comparison:
    """Decide how two sides are compared, and check all that can be before anything is started.

    Raises
    ------
    LabError
        If they cannot be, or the programs refuse a setting.
    """
    machine = host.read()
    parsed = sides.parse(words, known_to(binaries, machine))
    common = made.load(
        parsed,
        workload.name,
        number.whole("--servers", 1 if servers is None else servers),
        None if clients is None else number.whole("--clients", clients),
        machine.usable_cpus,
    )
    two = _engines(parsed, binaries)
    first = made.experiment(parsed, choice.choose(parsed, servers=common.servers), common)
    size, given = size_of(first, parsed, common, profile, overrides)
    places = start_stop.places(start_stop.home(), port)
    plans = first.plans(size, "auto", machine, places)
    if two is None:
        has = {
            side: read_back.effective(binaries, plans[variant], parsed.of(side))
            for side, variant in made.VARIANTS.items()
        }
        parsed = sides.without_effect(parsed, has)
    settings = {side: parsed.of(side) for side in made.VARIANTS}
    for side, variant in made.VARIANTS.items():
        room.check(machine, plans[variant], settings[side], side)
    free = feasible.disk_free_bytes(plans[DEFAULT_VARIANT])
    both = tuple(plans.values()), tuple(settings.values())
    no_twins = room.no_twins(machine, *both, free)
    chosen = choice.choose(parsed, no_twins, common.servers)
    experiment = made.experiment(
        parsed, chosen, common, functools.partial(read_back.check, parsed, chosen.design)
    )
    return Comparison(
        parsed, chosen, experiment, size, profile, given, two, binaries, workload.label
    )


def answered(
    comparison: Comparison,
    data: datasets.Dataset,
    within: float,
    command: str,
    as_json: bool,
    written: Mapping[str, Path | None],
) -> tuple[str, int]:
    """Return the answer that a dataset gives, as text or JSON, and the exit status.

    Parameters
    ----------
    written : files to name, by what they are.
    """
    found, parsed = judged.judge(data, within), comparison.sides
    more = min(60, max(5, 2 * round(found.minutes)))
    go_on = "" if found.outcome != judged.UNDECIDED else f"{command} --minutes {more}"
    if as_json:
        design, path = comparison.choice.design, str(data.path)
        plain = answer.to_json(found, parsed, design, within, path, go_on)
        return json.dumps(plain, indent=1), found.status
    lines = [answer.said(parsed), "", answer.sentence(found, within), "", answer.to_paste(parsed)]
    lines += ["", f"Go on: {go_on}"] if go_on else ["", f"Measure it anew: {command} --again"]
    lines += [f"{what}: {file}" for what, file in written.items() if file]
    return "\n".join([*lines, f"Dataset: {data.path}"]), found.status


def _dry_run(comparison: Comparison, minutes: int, port: int | str | None) -> str:
    text = dry_run.dry_run(
        comparison.experiment, comparison.profile, "auto", dict(comparison.overrides), port,
        engines=comparison.engines,
    )  # fmt: skip
    return f"{comparison.plan(minutes)}\n\n{text}"


def resolved(given: str, schema: str | None, writes: bool) -> resolving.Workload:
    """Return the workload that the user means; it must have a rate."""
    found = resolving.resolve(given, schema, writes)
    if registry.ends_by_itself(found.name):
        raise LabError(
            f"{given} cannot be compared: it ends by itself and has no rate of queries",
            next_step="Choose another --workload.",
        )
    return found


def programs() -> Binaries:
    """Return the installed programs; settings are checked against them, so they come first."""
    if install.find() is None:
        prerequisites.require(host.read(), installing=True)
    return install.ensure()


def known_to(binaries: Binaries, machine: Host) -> list:
    """Return what the installed programs know of settings besides the lab's table."""
    plan = deployment.make(machine, Shape(1, 1, 1, budget="shared", small_redo=True))
    return installed.unlisted(
        installed.read_variables(binaries, config.my_cnf(plan, binaries.mysqld_version)),
        installed.read_parameters(binaries, config.config_ini(plan, binaries.ndb_version)),
    )


def _load_of(experiment: Experiment) -> Load:
    first = experiment.grid(experiment, None)[0]
    return Load(first.workload, first.servers, first.clients)


def size_of(
    experiment: Experiment,
    parsed: Sides,
    common: Load,
    profile: str,
    overrides: Mapping[str, object],
) -> tuple[Profile, dict[str, object]]:
    """Return the size, with as many servers and clients as either side needs, and what it adds."""
    points = [made.point(parsed, side, common) for side in made.VARIANTS]
    given = {
        **overrides,
        "servers": sorted({each.servers for each in points}),
        "clients": sorted({each.clients for each in points}),
    }
    return experiment.size(profile, given), given


def _engines(parsed: Sides, binaries: Binaries) -> str | None:
    """Return the two installations to compare, A's first; None if both sides have one."""
    named = [parsed.value(side, "engine") for side in made.VARIANTS]
    if not any(named):
        return None
    for name in filter(None, named):
        engines.check_present(str(name))
    there = [engines.present(str(name)) if name else binaries for name in named]
    if named[0] == named[1] or (all(there) and there[0].basedir == there[1].basedir):
        raise LabError(
            "Both sides are the same engine",
            found=f"engine={named[0] or named[1]}, which both have",
            expected="engine=... on one side, or another on each",
            next_step="Leave it out to compare with the installation in use.",
        )
    return ",".join(str(each or binaries.basedir) for each in named)


def command(
    words: Sequence[str],
    load: Mapping[str, object],
    writes: bool,
    within: object,
    profile: str,
    overrides: Mapping[str, object],
    port: int | str | None,
    may_change: bool = False,
) -> str:
    """Return the command as it was typed, without its minutes."""
    options = {
        **load, "within": within, "profile": None if profile == "quick" else profile,
        "base_port": port, **overrides,
    }  # fmt: skip
    typed = [str(word) for word in words]
    for name, value in options.items():
        if value is not None:
            typed += [f"--{name.replace('_', '-')}", str(value)]
    typed += ["--writes"] * writes + ["--may-change"] * may_change
    return shlex.join(["./lab", "compare", *typed])
