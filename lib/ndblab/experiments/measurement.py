"""A measurement, from this host to a dataset: plan, install, clusters, sweep.

In: an experiment, a profile, a budget. Out: a complete dataset of `data/runs`.
It goes on where an interrupted measurement stopped, and judges nothing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.experiments import sweep
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.point import DEFAULT_VARIANT, Point

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.cluster.lifecycle import Cluster
    from ndblab.experiments.catalogue import Experiment
    from ndblab.experiments.experiment import Variant
    from ndblab.install import Binaries
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Job
    from ndblab.workloads.measured_run import Run

ROOT = Path(__file__).resolve().parents[3]
RUNS = ROOT / "data/runs"

INSTALL_S = 300
RUN_OVERHEAD_S = 0.9
START_S, START_PER_SERVER_S, PREPARE_ROWS_PER_S = 12, 0.8, 20_000
"""What a sweep costs beside its own seconds, seen on 2 CPUs."""


def plan_for(
    experiment: Experiment,
    size: Profile,
    budget: str,
    port: int | None = None,
    variant: str = DEFAULT_VARIANT,
    machine: host.Host | None = None,
) -> tuple[host.Host, deployment.Plan]:
    """Decide how this host, or another, runs an experiment."""
    from ndblab.cluster import lifecycle

    machine = machine or host.read()
    places = lifecycle.places(lifecycle.home(), port)
    return machine, deployment.make(
        machine, experiment.cluster_shape(size, variant, budget, places)
    )


def check(machine: host.Host, decided: deployment.Plan) -> None:
    """Refuse what this host cannot do.

    Raises
    ------
    LabError
        If it lacks memory, disk space, or numactl for a `pinned` plan.
    """
    if decided.budget.kind == "pinned" and not shutil.which("numactl"):
        raise LabError(
            "To pin processes the lab needs numactl",
            found="none on PATH",
            expected="numactl, which binds CPUs and memory as the brief did",
            next_step="Install it (sudo apt-get install -y numactl), or use --budget scaled.",
        )
    folder = Path(decided.places.cluster_dir)
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    decided.check(machine, shutil.disk_usage(existing).free)


def estimate_s(experiment: Experiment, size: Profile) -> float:
    """Say how long a measurement takes once everything is installed, in seconds."""
    todo = experiment.sweep(size)
    servers = max(size.servers) + int(experiment.shape.get("tcp_servers", 0))
    start_s = START_S + START_PER_SERVER_S * servers + size.rows / PREPARE_ROWS_PER_S
    starts = 1 + todo.repeats * (len(todo.clusters) - 1)
    faults = [experiment.variant(point.variant).fault for point in todo.points]
    faults_s = todo.repeats * sum(fault.lasts_s for fault in faults if fault)
    return starts * start_s + sweep.estimate_s(todo, RUN_OVERHEAD_S) + faults_s


def measure(
    experiment: Experiment,
    size: str = "quick",
    budget: str = "auto",
    overrides: dict[str, object] | None = None,
    port: int | None = None,
    progress: bool = True,
    again: bool = True,
) -> datasets.Dataset:
    """Measure an experiment on this host, going on where an interrupted measurement stopped.

    With `again` False a dataset that was measured before, on this host and in the same way, is
    given as it is.

    Raises
    ------
    LabError
        If it cannot be done here, or a cluster fails on the way; whole runs are kept.
    """
    from ndblab import dataset as datasets
    from ndblab import install

    wanted = experiment.size(size, overrides)
    todo = experiment.sweep(wanted)
    machine = host.read()
    plans = {
        v.name: plan_for(experiment, wanted, budget, port, v.name, machine)[1]
        for v in experiment.variants
    }
    for decided in plans.values():
        check(machine, decided)
    decided = plans[DEFAULT_VARIANT]
    _say(progress, f"{experiment.name}: {experiment.question}")
    _say(progress, f"{machine.describe()}")
    _say(progress, f"{len(todo)} runs, about {minutes(estimate_s(experiment, wanted))} in all")
    if install.find() is None:
        _say(progress, f"first NDB Cluster and sysbench, once: about {minutes(INSTALL_S)} more")
    binaries = install.ensure(progress=progress)
    _say(progress, f"budget {decided.budget.kind}: {decided.budget.reason}")
    if wanted.repeats == 1 and len(todo) > 1:
        _say(progress, "one run a point gives no spread, and so no verdict: --repeats 2 gives one")
    base = _manifest(machine, decided, binaries, experiment, wanted, overrides)
    identity = {
        "host": machine.fingerprint,
        "versions": base["versions"],
        "builds": base["builds"],
        "plan": decided.identity(),
        "config": {name: _config_digest(p, binaries) for name, p in plans.items()},
        "variants": base["variants"],
        "profile": wanted.to_dict(),
        "sweep": todo.to_dict(),
    }
    if not again and (known := datasets.complete(RUNS, experiment.name, identity)):
        _say(progress, f"measured before, --again measures anew: {known.name}")
        return datasets.read(known)
    with (
        datasets.Writer.open(RUNS, experiment.name, identity, base) as writer,
        contextlib.closing(
            Clusters(experiment, wanted, plans, binaries, writer, progress)
        ) as clusters,
    ):
        sweep.perform(todo, writer, clusters.ready, clusters.run, progress)
        clusters.close()
        return writer.finish()


class Clusters:
    """The cluster that each point needs, one at a time.

    A cluster is kept for as long as the points that follow need no other.
    """

    def __init__(
        self,
        experiment: Experiment,
        size: Profile,
        plans: Mapping[str, deployment.Plan],
        binaries: Binaries,
        writer: datasets.Writer,
        progress: bool,
    ) -> None:
        self._experiment, self._size, self._plans = experiment, size, plans
        self._binaries, self._writer, self._progress = binaries, writer, progress
        self._stack = contextlib.ExitStack()
        self._cluster: Cluster | None = None

    def run(self, cluster: Cluster, point: Point, repeat: int) -> Run:
        """Measure one run at a point, on its cluster."""
        from ndblab.faults import run_with_fault
        from ndblab.workloads import measured_run

        fault = self._experiment.variant(point.variant).fault
        if fault is None:
            return measured_run.measure(cluster, self._job(point), repeat)
        run = run_with_fault.measure(cluster, self._job(point), repeat, fault)
        if not run.recovered:
            self.close()
        return run

    def close(self) -> None:
        """Stop the cluster that runs."""
        self._cluster = None
        self._stack.close()

    def ready(self, point: Point) -> Cluster:
        """Give the cluster of a point, with its tables filled; start it where it does not run."""
        from ndblab.cluster import lifecycle
        from ndblab.planning import config
        from ndblab.workloads import registry

        wanted = self._plans[point.variant]
        if self._cluster is not None and self._cluster.plan == wanted:
            return self._cluster
        self.close()
        started = self._stack.enter_context(
            lifecycle.running(wanted, self._binaries, self._progress)
        )
        filled = registry.find(point.workload).prepare(started, self._job(point))
        started.limit()
        prefix = "" if wanted == self._plans[DEFAULT_VARIANT] else f"{point.variant}."
        for name in (config.CONFIG_INI, config.MY_CNF):
            self._writer.add_config(prefix + name, (started.folder / name).read_text())
        if not prefix:
            taken = {str(node): used for node, used in filled.data_memory_bytes.items()}
            self._writer.note(
                timings={**started.timings, "prepare_s": filled.seconds},
                filled={"rows": filled.rows, "data_memory_bytes": taken},
            )
            self._progress = False
        self._cluster = started
        return started

    def _job(self, point: Point) -> Job:
        return job_of(
            self._binaries, self._size, self._plans[point.variant], point,
            self._experiment.variant(point.variant),
        )  # fmt: skip


def job_of(
    binaries: Binaries, size: Profile, plan: deployment.Plan, point: Point, variant: Variant
) -> Job:
    """Give what the load generator of a point is asked to do, on the cluster of this plan."""
    from ndblab.workloads.load_generator import Job

    servers = plan.servers_by(point.transporter)[: point.servers]
    return Job(binaries, size, point, servers, variant.tcp_clients)


def _manifest(
    machine: host.Host,
    decided: deployment.Plan,
    binaries: Binaries,
    experiment: Experiment,
    size: Profile,
    overrides: dict[str, object] | None,
) -> dict[str, object]:
    from ndblab.workloads import registry

    versions: dict[str, str] = {}
    for point in experiment.sweep(size).points:
        versions |= registry.find(point.workload).versions(binaries)
    return {
        "host": machine.to_dict(),
        "versions": {
            "ndb": binaries.ndb_version,
            "mysqld": binaries.mysqld_version,
            **versions,
        },
        "builds": binaries.fingerprint(),
        "plan": decided.identity(),
        "variants": {
            v.name: {"shape": dict(v.shape), "tcp_clients": v.tcp_clients}
            | ({"fault": v.fault.to_dict()} if v.fault else {})
            for v in experiment.variants
        },
        "profile": size.to_dict(),
        "overrides": {k: v for k, v in (overrides or {}).items() if v is not None},
        "git_commit": _git_commit(),
    }


def _config_digest(decided: deployment.Plan, binaries: Binaries) -> str:
    """Hash of the configuration, folders and ports aside: another one is another measurement."""
    from ndblab.planning import config

    servers = tuple(dataclasses.replace(s, port=s.port and 0) for s in decided.servers)
    anywhere = dataclasses.replace(decided, places=deployment.Places(), servers=servers)
    text = config.config_ini(anywhere) + config.my_cnf(anywhere, binaries.mysqld_version)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@functools.cache
def _git_commit() -> str | None:
    """Commit of the lab that measures, with a mark if it was changed since."""
    argv = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def _say(progress: bool, text: str) -> None:
    if progress:
        print(text, file=sys.stderr)


def minutes(seconds: float) -> str:
    """Write a duration as people say it."""
    for limit_s, unit_s, unit in ((90, 1, "s"), (5400, 60, "min")):
        if seconds < limit_s:
            return f"{seconds / unit_s:.0f} {unit}"
    return f"{seconds / 3600:.1f} h"
