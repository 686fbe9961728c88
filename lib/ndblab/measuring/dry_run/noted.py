"""Clusters that are not started: each notes, as lines of a shell script, what it would do.

The order of starts, limits and loads is that of `Clusters`, which a measurement uses.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster, Site
from ndblab.install.binaries import named
from ndblab.machine import cgroups, host
from ndblab.machine.local import LOCAL
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.measured_run import Run
from ndblab.planning import config
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.workloads import registry

if TYPE_CHECKING:
    from ndblab.cluster.pair import Twin
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Node, Plan
    from ndblab.planning.point import Point
    from ndblab.workloads.load_generator import Job, LoadGenerator

PUBLISHED_NDB, PUBLISHED_SYSBENCH = "8.0.26", "1.1.0"
"""The versions of the brief (Table 2 and its text), for hosts other than this one."""


class Unwritten:
    """A stand-in for a dataset's writer: it knows which runs are over, and keeps nothing."""

    def __init__(self) -> None:
        self.manifest: Mapping[str, object] = {}
        self.done: dict[str, str] = {}

    def note(self, **facts: object) -> None:
        """Take a fact, and forget it."""

    def append(self, run_id: str, *parts: object) -> None:
        """Count a run as measured."""
        self.done[run_id] = "ok"


class Session:
    """A stand-in for an SQL connection and its cursor: statements become comments."""

    def __init__(self, cluster: NotedCluster, node: Node) -> None:
        self._cluster, self._node = cluster, node
        self._statements: list[str] = []

    def cursor(self) -> Session:
        """Return itself."""
        return self

    def execute(self, sql: str, values: Sequence[object] = ()) -> None:
        """Remember a statement and what it sets."""
        self._statements.append(sql % tuple(values))
        name, _, value = self._statements[-1].removeprefix("SET GLOBAL ").partition(" = ")
        self._cluster.told[name] = value

    def close(self) -> None:
        """Note the statements in one line."""
        if self._statements:
            self._cluster.lines.append(f"# {self._node.name}: {'; '.join(self._statements)}")


@dataclass
class NotedCluster(Cluster):
    """A cluster without processes; `told` has the variables set on its MySQL servers."""

    lines: list[str] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)

    def start_node(self, node: Node, initial: bool = True) -> None:
        """Note the command that starts a node."""
        argv = config.node_argv(self.plan, node, self.binaries, initial)
        self.lines.append(_on(node.host, shlex.join(argv)))

    def limit(self, quotas_cpus: Mapping[str, float | None] = MappingProxyType({})) -> None:
        """Note that CPU limits hold from here on, and the quotas that a variant changes."""
        own = [
            f"; {name}: {'no limit' if cpus is None else f'{cpus:g} CPUs'}"
            for name, cpus in quotas_cpus.items()
        ]
        for name, groups in self.groups.items():
            limited = f"# CPU limits from here on, by control groups in {groups.base}"
            self.lines.append(_on(name, limited + "".join(own)))
        self.limited = bool(self.groups)

    def connect(self, server: int = 1, answer_s: float = 0) -> Session:
        """Return a session that notes the statements for a MySQL server."""
        return Session(self, self.plan.servers[server - 1])

    def query(self, sql: str, server: int = 1, answer_s: float = 0) -> list[tuple]:
        """Return the variables that have been set, whatever the query."""
        return list(self.told.items())


@dataclass
class NotedClusters(Clusters):
    """The clusters of a dataset, noted as `lines` instead of started; no run is measured.

    `known` are the hosts by name, if there are several.
    """

    known: Mapping[str, host.Host] = field(default_factory=dict, kw_only=True)
    lines: list[str] = field(init=False, default_factory=list)
    _loads: set[str] = field(init=False, default_factory=set)

    def measure(self, cluster: Cluster, point: Point, repeat: int) -> Run:
        """Note the commands of one run."""
        variant = self.experiment.variant(point.variant)
        job = self.experiment.job(self.size, self.binaries_of(point.variant), cluster.plan, point)
        self.lines.append(f"# {point.run_id(repeat)}")
        if variant.fault:
            before_s = self.size.warmup_s + self.size.duration_s
            self.lines += [f"# {line}" for line in variant.fault.describe(before_s)]
        if job.processes > 1:
            self.lines.append(f"# {job.processes} processes at the same time:")
        self.load(cluster, job)
        return Run({})

    def load(self, cluster: Cluster, job: Job) -> None:
        """Note the commands of a load generator."""
        prefix = cluster.client_prefix(job.host)
        commands = registry.find(job.point.workload).commands(job)
        self.lines += [_on(job.host, command.line(prefix)) for command in commands]

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        self.lines += ["", f"# cluster of variant {point.variant}"]
        if point.workload not in self._loads:
            self._loads.add(point.workload)
            self.lines += inputs(registry.find(point.workload))
        self.lines += self._changes(plan, binaries)
        super()._start(point, plan, binaries)

    @contextlib.contextmanager
    def _run(self, plan: Plan, binaries: Binaries) -> Iterator[NotedCluster]:
        folder = Path(plan.places.cluster_dir)
        folders = {host.name: Path(host.folder) for host in plan.hosts} or {"": folder}
        sites = {
            name: Site(LOCAL, there, binaries, plan.of_host(name))
            for name, there in folders.items()
            if name
        }
        cluster = NotedCluster(plan, binaries, folder, sites=sites, lines=self.lines)
        if plan.budget.kind == "scaled":
            for name, there in folders.items():
                controller = self.known.get(name, self.machine).cpu_controller
                cluster.groups[name] = cgroups.groups(controller, start_stop.groups_name(there))
        for node in plan.nodes:
            cluster.start_node(node)
        yield cluster

    @contextlib.contextmanager
    def _run_both(
        self, wanted: Mapping[str, Twin], points: Mapping[str, Point]
    ) -> Iterator[dict[str, tuple[Cluster, object]]]:
        both: dict[str, tuple[Cluster, object]] = {}
        for name, (plan, binaries, _) in wanted.items():
            there = plan.places.cluster_dir
            self.lines.append(f"# side {name}, variant {points[name].variant}, in {there}")
            self.lines += self._changes(plan, binaries)
            with self._run(plan, binaries) as started:
                both[name] = started, self._fill(started, points[name], plan, binaries)
        yield both

    def _prepare(self, started: Cluster, job: Job) -> None:
        command = registry.find(job.point.workload).prepare_command(job)
        self.lines.append(_on(job.host, command.line(started.client_prefix(job.host))))

    def _keep(self, started: Cluster, point: Point) -> bool:
        return False

    def _changes(self, plan: Plan, binaries: Binaries) -> Iterator[str]:
        """Yield the lines of the configuration files that the usual cluster does not have."""
        usual = files(self.plans[DEFAULT_VARIANT], self.binaries)
        for name, text in files(plan, binaries).items():
            known = usual[name].splitlines()
            yield from (f"# {name}: {line}" for line in text.splitlines() if line not in known)


def files(plan: Plan, binaries: Binaries | None) -> dict[str, str]:
    """Write the configuration files for these programs, or for those of the brief."""
    known = binaries or named(PUBLISHED_NDB, PUBLISHED_SYSBENCH)
    return {
        config.CONFIG_INI: config.config_ini(plan, known.ndb_version),
        config.MY_CNF: config.my_cnf(plan, known.mysqld_version),
    }


def inputs(generator: LoadGenerator) -> Iterator[str]:
    """Show the inputs of the user's own load, such as the script compiled from a file."""
    for name, text in getattr(generator, "files", {}).items():
        yield f"# {name}:"
        yield from (f"#   {line}".rstrip() for line in text.splitlines())
    if getattr(generator, "statements", ()):
        yield "# no server has checked this SQL yet: that needs the tables"


def _on(host: str, command: str) -> str:
    """Name the host of a command, if there are several."""
    return f"{command}  # on {host}" if host else command
