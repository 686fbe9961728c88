"""Slices of a contrast: short measured runs, one at a time or two at once, or seconds of one load.

In: a running cluster and the jobs of one slot. Out: the tables of each slice, for a dataset. It
decides neither what is compared nor what a failure means.

sysbench 1.0 has no warm-up of its own, and starting it costs up to a second: one execution of a
load generator covers both the warm-up and the measured span, and its first intervals are dropped.
The cluster and the host are sampled at the two ends of the span, not in between; if an overloaded
host lets the lab take the first sample so late that little is left, there is none. A load that ends
by itself has no warm-up, its span is the whole of it, and only the host is sampled. Slices that
share a load are watched by the monitor, or not, to see what it costs (`measure_in_turn`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from ndblab.cluster import readiness
from ndblab.dataset import SCHEMAS
from ndblab.machine import speed
from ndblab.machine.interference import Company, disturbance
from ndblab.measuring import conditions, monitor
from ndblab.measuring.measured_run import Run, disturbed, now_utc, probed, status_of_probes
from ndblab.planning import workload
from ndblab.planning.condition import NO_MONITOR, NONE
from ndblab.planning.workload import is_good, overran
from ndblab.workloads import registry, sysbench
from ndblab.workloads.load_generator import OK, Job, Report

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.point import Point
    from ndblab.planning.profile import Profile

CONNECT_TIMEOUT_S = 30
"""Time for clients to connect, besides that of each."""
END_MARGIN_S = 0.05
"""The last reading is so long before the load ends: a process that has ended cannot be read."""
TOO_LATE = "the load reported too late, or ended before its time"


@dataclass(frozen=True)
class Asked:
    """A slice that is asked for: its place in its contrast (columns of `slices`), and its job.

    The profile of the job has the times of the slice, in whole seconds under sysbench, and the same
    for all slices of a slot.
    """

    place: Mapping[str, object]
    job: Job


def measure(cluster: Cluster, asked: Sequence[Asked], condition: str = NONE) -> list[Run]:
    """Measure the slices of one slot, all at the same time.

    A load that fails, or company, is the status of its slice.

    Raises
    ------
    LabError
        If a node of the cluster has ended, or does not rejoin it.
    """
    samples = monitor.of(cluster)
    watched = condition != NO_MONITOR
    # Processes of a load that ends by itself are gone before the last reading.
    ends = any(registry.ends_by_itself(each.job.point.workload) for each in asked)
    monitored = watched and not ends
    times = asked[0].job.profile
    seconds = times.warmup_s + times.duration_s
    started_utc, span = now_utc(), None
    host: Mapping[str, float] = {}
    with ExitStack() as stack:
        stack.enter_context(conditions.holding(condition, cluster))
        if not monitored:
            monitor.read_company(cluster, samples)
        before = [[probe.read(cluster, each.job) for probe in each.job.probes] for each in asked]
        generators = [registry.find(each.job.point.workload) for each in asked]
        loads = [
            stack.enter_context(generator.running(cluster, _lasting(each.job, seconds)))
            for generator, each in zip(generators, asked, strict=True)
        ]
        free = itertools.count()
        numbers = [[next(free) for _ in load.pids] for load in loads]
        for each, mine, load, generator in zip(asked, numbers, loads, generators, strict=True):
            for number, pid in zip(mine, load.pids, strict=True):
                samples.watch(generator.ROLE, number, pid, each.job.host)
        first_s = time.monotonic()
        if watched and ends:
            monitor.read_hosts(cluster, samples)
        began = [
            at
            for load, each in zip(loads, asked, strict=True)
            for at in load.wait_began(
                speed.timeout_s(CONNECT_TIMEOUT_S + sysbench.connect_s(each.job))
            )
        ]
        if monitored and None not in began:
            first_s = max(began) + times.warmup_s
            last_s = min(began) + times.warmup_s + times.duration_s - END_MARGIN_S
            span = _read_at(first_s, last_s, cluster, samples)
            if span[1] < times.duration_s / 2:
                span = None
            else:
                host = samples.host(*span)
        reports = [load.finish() for load in loads]
        if watched and ends:
            monitor.read_hosts(cluster, samples)
            host = samples.host(first_s, time.monotonic() - first_s)
        counted = [
            probed(states, cluster, each.job) for states, each in zip(before, asked, strict=True)
        ]
    cluster.check_alive()
    for report, each in zip(reports, asked, strict=True):
        if not is_good(report.status):
            readiness.wait_rejoined(cluster, each.job.servers)
    if monitored:
        monitor.fetch_threads(cluster, samples)
    else:
        monitor.read_company(cluster, samples)
    return [
        _run(each, report, samples, span, host, mine, started_utc, reads)
        for each, report, mine, reads in zip(asked, reports, numbers, counted, strict=True)
    ]


def measure_in_turn(cluster: Cluster, asked: Sequence[Asked], watched: Sequence[bool]) -> list[Run]:
    """Measure slices one after the other under one load: each watched by the monitor, or not.

    In a watched slice every second is sampled once, at its middle, and the first one also fetches
    what NDB threads did, which a run does once in 12 s. The samples are the load on the host, and
    are not kept. The jobs of all slices are the same, and last whole seconds.

    Raises
    ------
    LabError
        If a node of the cluster has ended, or does not rejoin it.
    """
    samples = monitor.of(cluster)
    job, times = asked[0].job, asked[0].job.profile
    started_utc = now_utc()
    generator = registry.find(job.point.workload)
    # sysbench may end before it reports its last second.
    seconds = times.warmup_s + len(asked) * times.duration_s + 1
    monitor.read_company(cluster, samples)
    monitor.read_hosts(cluster, samples)
    began_s = time.monotonic()
    with generator.running(cluster, _lasting(job, seconds)) as load:
        for number, pid in enumerate(load.pids):
            samples.watch(generator.ROLE, number, pid, job.host)
        begun = load.wait_began(speed.timeout_s(CONNECT_TIMEOUT_S + sysbench.connect_s(job)))
        if None not in begun:
            _watch_some(cluster, samples, fmean(begun) + times.warmup_s, times.duration_s, watched)
        report = load.finish()
    monitor.read_company(cluster, samples)
    monitor.read_hosts(cluster, samples)
    host = samples.host(began_s, time.monotonic() - began_s)
    cluster.check_alive()
    if not is_good(report.status):
        readiness.wait_rejoined(cluster, job.servers)
    return [
        _slice_of(each, report, samples, host, started_utc, place)
        for place, each in enumerate(asked)
    ]


def row(point: Point, **measured: object) -> pd.DataFrame:
    """Compose table `slices` of one slice; what was not measured is empty."""
    import pandas as pd

    empty = dict.fromkeys(SCHEMAS["slices"].columns, math.nan)
    return pd.DataFrame([{**empty, **dataclasses.asdict(point), **measured}])


def _lasting(job: Job, seconds: float) -> Job:
    """Return a job without a warm-up that lasts this long."""
    whole = dataclasses.replace(job.profile, warmup_s=0, duration_s=seconds)
    return dataclasses.replace(job, profile=whole)


def _watch_some(
    cluster: Cluster,
    samples: monitor.Samples,
    first_s: float,
    slice_s: float,
    watched: Sequence[bool],
) -> None:
    """Sample the middle of each second of the slices that are watched."""
    fetched = False
    for place in (place for place, each in enumerate(watched) if each):
        for second in range(int(slice_s)):
            due_s = first_s + place * slice_s + second + 0.5
            time.sleep(max(0.0, due_s - time.monotonic()))
            monitor.read(cluster, samples)
            if not fetched:
                monitor.fetch_threads(cluster, samples)
                fetched = True


def _slice_of(
    asked: Asked,
    report: Report,
    samples: monitor.Samples,
    host: Mapping[str, float],
    started_utc: str,
    place: int,
) -> Run:
    """Compose the tables of a slice from its intervals in the report of the whole load."""
    times, company = asked.job.profile, samples.company()
    first_s = times.warmup_s + place * times.duration_s
    intervals, ended_s = report.intervals.copy(), np.array(report.ended_s)
    totals: dict[str, float] = {}
    if not intervals.empty:
        inside = intervals["t_s"].between(first_s, first_s + times.duration_s, inclusive="right")
        lasted_s = np.diff(ended_s, prepend=0.0)[inside]
        intervals = intervals[inside].assign(t_s=intervals["t_s"] - first_s)
        if len(intervals) == times.duration_s:
            queries, duration_s = float((intervals["qps"] * lasted_s).sum()), float(lasted_s.sum())
            totals = _measured(queries, duration_s, intervals)
    status = OK if is_good(report.status) else report.status
    if status == OK and not totals:
        status = TOO_LATE
    if status == OK and company.disturbs:
        status = disturbed(company)
    tables = {
        "intervals": intervals,
        "slices": row(
            asked.job.point,
            **asked.place,
            status=status,
            started_utc=started_utc,
            warmup_s=float(times.warmup_s),
            **totals,
            host_busy_pct=host["host_busy_pct"],
            host_steal_pct=host["host_steal_pct"],
            company_pct=company.pct,
            company=company.name,
        ),
    }
    return _named(asked, tables, report, company, host["host_steal_pct"])


def _read_at(
    first_s: float, last_s: float, cluster: Cluster, samples: monitor.Samples
) -> tuple[float, float]:
    """Sample at both ends of a span; return its begin by `time.monotonic`, and its times."""
    time.sleep(max(0.0, first_s - time.monotonic()))
    monitor.read_company(cluster, samples)
    first_s = time.monotonic()
    monitor.read(cluster, samples)
    time.sleep(max(0.0, last_s - time.monotonic()))
    last_s = time.monotonic()
    monitor.read(cluster, samples)
    monitor.read_company(cluster, samples)
    return first_s, last_s - first_s


def _run(
    asked: Asked,
    report: Report,
    samples: monitor.Samples,
    span: tuple[float, float] | None,
    host: Mapping[str, float],
    numbers: Sequence[int],
    started_utc: str,
    reads: Mapping[str, pd.DataFrame],
) -> Run:
    times, company = asked.job.profile, samples.company()
    totals = _totals(report, times)
    tables: dict[str, pd.DataFrame] = {
        "intervals": _after_warm_up(report, times),
        **report.tables,
    }
    used = {name: host[name] for name in ("host_busy_pct", "host_steal_pct") if name in host}
    if span is not None:
        tables |= _sampled(samples, span, numbers)
        processes = tables["processes"]
        used["client_cpu_pct"] = processes.cpu_pct[_of_clients(processes)].sum(min_count=1)
    status = OK if is_good(report.status) else report.status
    if status == OK and not totals:
        status = TOO_LATE
    if status == OK:
        status = status_of_probes(asked.job, reads, totals["queries"])
    tables |= reads if status == OK else {}
    if status == OK and company.disturbs:
        status = disturbed(company)
    tables["slices"] = row(
        asked.job.point,
        **asked.place,
        status=status,
        started_utc=started_utc,
        warmup_s=float(times.warmup_s),
        **totals,
        **used,
        company_pct=company.pct,
        company=company.name,
    )
    return _named(asked, tables, report, company, used.get("host_steal_pct", 0.0))


def _named(
    asked: Asked,
    tables: dict[str, pd.DataFrame],
    report: Report,
    company: Company,
    stolen_pct: float,
) -> Run:
    """Return a slice under its name: its tables, and the output of its load if it is not good."""
    run_id = str(asked.place["run_id"])
    for name, table in tables.items():
        if name != "slices":
            table.insert(0, "run_id", run_id)
    # What the output of a good slice says, its intervals hold.
    logs = {} if tables["slices"]["status"].iloc[0] == OK else report.logs
    named = {f"{run_id}.{name}": text for name, text in logs.items()}
    return Run(tables, named, disturbance=disturbance(company, float(stolen_pct)))


def _warm_up_rows(report: Report, times: Profile) -> int:
    """Return how many intervals the warm-up has: up to the first that ends with it or later."""
    return int((report.intervals["t_s"] < times.warmup_s).sum()) + 1 if times.warmup_s else 0


def _after_warm_up(report: Report, times: Profile) -> pd.DataFrame:
    """Return the intervals of the measured span, its begin at 0 s."""
    if report.intervals.empty:
        return report.intervals
    after = report.intervals.iloc[_warm_up_rows(report, times) :]
    shifted = after.assign(t_s=after["t_s"] - times.warmup_s)
    return shifted[shifted["t_s"] <= times.duration_s]


def _totals(report: Report, times: Profile) -> dict[str, float]:
    """Return what the measured span amounts to; nothing if there was none.

    Its queries are those of the whole execution without those of the warm-up, and it takes what
    is left of the time: totals are exact, while sysbench may end before it reports the last second.
    Of an execution that overran, the intervals up to the asked time count.
    """
    if report.status == OK and report.whole:
        return {"duration_s": report.lasted_s, **report.metrics}
    if not is_good(report.status) or report.lasted_s < times.warmup_s + times.duration_s:
        return {}
    rows = _warm_up_rows(report, times)
    if len(report.ended_s) < rows:
        return {}
    if overran(report.status):
        return _while_all_work(report, times)
    ended_s = [0.0, *report.ended_s[:rows]]
    rates = report.intervals["qps"].iloc[:rows]
    before = sum(
        qps * (last - first) for qps, first, last in zip(rates, ended_s, ended_s[1:], strict=False)
    )
    duration_s, queries = report.lasted_s - ended_s[-1], report.metrics["queries"] - before
    if duration_s < times.duration_s / 2:
        return {}
    return _measured(queries, duration_s, _after_warm_up(report, times))


def _while_all_work(report: Report, times: Profile) -> dict[str, float]:
    """Return what the intervals of the measured span amount to; nothing if they miss half of it."""
    intervals = _after_warm_up(report, times)
    seconds = np.diff(report.ended_s, prepend=0.0)[intervals.index]
    if seconds.sum() < times.duration_s / 2:
        return {}
    queries = float((intervals["qps"] * seconds).sum())
    return _measured(queries, float(seconds.sum()), intervals)


def _measured(queries: float, duration_s: float, intervals: pd.DataFrame) -> dict[str, float]:
    """Return the columns of a slice that follow from its queries, its time and its intervals."""
    return {
        "duration_s": round(duration_s, 4),
        "queries": round(queries),
        "errors": round(intervals["errors_per_s"].sum()),
        "reconnects": 0,
        "qps": round(queries / duration_s, 2),
        "latency_p95_ms": intervals["latency_p95_ms"].dropna().median(),
    }


def _sampled(
    samples: monitor.Samples, span: tuple[float, float], numbers: Sequence[int]
) -> dict[str, pd.DataFrame]:
    """Return CPU of processes and NDB threads, averaged over the span.

    Of the load generators only those of these `numbers` count, anew from 0.
    """
    processes = samples.processes(*span)
    others = _of_clients(processes) & ~processes["node_id"].isin(numbers)
    processes = processes[~others].assign(t_s=round(span[1], 2))
    processes.loc[_of_clients(processes), "node_id"] -= numbers[0]
    threads = samples.ndb_threads(*span)
    keys = ["node_id", "thr_no", "thread"]
    means = threads.drop(columns="t_s").groupby(keys, sort=False).mean().round(2).reset_index()
    means.insert(0, "t_s", round(span[1], 2))
    return {"processes": processes, "ndb_threads": means}


def _of_clients(processes: pd.DataFrame) -> pd.Series:
    return processes["role"].isin(workload.CLIENT_ROLES)
