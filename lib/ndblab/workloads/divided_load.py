"""A load divided among several processes of sysbench, and their reports as one.

sysbench reports percentiles, not the latencies behind them. The percentile of several processes
lies somewhere between theirs: it is not known, and left empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
import pandas as pd

from ndblab.dataset import overrun
from ndblab.error import LabError
from ndblab.planning.workload import is_good
from ndblab.workloads.load_generator import OK, Job, Report

MOST_APART_S = 0.3
"""Processes that begin farther apart did not load the cluster at the same time."""
_RATES = ["qps", "errors_per_s", "reconnects_per_s"]


def parts(job: Job) -> list[Job]:
    """Divide the clients of a job among its processes.

    sysbench deals its clients to the servers in turn. Each process continues where the one before
    it ended, so that every server has as many clients as under a single process. LabError if there
    are fewer clients than processes.
    """
    clients, number = job.point.clients, job.processes
    if clients < number:
        raise LabError(
            "Each process of sysbench needs a client",
            found=f"{clients} clients for {number} processes",
            expected="at least as many clients as processes",
            next_step="Use more --clients.",
        )
    jobs: list[Job] = []
    dealt = 0
    for place in range(number):
        mine = clients // number + (place < clients % number)
        first = dealt % max(1, len(job.servers))
        turned = [*job.servers[first:], *job.servers[:first]]
        point = replace(job.point, clients=mine)
        jobs.append(replace(job, point=point, servers=turned, processes=1))
        dealt += mine
    return jobs


def joined(reports: Sequence[Report], asked_s: float | None = None) -> Report:
    """Join the reports of processes that ran at the same time into one.

    Queries and rates add up; the mean latency is weighted by queries. The load begins at the mean
    of their beginnings and lasts to the end of the last one: while some processes run alone, a
    saturated cluster answers as many queries as before. They were to take `asked_s`.
    """
    began = fmean(report.began for report in reports)
    lasted_s = max(report.began + report.lasted_s for report in reports) - began
    logs = {
        f"sysbench.{number}.txt": text
        for number, report in enumerate(reports, 1)
        for text in report.logs.values()
    }
    status = _status(reports)
    whole = replace(reports[0], status=status, began=began, lasted_s=lasted_s, logs=logs)
    if any(not report.metrics or report.intervals.empty for report in reports):
        return replace(whole, metrics={}, intervals=pd.DataFrame(), ended_s=())
    intervals, ended_s = _intervals(reports)
    metrics = _metrics(reports, lasted_s)
    if is_good(status):
        clients = int(intervals["clients"].max())
        own = overrun.judge(intervals, clients, lasted_s, asked_s, ended_s)
        metrics["qps"] = metrics["qps"] if math.isnan(own.qps) else own.qps
        whole = replace(whole, status=own.status)
    return replace(whole, metrics=metrics, intervals=intervals, ended_s=ended_s)


def _status(reports: Sequence[Report]) -> str:
    """Return "ok", or what is wrong with the first process that failed, or with all together."""
    failed = next((report.status for report in reports if not is_good(report.status)), None)
    if failed is not None:
        return failed
    apart_s = max(report.began for report in reports) - min(report.began for report in reports)
    if apart_s > MOST_APART_S:
        return f"{len(reports)} processes of sysbench began {apart_s:.2f} s apart"
    return OK


def _metrics(reports: Sequence[Report], lasted_s: float) -> dict[str, float | None]:
    table = pd.DataFrame([dict(report.metrics) for report in reports])
    counts = {name: int(table[name].sum()) for name in ("queries", "errors", "reconnects")}
    weights = table["queries"].clip(lower=1)
    return {
        **counts,
        "qps": counts["queries"] / lasted_s if lasted_s > 0 else 0.0,
        "latency_min_ms": float(table["latency_min_ms"].min()),
        "latency_avg_ms": float(np.average(table["latency_avg_ms"], weights=weights)),
        "latency_p95_ms": None,
        "latency_max_ms": float(table["latency_max_ms"].max()),
    }


def _intervals(reports: Sequence[Report]) -> tuple[pd.DataFrame, tuple[float, ...]]:
    """Add up the intervals that end at the same second in all processes; average their ends."""
    common = sorted(set.intersection(*(set(report.intervals["t_s"]) for report in reports)))
    tables = [_ending_at(report, common) for report in reports]
    summed = sum(table[["clients", *_RATES]] for table in tables)
    ended_s = tuple(np.mean([table["ended_s"] for table in tables], axis=0).tolist())
    table = summed.assign(t_s=common, latency_p95_ms=math.nan)
    return table[list(reports[0].intervals.columns)].astype({"clients": "int64"}), ended_s


def _ending_at(report: Report, common: Sequence[float]) -> pd.DataFrame:
    """Join the intervals of a report that end between two seconds of `common`."""
    table = report.intervals.reset_index(drop=True)
    ended_s = pd.Series(report.ended_s or table["t_s"].to_list())
    own_s = ended_s.diff().fillna(ended_s).clip(lower=1e-6)
    place = pd.Series(np.searchsorted(common, table["t_s"]))
    rates = table[_RATES].mul(own_s, axis=0).groupby(place).sum()
    means = rates.div(own_s.groupby(place).sum(), axis=0)
    means["clients"] = table["clients"].groupby(place).last()
    means["ended_s"] = ended_s.groupby(place).last()
    return means.loc[: len(common) - 1]
