"""One-second slices in which the clients of both sides, all of them connected, work in turn.

It decides neither what is compared nor what a failure means.

Turns coincide with the seconds of sysbench's reports. These begin with the load, so both loads are
released at the same moment. A client finishes its current transaction, so a little of each turn
spills into the next; if transactions last too long for that, no slice is good.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from ndblab.cluster import readiness
from ndblab.measuring import monitor
from ndblab.measuring.measured_run import Run, now_utc
from ndblab.measuring.slice_tables import Asked, Loaded, of_load
from ndblab.measuring.slices import SWITCHED_LATE_S, connect_timeout_s
from ndblab.planning.workload import WAITED, is_good
from ndblab.workloads import registry, turns

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.workloads.load_generator import Job, Load, Report

LEAD_S = 1
"""Seconds in which nobody works, while clients learn when their turns are."""
NOBODY = "-"
LATE_S = 1.5
"""A report that covers more time than this covers more than one turn."""
MOST_LEFT = 0.1
"""Share of a side's queries that may end after its turns. With more, a turn no longer measures one
side alone."""
TOO_LONG = "queries last too long for turns of a second"


@dataclass
class _Side:
    """One side of a block: its cluster, its samples, and the load that waits for its turns."""

    cluster: Cluster
    samples: monitor.Samples
    job: Job
    load: Load


@dataclass(frozen=True)
class Schedule:
    """Whose turn each second is; `places` are the seconds that are the slices of a block."""

    sides: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, order: Sequence[str], warmup_s: float, pause_s: int) -> Schedule:
        """Return the turns of slices in an order, after those in which each side warms up.

        Where the side changes, nobody works for `pause_s`.

        >>> Schedule.of("abba", 1, 1).sides
        ('a', '-', 'b', '-', 'a', '-', 'b', 'b', '-', 'a')
        """
        warm_up = [side for side in dict.fromkeys(order) for _ in range(int(warmup_s))]
        sides: list[str] = []
        places = []
        for side in [*warm_up, *order]:
            if sides and sides[-1] != side:
                sides += [NOBODY] * pause_s
            places.append(len(sides))
            sides.append(side)
        return cls(tuple(sides), tuple(places[len(warm_up) :]))

    @property
    def load_s(self) -> int:
        """How long both loads last: sysbench may not report its last second."""
        return LEAD_S + len(self.sides) + 1

    def seconds_of(self, side: str) -> set[int]:
        """Return the seconds of the load at which a side's turns begin."""
        return {LEAD_S + place for place, other in enumerate(self.sides) if other == side}


def measure(
    asked: Sequence[Asked], ready: Mapping[str, Callable[[], Cluster]], pause_s: int = 0
) -> list[Run]:
    """Measure the slices of a block in their order.

    LabError if a node of a cluster has ended, or does not rejoin it.

    Parameters
    ----------
    ready : by side, a function that returns its cluster, ready for new sessions of this side.
    pause_s : seconds in which nobody works where the side changes.
    """
    order = [str(slice_.place["side"]) for slice_ in asked]
    times = asked[0].job.profile
    schedule = Schedule.of(order, times.warmup_s, pause_s)
    started_utc, spans = now_utc(), [None] * len(asked)
    with ExitStack() as stack:
        shared = stack.enter_context(turns.opened())
        sides = _connected(asked, ready, shared, schedule.load_s, stack)
        began_s = time.monotonic()
        for samples, cluster in _of_clusters(sides):
            monitor.read_others(cluster, samples)
        shared.release()
        begun = {
            name: side.load.wait_began(connect_timeout_s(side.job)) for name, side in sides.items()
        }
        if failed := [name for name, at in begun.items() if None in at]:
            # The clients of the other side would wait for turns that never come.
            broken = {name: sides[name].load.finish() for name in failed}
            idle = replace(broken[failed[0]], status=WAITED)
            reports = {name: broken.get(name, idle) for name in sides}
        else:
            begin_s = fmean(itertools.chain(*begun.values())) + LEAD_S
            shared.begin(begin_s, times.duration_s, schedule.sides)
            spans = _sample(sides, schedule, begin_s, times.duration_s)
            reports = {name: side.load.finish() for name, side in sides.items()}
    for samples, cluster in _of_clusters(sides):
        monitor.read_others(cluster, samples)
    lasted_s = time.monotonic() - began_s
    for name, side in sides.items():
        side.cluster.check_alive()
        if not is_good(reports[name].status):
            readiness.wait_rejoined(side.cluster, side.job.servers)
    before_s = LEAD_S + schedule.places[0]
    own = {name: schedule.seconds_of(name) for name in sides}
    # Queries of one side that last too long disturb the other side, too.
    void = next(filter(None, (_too_long(reports[s], own[s], before_s) for s in sides)), "")
    left = {name: _half_left(report, own[name]) for name, report in reports.items()}
    runs = []
    for slice_, name, place, span in zip(asked, order, schedule.places, spans, strict=True):
        samples, second = sides[name].samples, LEAD_S + place
        host = samples.host(began_s, lasted_s)
        at_utc = (datetime.fromisoformat(started_utc) + timedelta(seconds=second)).isoformat()
        loaded = Loaded(reports[name], samples, host, at_utc)
        # Its first slice begins after this many seconds of the load.
        at = replace(slice_, job=replace(slice_.job, profile=replace(times, warmup_s=before_s)))
        more = left[name].get(second, 0.0)
        runs.append(of_load(at, loaded, second - before_s, span, void, more))
    return runs


def _connected(
    asked: Sequence[Asked],
    ready: Mapping[str, Callable[[], Cluster]],
    shared: turns.Turns,
    seconds: float,
    stack: ExitStack,
) -> dict[str, _Side]:
    """Start the load of each side, and wait until its clients are connected."""
    jobs = {str(slice_.place["side"]): slice_.job for slice_ in reversed(asked)}
    sides: dict[str, _Side] = {}
    for name in dict.fromkeys(str(slice_.place["side"]) for slice_ in asked):
        cluster = ready[name]()
        job = replace(jobs[name], turn=shared.of(name))
        generator = registry.find(job.point.workload)
        there = [side.samples for side in sides.values() if side.cluster is cluster]
        samples = there[0] if there else monitor.of(cluster)
        load = stack.enter_context(generator.running(cluster, job.lasting(seconds)))
        for pid in load.pids:
            samples.watch(generator.ROLE, len(there), pid, job.host)
        shared.wait_connected(name, job.point.clients, connect_timeout_s(job), load.has_ended)
        sides[name] = _Side(cluster, samples, job, load)
    return sides


def _of_clusters(sides: Mapping[str, _Side]) -> list[tuple[monitor.Samples, Cluster]]:
    """Return the samples of each cluster, which both sides may share."""
    return list({id(s.samples): (s.samples, s.cluster) for s in sides.values()}.values())


def _sample(
    sides: Mapping[str, _Side], schedule: Schedule, begin_s: float, turn_s: float
) -> list[tuple[float, float] | None]:
    """Sample the processes at both ends of each slice; return each span, None if too late."""
    readings: dict[int, tuple[float, bool]] = {}
    for place in sorted({end for begin in schedule.places for end in (begin, begin + 1)}):
        due_s = begin_s + place * turn_s
        time.sleep(max(0.0, due_s - time.monotonic()))
        at_s = time.monotonic()
        readings[place] = at_s, at_s - due_s > SWITCHED_LATE_S
        beside = schedule.sides[max(0, place - 1) : place + 1]
        for samples, cluster in _of_clusters(
            {name: sides[name] for name in beside if name in sides}
        ):
            monitor.read(cluster, samples)
    spans = []
    for place in schedule.places:
        (began_s, late), (ended_s, later) = readings[place], readings[place + 1]
        spans.append(None if late or later else (began_s, ended_s - began_s))
    return spans


def _too_long(report: Report, own: set[int], first_s: int) -> str:
    """Return `TOO_LONG` if too many queries of a side ended outside its turns, else "".

    Parameters
    ----------
    own : seconds of the load at which turns of this side begin.
    first_s : the second at which the first slice begins.
    """
    queries = _of_seconds(report)
    queries = queries[queries.index >= first_s]
    left = queries[~queries.index.isin(own)].sum()
    return TOO_LONG if left > MOST_LEFT * queries.sum() else ""


def _half_left(report: Report, own: set[int]) -> dict[int, float]:
    """Return half of the queries that ended just after turns of a side, by the turn's second.

    Clients begin each turn afresh. Per client, half a query too few ends in the turn, and half a
    query too many begins in it. The mean of both is right however long queries last; without it,
    the side with the shorter queries would be favoured.
    """
    queries = _of_seconds(report)
    last = {second for second in own if second + 1 not in own}
    return {second: queries[second + 1] / 2 for second in last if second + 1 in queries.index}


def _of_seconds(report: Report) -> pd.Series:
    """Return the queries that ended in each second of a load.

    A late report of sysbench covers seconds of both sides, and is left out.
    """
    import pandas as pd

    table = report.intervals
    if table.empty:
        return pd.Series(dtype=float)
    ended_s = pd.Series(list(report.ended_s) or table["t_s"], index=table.index)
    lasted_s = ended_s.diff().fillna(ended_s)
    queries = (table["qps"] * lasted_s)[lasted_s < LATE_S]
    return queries.set_axis((table["t_s"] - 1).round().astype(int)[queries.index])
