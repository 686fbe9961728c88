"""Slices of a contrast: short measured runs, one at a time or two at once, or seconds of one load.

It decides neither what is compared nor what a failure means.

sysbench 1.0 has no warm-up of its own, and starting it takes up to a second. So one execution of a
load generator covers the warm-up and the measured span; the intervals of the warm-up are dropped.
The cluster and the host are sampled at the two ends of the span. If an overloaded host delays the
first sample until little of the span is left, there are no samples. A load that ends by itself has
no warm-up: its span is the whole load, and only the host is sampled. Several slices may share a
load. Then they differ in whether the monitor watches them, to see what it costs
(`measure_in_turn`), or in what is switched meanwhile (`measure_switched`).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from statistics import fmean
from typing import TYPE_CHECKING

from ndblab.cluster import conditions, readiness
from ndblab.machine import speed
from ndblab.measuring import monitor
from ndblab.measuring.measured_run import Run, now_utc, probed
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE, Asked, Loaded, of_load, of_span
from ndblab.planning.point import NO_MONITOR, NONE
from ndblab.planning.workload import is_good
from ndblab.workloads import registry
from ndblab.workloads.execution import connect_s

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.workloads.load_generator import Job

CONNECT_TIMEOUT_S = 30
"""Time for all clients to connect, on top of the time per client."""
END_MARGIN_S = 0.05
"""The last reading is this long before the load ends: a process that has ended cannot be read."""
SWITCHED_LATE_S = 0.2
"""A slice whose side is switched later than this is void: the part that belongs to the other side
hides that share of the difference."""
SPARE = 8
"""Spare slices in the load of a switched block, once turns of that block have come too late."""


def connect_timeout_s(job: Job) -> float:
    """Return how long the clients of a job may take to connect."""
    return speed.timeout_s(CONNECT_TIMEOUT_S + connect_s(job))


def measure(cluster: Cluster, asked: Sequence[Asked], condition: str = NONE) -> list[Run]:
    """Measure the slices of one slot, all at the same time.

    The status of a slice says if its load failed or company disturbed it. LabError if a node of the
    cluster has ended, or does not rejoin it.
    """
    slot = _Slot(cluster, asked, condition != NO_MONITOR)
    with ExitStack() as stack:
        stack.enter_context(conditions.holding(condition, cluster))
        slot.start(stack)
        slot.watch()
        slot.finish()
    slot.settle()
    return slot.runs()


class _Slot:
    """The loads of one slot, which run at the same time, and what is sampled meanwhile."""

    def __init__(self, cluster: Cluster, asked: Sequence[Asked], watched: bool) -> None:
        self.cluster, self.asked = cluster, asked
        self.samples = monitor.of(cluster)
        # Processes of a load that ends by itself are gone before the last reading.
        ends = any(registry.ends_by_itself(slice_.job.point.workload) for slice_ in asked)
        self.processes_sampled, self.only_host_sampled = watched and not ends, watched and ends
        self.times = asked[0].job.profile
        self.started_utc = now_utc()
        self.span: tuple[float, float] | None = None
        self.host: Mapping[str, float] = {}

    def start(self, stack: ExitStack) -> None:
        """Start the loads, which end with `stack`, and number their processes."""
        if not self.processes_sampled:
            monitor.read_company(self.cluster, self.samples)
        self.before = [
            [probe.read(self.cluster, slice_.job) for probe in slice_.job.probes]
            for slice_ in self.asked
        ]
        generators = [registry.find(slice_.job.point.workload) for slice_ in self.asked]
        seconds = self.times.warmup_s + self.times.duration_s
        self.loads = [
            stack.enter_context(generator.running(self.cluster, slice_.job.lasting(seconds)))
            for generator, slice_ in zip(generators, self.asked, strict=True)
        ]
        free = itertools.count()
        self.numbers = [[next(free) for _ in load.pids] for load in self.loads]
        for slice_, mine, load, generator in zip(
            self.asked, self.numbers, self.loads, generators, strict=True
        ):
            for number, pid in zip(mine, load.pids, strict=True):
                self.samples.watch(generator.ROLE, number, pid, slice_.job.host)

    def watch(self) -> None:
        """Wait until all clients work, and sample the ends of the span that is measured."""
        self.began_s = time.monotonic()
        if self.only_host_sampled:
            monitor.read_hosts(self.cluster, self.samples)
        began = [
            at
            for load, slice_ in zip(self.loads, self.asked, strict=True)
            for at in load.wait_began(connect_timeout_s(slice_.job))
        ]
        if not self.processes_sampled or None in began:
            return
        first_s = max(began) + self.times.warmup_s
        last_s = min(began) + self.times.warmup_s + self.times.duration_s - END_MARGIN_S
        span = _read_at(first_s, last_s, self.cluster, self.samples)
        if span[1] >= self.times.duration_s / 2:
            self.span, self.host = span, self.samples.host(*span)

    def finish(self) -> None:
        """Let the loads end, and read what their probes count."""
        self.reports = [load.finish() for load in self.loads]
        if self.only_host_sampled:
            monitor.read_hosts(self.cluster, self.samples)
            self.host = self.samples.host(self.began_s, time.monotonic() - self.began_s)
        self.counted = [
            probed(states, self.cluster, slice_.job)
            for states, slice_ in zip(self.before, self.asked, strict=True)
        ]

    def settle(self) -> None:
        """Make sure that the cluster serves as before, and read what samples still lack."""
        self.cluster.check_alive()
        for report, slice_ in zip(self.reports, self.asked, strict=True):
            if not is_good(report.status):
                readiness.wait_rejoined(self.cluster, slice_.job.servers)
        if self.processes_sampled:
            monitor.fetch_threads(self.cluster, self.samples)
        else:
            monitor.read_company(self.cluster, self.samples)

    def runs(self) -> list[Run]:
        """Return the tables of each slice."""
        shared = self.samples, self.host, self.started_utc
        return [
            of_span(slice_, Loaded(report, *shared), self.span, mine, reads)
            for slice_, report, mine, reads in zip(
                self.asked, self.reports, self.numbers, self.counted, strict=True
            )
        ]


def measure_in_turn(cluster: Cluster, asked: Sequence[Asked], watched: Sequence[bool]) -> list[Run]:
    """Measure slices one after the other under one load: each watched by the monitor, or not.

    In a watched slice, each second is sampled once, at its middle. The first sample also fetches
    those of NDB threads, as a run does once in 12 s. The samples only load the host, and are not
    kept. All slices have the same job, and last whole seconds. LabError if a node of the cluster
    has ended, or does not rejoin it.
    """

    def watch(samples: monitor.Samples, first_s: float) -> None:
        slice_s, fetched = asked[0].job.profile.duration_s, False
        for place in itertools.compress(itertools.count(), watched):
            for second in range(int(slice_s)):
                due_s = first_s + place * slice_s + second + 0.5
                time.sleep(max(0.0, due_s - time.monotonic()))
                monitor.read(cluster, samples)
                if not fetched:
                    monitor.fetch_threads(cluster, samples)
                    fetched = True

    loaded = _load(cluster, asked, watch)
    return [of_load(slice_, loaded, place) for place, slice_ in enumerate(asked)]


def measure_switched(
    cluster: Cluster, asked: Sequence[Asked], turns: Sequence[Callable[[], object]], spare: int = 0
) -> list[Run]:
    """Measure slices one after the other under one load; each turn switches to a slice's side.

    Processes are sampled where a slice begins, after the turn. All slices last whole seconds and
    share the load of the first job, whose sessions stay.

    If a turn comes too late, its slice and all later ones are postponed to begin after it, while
    `spare` slices are left to skip. Only the lab's clock decides that, before the load has reported
    on any of them, so no rate selects what is measured; the order of the sides stays. LabError if a
    turn fails, a node of the cluster has ended, or does not rejoin it.
    """
    readings: list[tuple[float, int, bool]] = []

    def switch(samples: monitor.Samples, first_s: float) -> None:
        slice_s, place, left = asked[0].job.profile.duration_s, 0, spare
        for turn in [*turns, lambda: None]:
            due_s = first_s + place * slice_s
            time.sleep(max(0.0, due_s - time.monotonic()))
            turn()
            late_s = time.monotonic() - due_s
            late = late_s > SWITCHED_LATE_S
            if late and (missed := math.ceil(late_s / slice_s)) <= left:
                place, left, late = place + missed, left - missed, False
            readings.append((time.monotonic(), place, late))
            monitor.read(cluster, samples)
            place += 1

    turns[0]()
    loaded = _load(cluster, asked, switch, spare)
    spans = [(began[0], ended[0] - began[0]) for began, ended in itertools.pairwise(readings)]
    runs = []
    for number, slice_ in enumerate(asked):
        _, place, late = readings[number] if spans else (0.0, number, False)
        span = spans[number] if spans else None
        void = SWITCHED_TOO_LATE if late else ""
        runs.append(of_load(slice_, loaded, place, span, void))
    return runs


def _load(
    cluster: Cluster,
    asked: Sequence[Asked],
    during: Callable[[monitor.Samples, float], None],
    spare: int = 0,
) -> Loaded:
    """Run one load for the slices and `spare` ones, and call `during` once its clients work."""
    samples = monitor.of(cluster)
    job, times = asked[0].job, asked[0].job.profile
    started_utc = now_utc()
    generator = registry.find(job.point.workload)
    # sysbench may end before it reports its last second.
    seconds = times.warmup_s + (len(asked) + spare) * times.duration_s + 1
    monitor.read_others(cluster, samples)
    began_s = time.monotonic()
    with generator.running(cluster, job.lasting(seconds)) as load:
        for number, pid in enumerate(load.pids):
            samples.watch(generator.ROLE, number, pid, job.host)
        begun = load.wait_began(connect_timeout_s(job))
        if None not in begun:
            during(samples, fmean(begun) + times.warmup_s)
        report = load.finish()
    monitor.read_others(cluster, samples)
    host = samples.host(began_s, time.monotonic() - began_s)
    cluster.check_alive()
    if not is_good(report.status):
        readiness.wait_rejoined(cluster, job.servers)
    return Loaded(report, samples, host, started_utc)


def _read_at(
    first_s: float, last_s: float, cluster: Cluster, samples: monitor.Samples
) -> tuple[float, float]:
    """Sample at both ends of a span; return its beginning by `time.monotonic`, and its length."""
    time.sleep(max(0.0, first_s - time.monotonic()))
    monitor.read_company(cluster, samples)
    first_s = time.monotonic()
    monitor.read(cluster, samples)
    time.sleep(max(0.0, last_s - time.monotonic()))
    last_s = time.monotonic()
    monitor.read(cluster, samples)
    monitor.read_company(cluster, samples)
    return first_s, last_s - first_s
