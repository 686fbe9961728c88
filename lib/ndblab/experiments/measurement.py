"""A measurement, from this host to a dataset: plan, install, clusters, sweep.

In: an experiment, a profile, a budget. Out: a complete dataset in `data/runs`.
It resumes an interrupted measurement, and judges nothing.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.analysis.formatting import count
from ndblab.error import LabError
from ndblab.experiments import manifest
from ndblab.experiments.designs import sweep
from ndblab.experiments.experiment import Experiment
from ndblab.experiments.manifest import ROOT
from ndblab.machine import host
from ndblab.planning.deployment import Plan
from ndblab.planning.point import DEFAULT_VARIANT

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.planning.profile import Profile

RUNS = ROOT / "data/runs"

INSTALL_S = 300
RUN_OVERHEAD_S = 0.9
START_S, START_PER_SERVER_S, PREPARE_ROWS_PER_S = 12, 0.8, 20_000
"""What a sweep costs besides its runs, observed on 2 CPUs."""


def plan_for(
    experiment: Experiment,
    size: Profile,
    budget: str,
    port: int | str | None = None,
) -> tuple[host.Host, Plan]:
    """Plan the cluster of an experiment's default variant on this host."""
    from ndblab.cluster import start_stop

    machine = host.read()
    places = start_stop.places(start_stop.home(), port)
    return machine, experiment.plans(size, budget, machine, places)[DEFAULT_VARIANT]


def check(machine: host.Host, plan: Plan) -> None:
    """Refuse a plan that this host cannot carry out.

    Raises
    ------
    LabError
        If it lacks memory, disk space, or numactl for a `pinned` plan.
    """
    if plan.budget.kind == "pinned" and not shutil.which("numactl"):
        raise LabError(
            "Pinning processes needs numactl",
            found="none on PATH",
            expected="numactl, which binds CPUs and memory as the brief did",
            next_step="Install it (sudo apt-get install -y numactl), or use --budget scaled.",
        )
    folder = Path(plan.places.cluster_dir)
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    plan.check(machine, shutil.disk_usage(existing).free)


def estimate_s(experiment: Experiment, size: Profile) -> float:
    """Estimate how long a measurement takes once everything is installed, in seconds."""
    todo = experiment.sweep(size)
    servers_s = START_PER_SERVER_S * experiment.servers(size)
    start_s = START_S + servers_s + size.rows / PREPARE_ROWS_PER_S
    starts = 1 + todo.repeats * (len(todo.clusters) - 1)
    faults = [experiment.variant(point.variant).fault for point in todo.points]
    faults_s = todo.repeats * sum(fault.lasts_s for fault in faults if fault)
    return starts * start_s + sweep.estimate_s(todo, RUN_OVERHEAD_S) + faults_s


def measure(
    experiment: Experiment,
    size: str = "quick",
    budget: str = "auto",
    overrides: dict[str, object] | None = None,
    port: int | str | None = None,
    progress: bool = True,
    again: bool = True,
) -> datasets.Dataset:
    """Measure an experiment on this host, resuming an interrupted measurement.

    With `again` False, a complete dataset of the same measurement is returned instead.

    Raises
    ------
    LabError
        If it is impossible here, or a cluster fails on the way; completed runs are saved.
    """
    from ndblab import dataset as datasets
    from ndblab import install
    from ndblab.cluster import start_stop
    from ndblab.experiments.clusters import Clusters

    def say(text: str) -> None:
        if progress:
            print(text, file=sys.stderr)

    wanted = experiment.size(size, overrides)
    todo = experiment.sweep(wanted)
    machine = host.read()
    places = start_stop.places(start_stop.home(), port)
    plans = experiment.plans(wanted, budget, machine, places)
    for plan in plans.values():
        check(machine, plan)
    plan = plans[DEFAULT_VARIANT]
    say(f"{experiment.name}: {experiment.question}\n{machine.describe()}")
    say(f"{count(len(todo), 'run')}, about {minutes(estimate_s(experiment, wanted))} in all")
    say(f"budget {plan.budget.kind}: {plan.budget.reason}")
    if wanted.repeats == 1 and len(todo) > 1:
        say("verdicts need at least two repeats: --repeats 2")
    if install.find() is None:
        say(f"one-time install of NDB Cluster and sysbench: about {minutes(INSTALL_S)} more")
    binaries = install.ensure(progress=progress)

    described, identity = manifest.describe(
        experiment, wanted, budget, machine, binaries, overrides
    )
    if not again and (known := datasets.complete(RUNS, experiment.name, identity)):
        say(f"already measured (--again repeats it): {known.name}")
        return datasets.read(known)
    with (
        datasets.Writer.open(RUNS, experiment.name, identity, described) as writer,
        contextlib.closing(
            Clusters(experiment, wanted, plans, binaries, writer, progress)
        ) as clusters,
    ):
        sweep.perform(todo, writer, clusters.ready, clusters.measure, progress)
        clusters.close()
        return writer.finish()


def minutes(seconds: float) -> str:
    """Write a duration in the unit that people use for it."""
    for limit_s, unit_s, unit in ((90, 1, "s"), (5400, 60, "min")):
        if seconds < limit_s:
            return f"{seconds / unit_s:.0f} {unit}"
    return f"{seconds / 3600:.1f} h"
