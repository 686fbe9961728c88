"""The tables of a slice: what its load reported, and what was sampled, in the measured span.

It runs nothing, and does not decide what a failure means.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ndblab.dataset.table import row
from ndblab.machine.interference import disturbance
from ndblab.measuring import monitor
from ndblab.measuring.measured_run import Run, status_of_probes
from ndblab.planning import workload
from ndblab.planning.workload import is_good, overran
from ndblab.workloads.load_generator import OK, Job, Report

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.planning.profile import Profile

TOO_LATE = "the load reported too late, or ended before its time"
NO_QUERY = "no query ended in it: queries last longer than a slice"
SWITCHED_TOO_LATE = "what the sides differ in was switched too late"
BEFORE_S = 0.5
"""How long before its slice the first interval may begin. If it begins earlier, queries of another
slice, or of the warm-up, are part of its rate."""
BEGAN_BEFORE = f"its first report covers more than {BEFORE_S:g} s before it"


@dataclass(frozen=True)
class Asked:
    """A slice to measure: its place in its contrast (columns of `slices`), and its job.

    The profile of the job has the times of the slice. They are whole seconds under sysbench, and
    the same for all slices of a slot.
    """

    place: Mapping[str, object]
    job: Job


class Loaded(NamedTuple):
    """The load of one or more slices: its report, and what was sampled meanwhile."""

    report: Report
    samples: monitor.Samples
    host: Mapping[str, float]
    started_utc: str


def of_span(
    asked: Asked,
    loaded: Loaded,
    span: tuple[float, float] | None,
    numbers: Sequence[int],
    reads: Mapping[str, pd.DataFrame],
) -> Run:
    """Compose the tables of a slice that had a load of its own, sampled at the ends of a span."""
    report, samples, host, _ = loaded
    totals = _totals(report, asked.job.profile)
    tables = {"intervals": _after_warm_up(report, asked.job.profile), **report.tables}
    used = {name: host[name] for name in ("host_busy_pct", "host_steal_pct") if name in host}
    if span is not None:
        tables |= _sampled(samples, span, numbers)
        processes = tables["processes"]
        used["client_cpu_pct"] = processes.cpu_pct[_of_clients(processes)].sum(min_count=1)
    status = _status(report, totals)
    if status == OK:
        status = status_of_probes(asked.job, reads, totals["queries"])
    tables |= reads if status == OK else {}
    return _composed(asked, loaded, status, tables, totals | used)


def of_load(
    asked: Asked,
    loaded: Loaded,
    place: int,
    span: tuple[float, float] | None = None,
    void: str = "",
    more: float = 0.0,
) -> Run:
    """Compose the tables of a slice from its intervals in the report of the whole load.

    A slice is void if its first interval began more than `BEFORE_S` before the slice.

    Parameters
    ----------
    span : beginning and seconds between the readings of processes, if there were any.
    void : why the slice does not count, if it does not.
    more : queries that ended after the slice but count towards it.
    """
    report, samples, host, _ = loaded
    times = asked.job.profile
    first_s = times.warmup_s + place * times.duration_s
    intervals, ended_s = report.intervals.copy(), np.array(report.ended_s)
    totals: dict[str, float] = {}
    before_s = 0.0
    if not intervals.empty:
        inside = intervals["t_s"].between(first_s, first_s + times.duration_s, inclusive="right")
        lasted_s = np.diff(ended_s, prepend=0.0)[inside]
        intervals = intervals[inside]
        intervals = intervals.assign(t_s=intervals["t_s"] - first_s)
        if len(intervals) == times.duration_s:
            before_s = first_s - float((ended_s[inside] - lasted_s)[0])
            duration_s = float(lasted_s.sum())
            queries = float((intervals["qps"] * lasted_s).sum()) + more
            totals = _measured(queries, duration_s, intervals)
    measured = totals | {name: host[name] for name in ("host_busy_pct", "host_steal_pct")}
    tables, status = {"intervals": intervals}, _status(report, totals)
    if span is not None:
        processes = samples.processes(*span).assign(t_s=round(span[1], 2))
        tables["processes"] = processes
        measured["client_cpu_pct"] = processes.cpu_pct[_of_clients(processes)].sum(min_count=1)
    if status == OK and before_s > BEFORE_S:
        status = BEGAN_BEFORE
    if status == OK and void:
        status = void
    return _composed(asked, loaded, status, tables, measured)


def _status(report: Report, totals: Mapping[str, float]) -> str:
    if not is_good(report.status):
        return report.status
    if totals.get("qps") == 0:
        return NO_QUERY
    return OK if totals else TOO_LATE


def _composed(
    asked: Asked,
    loaded: Loaded,
    status: str,
    tables: dict[str, pd.DataFrame],
    measured: Mapping[str, float],
) -> Run:
    """Return the tables of a slice with its run id, and its load's output if it is not good."""
    company = loaded.samples.company()
    if status == OK and company.disturbs:
        status = f"company: {company.name} used {company.pct:.0f} % of the CPUs"
    run_id = str(asked.place["run_id"])
    for table in tables.values():
        table.insert(0, "run_id", run_id)
    tables["slices"] = row(
        "slices", **dataclasses.asdict(asked.job.point), **asked.place, status=status,
        started_utc=loaded.started_utc, warmup_s=float(asked.job.profile.warmup_s), **measured,
        company_pct=company.pct, company=company.name,
    )  # fmt: skip
    # The intervals of a good slice hold all that its output says.
    logs = {} if status == OK else loaded.report.logs
    named = {f"{run_id}.{name}": text for name, text in logs.items()}
    stolen_pct = float(measured.get("host_steal_pct", 0.0))
    return Run(tables, named, disturbance=disturbance(company, stolen_pct))


def _warm_up_rows(report: Report, times: Profile) -> int:
    """Return how many intervals the warm-up has: up to the first that ends with it or later."""
    return int((report.intervals["t_s"] < times.warmup_s).sum()) + 1 if times.warmup_s else 0


def _after_warm_up(report: Report, times: Profile) -> pd.DataFrame:
    """Return the intervals of the measured span, which begins at 0 s."""
    if report.intervals.empty:
        return report.intervals
    after = report.intervals.iloc[_warm_up_rows(report, times) :]
    shifted = after.assign(t_s=after["t_s"] - times.warmup_s)
    return shifted[shifted["t_s"] <= times.duration_s]


def _totals(report: Report, times: Profile) -> dict[str, float]:
    """Return the totals of the measured span; nothing if there was none.

    Queries and time are those of the whole execution minus those of the warm-up: totals are exact,
    while sysbench may end before it reports the last second. If an execution overran, only its
    intervals up to the requested time count.
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
    """Return the totals of the measured span's intervals; nothing if they miss half of it."""
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
        "qps": float(f"{queries / duration_s:.7g}"),
        "latency_p95_ms": intervals["latency_p95_ms"].dropna().median(),
    }


def _sampled(
    samples: monitor.Samples, span: tuple[float, float], numbers: Sequence[int]
) -> dict[str, pd.DataFrame]:
    """Return CPU of processes and NDB threads, averaged over the span.

    Only load generators with these `numbers` are kept, renumbered from 0.
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
