"""The cluster that each point of a sweep needs, or all of a block of twins.

It does not decide the order of points.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ndblab.cluster import pair, start_stop, variables
from ndblab.cluster.cluster import Cluster, Site
from ndblab.design.contrast import A, B
from ndblab.error import LabError, naming
from ndblab.machine import host
from ndblab.measuring import manifest, measured_run
from ndblab.planning import deployment, twins
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.workloads import registry

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.design.block import Block
    from ndblab.design.contrast import Contrast, Slice
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.machine import Links
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Filled, Job


@dataclass
class Clusters:
    """Clusters by variant; each keeps running until a point needs another.

    `starts` counts the cluster starts of the whole dataset. At every other start, transporters and
    connection pools are dealt to the servers beginning with the last (`deployment.turned`). The
    dataset keeps the configuration of the latest start. `contrasts` names those measured on the
    running cluster. If clusters span several hosts, `sites` has these by name. Quotas of variants
    are shares of the CPUs of `machine`, as it was while no cluster ran. The `links` between hosts,
    if there are any, can be cut. Twins run until another cluster is needed, and count as two
    starts. `restarts` counts the restarts of MySQL servers for contrasts of that design.
    """

    startable: ClassVar[bool] = True
    """Whether the lab may start the cluster anew while it measures."""

    experiment: Experiment
    size: Profile
    plans: Mapping[str, Plan]
    binaries: Binaries
    writer: datasets.Writer
    progress: bool
    second: Binaries | None = None
    sites: Mapping[str, Site] = field(default_factory=dict)
    machine: host.Host = field(default_factory=host.read)
    links: Links | None = None
    starts: int = field(init=False)
    restarts: int = field(init=False)
    contrasts: set[str] = field(init=False, default_factory=set)
    _cluster: Cluster | None = None
    _running: tuple[Plan, Binaries] | None = None
    _limited: dict[str, float | None] = field(default_factory=dict)
    _neighbours: bool = False
    _set: Mapping[str, object] = field(default_factory=dict)
    _started_with: dict[str, str] = field(default_factory=dict)
    _twins: dict[str, tuple[Cluster, int]] = field(default_factory=dict)
    _twins_of: tuple[str, int] | None = None
    _restarted_for: tuple[str, int] | None = None
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        self.starts = int(self.writer.manifest.get("starts", 0))
        self.restarts = int(self.writer.manifest.get("restarts", 0))

    def measure(self, cluster: Cluster, point: Point, repeat: int) -> measured_run.Run:
        """Measure one run at a point, on its running cluster."""
        binaries = self.binaries_of(point.variant)
        job = self.experiment.job(self.size, binaries, cluster.plan, point)
        fault = self.experiment.variant(point.variant).fault
        if fault is None:
            return measured_run.measure(cluster, job, repeat)
        measured = fault.measure(cluster, job, repeat)
        if not measured.recovered:
            self.close()
        return measured

    def binaries_of(self, variant: str) -> Binaries:
        """Return the programs of a variant: those of the second installation, or the usual ones.

        Over several hosts, they are those of the host where the load generators run. ValueError if
        the variant needs a second installation and there is none.
        """
        if self.sites:
            return self.sites[self.plans[variant].load_host].binaries
        if not self.experiment.variant(variant).second_engine:
            return self.binaries
        if self.second is None:
            raise ValueError(f"no second installation for the variant {variant}")
        return self.second

    def close(self) -> None:
        """Stop the cluster that is running."""
        manifest.note_periods(self.writer, (self._cluster, *(c for c, _ in self._twins.values())))
        self._cluster, self._twins, self._twins_of, self._restarted_for = None, {}, None, None
        self._stack.close()

    def ready(self, point: Point, *others: Point) -> Cluster:
        """Return the cluster of a point with its tables filled; start it unless it is running.

        It has the CPU quotas of the point's variant, or else those of its plan. If the variant says
        so, its servers know their own data nodes and have variables set. `others` are measured at
        the same time, and must need the same in all this (ValueError).
        """
        settings = needed, quotas, neighbours, set_global = self._settings(point)
        for other in others:
            if self._settings(other) != settings:
                raise ValueError(f"{point} and {other} cannot be measured at the same time")
        if anew := self._cluster is None or self._running != needed:
            self._start(point, *needed)
        if anew or quotas != self._limited:
            self._limit(quotas)
        if neighbours != self._neighbours:
            self._cluster.tell_neighbours(neighbours)
            self._neighbours = neighbours
        if set_global != self._set:
            self._set_global(set_global)
        return self._cluster

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        self.close()
        self.starts += 1
        self.contrasts.clear()
        turned = deployment.turned(plan) if self.starts % 2 == 0 else plan
        side, own = self.experiment.side_of(point.variant), self.experiment.sides_with_servers
        with naming(pair.called(side, point.variant) if side else self._whose(turned, own)):
            started = self._stack.enter_context(self._run(turned, binaries))
        filled = self._fill(started, point, turned, binaries)
        facts: dict[str, object] = {"starts": self.starts}
        if self._keep(started, point):
            after = self.experiment.after_filling
            more = after(started, filled[0][0]) if after else {}
            seconds = sum(table.seconds for _, table in filled)
            facts["timings"] = {**started.timings, "prepare_s": round(seconds, 2)}
            facts["filled"] = filled[0][1].to_dict() | dict(more)
            self.progress = False
        self.writer.note(**facts)
        self._cluster, self._running, self._neighbours = started, (plan, binaries), False
        self._set, self._started_with = {}, {}

    def restarted(self, contrast: Contrast, slice_: Slice) -> tuple[Cluster, int]:
        """Return the cluster of a slice of restarts, and the number of its server's start.

        For each block, all servers are restarted at the same moment, each with the options of its
        side; in every other block, the sides swap servers. The data nodes keep running, even for
        another contrast if its servers differ only in such options. LabError if a server does not
        come up again; the error names the side.
        """
        points = {name: contrast.side(name).point for name in (A, B)}
        plan, binaries = self._needed(points[A])
        if self._running and deployment.alike_but_for_options(self._running[0], plan):
            self._running = plan, binaries
        cluster = self.ready(*points.values())
        if self._restarted_for != (contrast.name, slice_.block):
            dealt = deployment.turned(plan) if slice_.swapped else plan
            with naming(self._whose(dealt, points)):
                start_stop.restart_servers(cluster, dealt)
            self.restarts += 2
            self.writer.note(restarts=self.restarts)
            for point in points.values():
                self._keep(cluster, point)
            self._restarted_for = (contrast.name, slice_.block)
        return cluster, self.restarts - (slice_.side == A)

    def _whose(self, plan: Plan, points: Mapping[str, Point]) -> Callable[[LabError], str]:
        """Return a function that names the sides whose MySQL servers an error mentions."""
        servers = {
            node.name: pair.called(side, point.variant)
            for side, point in points.items()
            for node in self.experiment.usable_servers(plan, point)
        }
        return lambda error: " and ".join(
            {servers[w]: w for w in error.what.split() if w in servers}
        )

    def twin(self, contrast: Contrast, slice_: Slice) -> tuple[Cluster, int]:
        """Return the cluster of a slice of twins, and the number of its start.

        Unless they are running, both are started and filled, whatever the variants of their sides.
        LabError if a twin does not come up; the error names the side, and neither twin runs then.
        """
        if self._twins_of != (contrast.name, slice_.block):
            points = {name: contrast.side(name).point for name in (A, B)}
            self._start_together(points, slice_.block)
            self._twins_of = contrast.name, slice_.block
        return self._twins[slice_.side]

    def together(self, blocks: Sequence[Block]) -> list[tuple[Cluster, int]]:
        """Start a cluster of side A, which contrasts share, and one of each side B, all at once.

        Return them with the numbers of their starts, A's first. LabError as in `twin`.
        """
        points = {A: blocks[0].contrast.side(A).point}
        points |= {contrast.name: contrast.side(B).point for contrast, _ in blocks}
        self._start_together(points, random.Random(self.starts).randint(1, 4 * len(points)))
        return list(self._twins.values())

    def idle_beside(self, cluster: Cluster) -> list[Cluster]:
        """Return the twins of a cluster, if it has any."""
        return [other for other, _ in self._twins.values() if other is not cluster]

    def _start_together(self, points: Mapping[str, Point], block: int) -> None:
        self.close()
        self.starts += len(points)
        self.contrasts.clear()
        needed = {name: self._needed(point) for name, point in points.items()}
        places = start_stop.places_together(needed[A][0].places, len(points))
        plans = twins.placed({name: plan for name, (plan, _) in needed.items()}, places, block)
        wanted = {
            name: pair.Twin(plans[name], binaries, pair.called(A if name == A else B, own.variant))
            for (name, own), (_, binaries) in zip(points.items(), needed.values(), strict=True)
        }
        running = self._stack.enter_context(self._run_both(wanted, points))
        self.writer.note(starts=self.starts)
        first = self.starts - len(points) + 1
        for start, (name, (started, _)) in enumerate(running.items(), first):
            self._keep(started, points[name])
            started.limit(self._quotas_cpus(points[name].variant))
            chosen = self.experiment.variant(points[name].variant)
            if chosen.neighbours:
                started.tell_neighbours(True)
            variables.set_global(started, chosen.set_global)
            self._twins[name] = started, start

    def _fill(
        self, started: Cluster, point: Point, plan: Plan, binaries: Binaries
    ) -> list[tuple[Job, Filled]]:
        """Fill the tables of a cluster for each variant that needs tables of its own."""
        jobs = [
            self.experiment.job(self.size, binaries, plan, dataclasses.replace(point, variant=name))
            for name in self.experiment.filled(point.variant)
        ]
        return [(job, self._prepare(started, job)) for job in jobs]

    def _run(self, plan: Plan, binaries: Binaries) -> contextlib.AbstractContextManager[Cluster]:
        return start_stop.running(plan, binaries, self.progress, self.sites, self.links)

    def _run_both(
        self, wanted: Mapping[str, pair.Twin], points: Mapping[str, Point]
    ) -> contextlib.AbstractContextManager[dict[str, tuple[Cluster, object]]]:
        return pair.running(
            wanted, lambda name, started: self._fill(started, points[name], *wanted[name][:2])
        )

    def _prepare(self, started: Cluster, job: Job) -> Filled:
        return registry.find(job.point.workload).prepare(started, job)

    def _keep(self, started: Cluster, point: Point) -> bool:
        """Keep a cluster's configuration and its load's files; return whether it is the usual."""
        default = dataclasses.replace(point, variant=DEFAULT_VARIANT)
        usual = self._needed(point) == self._needed(default)
        manifest.keep_start(self.writer, self.experiment, started, point, usual)
        return usual

    def _needed(self, point: Point) -> tuple[Plan, Binaries]:
        return self.plans[point.variant], self.binaries_of(point.variant)

    def _settings(
        self, point: Point
    ) -> tuple[tuple[Plan, Binaries], dict[str, float | None], bool, Mapping[str, object]]:
        """Return what a cluster must be and have set at a point."""
        variant = self.experiment.variant(point.variant)
        quotas = self._quotas_cpus(point.variant)
        return self._needed(point), quotas, variant.neighbours, variant.set_global

    def _limit(self, quotas_cpus: dict[str, float | None]) -> None:
        manifest.note_periods(self.writer, (self._cluster,))
        self._cluster.limit(quotas_cpus)
        self._limited = quotas_cpus

    def _set_global(self, wanted: Mapping[str, object]) -> None:
        """Set variables of the MySQL servers, and restore those that only another variant set."""
        new = [name for name in wanted if name not in self._started_with]
        self._started_with |= variables.shown(self._cluster, new)
        seen = variables.set_global(self._cluster, {**self._started_with, **wanted})
        known = self.writer.manifest.get("set_global", [])
        if seen not in known:
            self.writer.note(set_global=[*known, seen])
        self._set = wanted

    def _quotas_cpus(self, variant: str) -> dict[str, float | None]:
        """Return the quotas that a variant changes, in CPUs."""
        quotas = self.experiment.variant(variant).quotas
        return {name: share and share * self.machine.usable_cpus for name, share in quotas.items()}
