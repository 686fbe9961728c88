"""A comparison, from the words that the user typed to the answer."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import start_stop
from ndblab.comparing import answer, choice, figure, installed, judged, made, read_back, sides
from ndblab.comparing.choice import Choice
from ndblab.comparing.made import Load
from ndblab.comparing.request import Request
from ndblab.comparing.sides import Sides
from ndblab.design import time_needed
from ndblab.error import LabError
from ndblab.formatting import count, duration
from ndblab.install import engines
from ndblab.machine import host
from ndblab.measuring import dry_run, feasible, measurement
from ndblab.measuring import request as measuring
from ndblab.measuring.deciding.choice import next_look
from ndblab.measuring.manifest import ROOT
from ndblab.planning import config, deployment
from ndblab.planning.cpu_budget import ATTACHED
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.shape import Shape
from ndblab.planning.workload import SYSBENCH
from ndblab.workloads import registry
from ndblab.workloads.own import resolving

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.profile import Profile

PICTURES = ROOT / "out/compare"
_CPUS = {"scaled": "divided as said", "shared": "undivided", ATTACHED: "as they are"}


@dataclass(frozen=True)
class Comparison:
    """Two sides with the experiment that compares them, of one size, on this host."""

    sides: Sides
    choice: Choice
    experiment: Experiment
    size: Profile
    overrides: Mapping[str, object]
    engines: str | None
    workload: str

    @property
    def block_s(self) -> float:
        """Expected seconds of a block."""
        [contrast] = self.experiment.contrasts(self.experiment, self.size, None)
        return time_needed.block_s(contrast, self.experiment, self.size)

    @property
    def needed_s(self) -> dict[float, float]:
        """Seconds in which half of such comparisons tell an effect, by its size."""
        before_s = time_needed.sweep_s(self.experiment, self.size)
        block_s, own = self.block_s, self.choice
        return {
            effect: before_s + block_s * choice.blocks_needed(own.design, effect, own.turns)
            for effect in choice.EFFECTS
        }

    def to_json(self, minutes: int) -> dict[str, object]:
        """Return what would be done as plain data; null where it would take more than a day."""
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
                for effect, needed_s in self.needed_s.items()
            },
        }

    def plan(self, minutes: int) -> str:
        """Say what will be done and how long it takes, before anything is started."""
        point = self.experiment.grid(self.experiment, self.size)[0]
        return "\n".join(
            [
                answer.said(self.sides),
                f"by {self.choice.described}",
                f"under {self.workload}, {count(point.servers, 'MySQL server')} and "
                f"{count(point.clients, 'client')} on A, CPUs {_CPUS[self.experiment.budget]}",
                f"{choice.times(self.needed_s)}; {duration(self.block_s)} a block, at most "
                f"{minutes} min",
            ]
        )


def compare(
    request: Request, *, notebook: Callable[[datasets.Dataset, float], Path | None] | None = None
) -> tuple[str, int]:
    """Compare two sides; return the answer as text and the exit status of the command.

    LabError if the sides cannot be compared; completed slices are saved.

    Parameters
    ----------
    notebook : writes the notebook of a dataset, judged within a band, and returns its file.
    """
    asked = resolved(request.load, request.schema, request.writes)
    comparison = prepare(request, feasible.programs(request.only_plan), asked)
    return carried_out(comparison, request, dry_run.dry_run, measurement.measure, notebook)


def carried_out(
    comparison: Comparison,
    request: Request,
    describe: Callable[[Experiment, measuring.Request], str],
    measure: Callable[[Experiment, measuring.Request], datasets.Dataset],
    notebook: Callable[[datasets.Dataset, float], Path | None] | None = None,
) -> tuple[str, int]:
    """Measure a prepared comparison, or only describe that; otherwise as `compare`."""
    limit, attached = request.limit, request.attach or request.endpoints
    if request.only_plan and request.as_json:
        return json.dumps(comparison.to_json(limit), indent=1), 0
    # Measuring aims at a decision on the throughput.
    findings = functools.partial(judged.findings, within=request.band)
    asked = measuring.Request(
        request.profile, overrides=comparison.overrides, port=request.port, again=request.again,
        minutes=limit, engines=comparison.engines,
        judging=measurement.Judging(findings, judged.claims(request.band), command=""),
        attach=(request.attach, request.endpoints) if attached else None,
    )  # fmt: skip
    if request.only_plan:
        return f"{comparison.plan(limit)}\n\n{describe(comparison.experiment, asked)}", 0
    print(comparison.plan(limit), file=sys.stderr)
    data = measure(comparison.experiment, asked)
    return _answered(comparison, data, request, notebook)


def prepare(request: Request, binaries: Binaries, workload: resolving.Workload) -> Comparison:
    """Decide how two sides are compared, and check all that can be checked before a start.

    LabError if they cannot be compared, or the programs refuse a setting.
    """
    machine = host.read()
    parsed = sides.parse(request.words, known_to(binaries, machine))
    common = request.common(parsed, workload.name, machine.usable_cpus)
    two = _engines(parsed, binaries)
    # sysbench reports every second.
    one_load = registry.find(workload.name).ROLE == SYSBENCH
    choose = functools.partial(
        choice.choose, servers=common.servers, one_load=one_load, turns=workload.takes_turns
    )
    first = made.experiment(parsed, choose(parsed), common)
    size, given = size_of(first, parsed, common, request)
    places = start_stop.places(start_stop.home(), request.port)
    plans = first.plans(size, "auto", machine, places)
    if two is None:
        has = {
            side: read_back.effective(binaries, plans[variant], parsed.of(side))
            for side, variant in made.VARIANTS.items()
        }
        parsed = sides.without_effect(parsed, has)
    settings = {side: parsed.of(side) for side in made.VARIANTS}
    for side, variant in made.VARIANTS.items():
        choice.check_memory(machine, plans[variant], settings[side], side)
    free = feasible.disk_free_bytes(plans[DEFAULT_VARIANT])
    both = tuple(plans.values()), tuple(settings.values())
    no_twins = choice.no_twins(machine, *both, free)
    chosen = choose(parsed, no_twins)
    experiment = made.experiment(
        parsed, chosen, common, functools.partial(read_back.check, parsed, chosen.design)
    )
    return Comparison(parsed, chosen, experiment, size, given, two, workload.label)


def _answered(
    comparison: Comparison,
    data: datasets.Dataset,
    request: Request,
    notebook: Callable[[datasets.Dataset, float], Path | None] | None,
) -> tuple[str, int]:
    """Return the answer that a dataset gives, as text or JSON, and the exit status."""
    within, command, parsed = request.band, request.command, comparison.sides
    result = judged.judge(data, within)
    written = {
        "Figure": figure.save(data, result, parsed, within, PICTURES),
        "Notebook": notebook and notebook(data, within),
    }
    go_on = ""
    if result.outcome == judged.UNDECIDED and next_look(result.blocks):
        more = judged.more_minutes(data, within, comparison.block_s)
        go_on = f"{command} --minutes {more}"
    if request.as_json:
        design, path = comparison.choice.design, str(data.path)
        plain = answer.to_json(result, parsed, design, within, path, go_on)
        return json.dumps(plain, indent=1), result.status
    lines = [answer.said(parsed), "", answer.sentence(result, within), "", answer.to_paste(parsed)]
    lines += ["", f"Go on: {go_on}"] if go_on else ["", f"Measure it anew: {command} --again"]
    lines += [f"{what}: {file}" for what, file in written.items() if file]
    return "\n".join([*lines, f"Dataset: {data.path}"]), result.status


def resolved(
    given: str, schema: str | None, writes: bool, in_place: bool = False
) -> resolving.Workload:
    """Return the workload that the user means, as `resolving.resolve` does; it must have a rate."""
    workload = resolving.resolve(given, schema, writes, in_place=in_place)
    if registry.ends_by_itself(workload.name):
        raise LabError(
            f"{given} cannot be compared: it ends by itself and has no rate of queries",
            next_step="Choose another --workload.",
        )
    return workload


def known_to(binaries: Binaries, machine: Host) -> list:
    """Return the knobs that the installed programs know, to complement the lab's table."""
    plan = deployment.make(machine, Shape(1, 1, 1, budget="shared", small_redo=True))
    return installed.unlisted(
        installed.read_variables(binaries, config.my_cnf(plan, binaries.mysqld_version)),
        installed.read_parameters(binaries, config.config_ini(plan, binaries.ndb_version)),
    )


def size_of(
    experiment: Experiment, parsed: Sides, common: Load, request: Request
) -> tuple[Profile, dict[str, object]]:
    """Return the size, with the servers and clients that either side needs, and its overrides."""
    points = [made.point(parsed, side, common) for side in made.VARIANTS]
    given = {
        **request.given,
        "servers": sorted({point.servers for point in points}),
        "clients": sorted({point.clients for point in points}),
    }
    return experiment.size(request.profile, given), given


def _engines(parsed: Sides, binaries: Binaries) -> str | None:
    """Return the two installations to compare, A's first; None if both sides share one."""
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
    return ",".join(str(name or binaries.basedir) for name in named)
