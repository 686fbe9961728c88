"""One-second slices in which the clients of all sides, all of them connected, work in turn.

It decides neither what is compared nor what a failure means.

Turns coincide with the seconds of sysbench's reports. These begin with the load, so all loads are
released at the same moment. A client finishes its current transaction, so a little of each turn
spills into the next; if transactions last too long for that, no slice is good.

Of several clusters, those whose turn it is not are frozen: their idle processes would use CPUs of
the other, and a cluster with many MySQL servers more so than one with few.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ndblab.cluster import pair, readiness
from ndblab.measuring import monitor
from ndblab.measuring.measured_run import Run, now_utc
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE, Asked, Loaded, of_load
from ndblab.measuring.slices import SWITCHED_LATE_S, connect_timeout_s
from ndblab.planning.workload import WAITED, is_good
from ndblab.workloads import registry, turns

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.workloads.load_generator import Job, Load, Report

LATE_S = 1.5
"""A report that covers more time than this covers more than one turn."""
THAWED_BEFORE_S = 0.05
"""A cluster is thawed so long before its turn. It misses what its timers were due to do meanwhile,
and catches up."""
THAWED_LATE_S = 0.02
"""A turn is void if its MySQL servers are thawed so long after its beginning, on average."""
FINISHED_S = 0.2
"""A query that lasts longer than this after its turn is frozen with its cluster, and goes on in the
next turn."""
MOST_LEFT = 0.1
"""Share of a side's queries that may end after its turns. With more, a turn no longer measures one
side alone. Of the clients, this share may be frozen amid a query, which is part of its latency."""
TOO_LONG = "queries last too long for turns of a second"


class _Sampled(NamedTuple):
    """What was seen of the slices of a block while their turns lasted.

    Spans between readings of processes, None where one came too late; places whose cluster was
    thawed too late; whether too many clients were frozen amid a query.
    """

    spans: Sequence[tuple[float, float] | None]
    late: Collection[int] = ()
    cut_off: bool = False


@dataclass
class _Side:
    """One side of a block: its cluster, its samples, and the load that waits for its turns."""

    cluster: Cluster
    samples: monitor.Samples
    job: Job
    load: Load


class Turn(NamedTuple):
    """A turn: the name of its side, and the slices that it is, one for each contrast."""

    side: str
    slices: Sequence[Asked]


def measure(
    asked: Sequence[Turn], ready: Mapping[str, Callable[[], Cluster]], pause_s: int = 0
) -> list[Run]:
    """Measure the slices of all turns in their order.

    LabError if a node of a cluster has ended, or does not rejoin it.

    Parameters
    ----------
    ready : by side, a function that returns its cluster, ready for new sessions of this side.
    pause_s : seconds in which nobody works where the side changes.
    """
    order = [turn.side for turn in asked]
    times = asked[0].slices[0].job.profile
    schedule = turns.Schedule.of(order, times.warmup_s, pause_s)
    started_utc, seen = now_utc(), _Sampled([None] * len(asked))
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
            # The clients of other sides would wait for turns that never come.
            broken = {name: sides[name].load.finish() for name in failed}
            idle = replace(broken[failed[0]], status=WAITED)
            reports = {name: broken.get(name, idle) for name in sides}
        else:
            begin_s = fmean(itertools.chain(*begun.values())) + turns.LEAD_S
            shared.begin(begin_s, times.duration_s, schedule.sides)
            try:
                seen = _sample(sides, schedule, shared, begin_s, times.duration_s)
            finally:
                for side in sides.values():
                    pair.thaw(side.cluster)
            reports = {name: side.load.finish() for name, side in sides.items()}
    for samples, cluster in _of_clusters(sides):
        monitor.read_others(cluster, samples)
    lasted_s = time.monotonic() - began_s
    for name, side in sides.items():
        side.cluster.check_alive()
        if not is_good(reports[name].status):
            readiness.wait_rejoined(side.cluster, side.job.servers)
    host_at = began_s, lasted_s, datetime.fromisoformat(started_utc)
    return _runs(asked, sides, schedule, reports, host_at, seen)


def _runs(
    asked: Sequence[Turn],
    sides: Mapping[str, _Side],
    schedule: turns.Schedule,
    reports: Mapping[str, Report],
    host_at: tuple[float, float, datetime],
    seen: _Sampled,
) -> list[Run]:
    """Return the tables of each slice.

    Parameters
    ----------
    reports : what each side's load reported.
    host_at : when the host was first sampled, for how many seconds, and the time of day then.
    """
    began_s, lasted_s, started = host_at
    before_s = turns.LEAD_S + schedule.places[0]
    own = {name: schedule.seconds_of(name) for name in sides}
    # Queries of one side that last too long disturb the others, too.
    void = TOO_LONG if seen.cut_off else ""
    void = next(filter(None, (_too_long(reports[s], own[s], before_s) for s in sides)), void)
    left = {name: _half_left(report, own[name]) for name, report in reports.items()}
    runs = []
    for turn, place, span in zip(asked, schedule.places, seen.spans, strict=True):
        name, second = turn.side, turns.LEAD_S + place
        samples = sides[name].samples
        at_utc = (started + timedelta(seconds=second)).isoformat()
        loaded = Loaded(reports[name], samples, samples.host(began_s, lasted_s), at_utc)
        why = void or (SWITCHED_TOO_LATE if place in seen.late else "")
        more = left[name].get(second, 0.0)
        for slice_ in turn.slices:
            # The first slice begins after this many seconds of the load.
            times = replace(slice_.job.profile, warmup_s=before_s)
            at = replace(slice_, job=replace(slice_.job, profile=times))
            runs.append(of_load(at, loaded, second - before_s, span, why, more))
    return runs


def _connected(
    asked: Sequence[Turn],
    ready: Mapping[str, Callable[[], Cluster]],
    shared: turns.Turns,
    seconds: float,
    stack: ExitStack,
) -> dict[str, _Side]:
    """Start the load of each side, and wait until its clients are connected."""
    jobs = {turn.side: turn.slices[0].job for turn in reversed(asked)}
    sides: dict[str, _Side] = {}
    for name in dict.fromkeys(turn.side for turn in asked):
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
    sides: Mapping[str, _Side],
    schedule: turns.Schedule,
    shared: turns.Turns,
    begin_s: float,
    turn_s: float,
) -> _Sampled:
    """Sample processes at both ends of each slice; of several clusters, let one run at a time."""
    readings: dict[int, tuple[float, bool]] = {}
    thawed_late, amid = set(), []
    ends = {end for begin in schedule.places for end in (begin, begin + 1)}
    for place in range(len(schedule.sides) + 1):
        due_s = begin_s + place * turn_s
        frozen = _frozen_from(sides, schedule, place)
        if frozen:
            _sleep_until(due_s - THAWED_BEFORE_S)
            if _missed_s(sides[schedule.awake[place]].cluster, due_s) > THAWED_LATE_S:
                thawed_late.add(place)
        _sleep_until(due_s)
        if place in ends:
            at_s = time.monotonic()
            readings[place] = at_s, at_s - due_s > SWITCHED_LATE_S
            beside = schedule.sides[max(0, place - 1) : place + 1]
            for samples, cluster in _of_clusters({s: sides[s] for s in beside if s in sides}):
                monitor.read(cluster, samples)
        for name in frozen:
            working = shared.wait_finished(name, FINISHED_S)
            amid.append(working / sides[name].job.point.clients)
            pair.freeze(sides[name].cluster)
    spans = []
    for place in schedule.places:
        (began_s, late), (ended_s, later) = readings[place], readings[place + 1]
        spans.append(None if late or later else (began_s, ended_s - began_s))
    return _Sampled(spans, thawed_late, bool(amid) and fmean(amid) > MOST_LEFT)


def _missed_s(cluster: Cluster, due_s: float) -> float:
    """Thaw a cluster; return how much of its turn its MySQL servers missed, on average.

    Each of them has as many clients, and all data nodes are thawed before them.
    """
    thawed_s = pair.thaw(cluster)
    return fmean(max(0.0, thawed_s.get(node.name, 0.0) - due_s) for node in cluster.plan.servers)


def _frozen_from(sides: Mapping[str, _Side], schedule: turns.Schedule, place: int) -> list[str]:
    """Return the sides whose cluster is frozen from a place on: at first all but one, then one."""
    awake = schedule.awake
    if place == len(awake) or (place and awake[place - 1] == awake[place]):
        return []
    runs, ran = sides[awake[place]].cluster, sides[awake[place - 1]].cluster if place else None
    others = {name: side for name, side in sides.items() if side.cluster is not runs}
    return [name for name, side in others.items() if ran is None or side.cluster is ran]


def _sleep_until(due_s: float) -> None:
    time.sleep(max(0.0, due_s - time.monotonic()))


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
