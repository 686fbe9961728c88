"""From runs to one row per point: which runs are good, their means, and the peaks.

No run is dropped without a mark, and no failed run is averaged.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.dataset.schema import WITHOUT_QUERIES
from ndblab.machine import interference
from ndblab.planning.workload import is_good, overran
from ndblab.statistics.estimate import t

# Throughput this close to the best counts as flat: the knee is the fewest clients that reach it.
FLAT = 0.03
POINT_COLUMNS = ["transporter", "workload", "variant", "servers", "clients"]
"""Columns that identify a point."""
_MARKS = {
    "_beside": "beside other work on the host",
    "_overran": "longer than asked, rated while all clients worked",
}
_FACTORS = ("qps", "latency_p95_ms")
_METRICS = ["qps", "latency_p95_ms", "latency_avg_ms", "client_cpu_pct"]


def point_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that identify a point in this table; the oldest lack `variant`."""
    return [key for key in POINT_COLUMNS if key in table]


def select(
    runs: pd.DataFrame,
    transporter: str = "",
    workload: str = "oltp_point_select",
    variant: str = "default",
) -> pd.DataFrame:
    """Return the runs of one kind; where the table has no variants, all are the default one.

    Without a `transporter` it takes "shm", or "tcp" where no run has shared memory, as on a cluster
    of several hosts.
    """
    if not transporter:
        transporter = "tcp" if set(runs["transporter"].astype(str)) == {"tcp"} else "shm"
    kind = (runs["transporter"] == transporter) & (runs["workload"] == workload)
    if "variant" in runs:
        return runs[kind & (runs["variant"] == variant)]
    return runs[kind] if variant == "default" else runs.iloc[:0]


def good(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that are averaged."""
    return runs[why_excluded(runs) == ""]


def disturbed(runs: pd.DataFrame) -> pd.Series:
    """Return which runs had company: other processes of the host used much of its CPUs.

    Where that was not measured, no run counts as disturbed.
    """
    if "company_pct" not in runs:
        return pd.Series(False, index=runs.index)
    return runs["company_pct"] > interference.LIMIT_PCT


def why_excluded(runs: pd.DataFrame) -> pd.Series:
    """Return for each run why it is not averaged; empty for a good one."""
    why = pd.Series("", index=runs.index, dtype=object)
    rated = ~runs["workload"].isin(WITHOUT_QUERIES)
    why[rated & ~(runs["qps"] > 0)] = "no throughput"
    why[runs["errors"] > 0] = "errors"
    failed = ~runs["status"].map(is_good).astype(bool)
    why[failed] = runs.loc[failed, "status"].astype(str)
    return why


def points(runs: pd.DataFrame) -> pd.DataFrame:
    """Average the runs of each point, with 95 % confidence intervals of the mean.

    Returns
    -------
    One row per point, sorted: `runs` averaged, `failed` not averaged, means, `_low` and
    `_high` (NaN for one run), `idle_servers`, `marks`.
    """
    keys, why = point_columns(runs), why_excluded(runs)
    marked = runs[[*keys, *_METRICS]].assign(_why=why, _good=why == "")
    marked["_beside"] = disturbed(runs) & marked["_good"]
    marked["_overran"] = runs["status"].map(overran).astype(bool) & marked["_good"]
    table = marked.groupby(keys, observed=True)["_good"].agg(runs="sum", _all="count")
    table["failed"] = table.pop("_all") - table["runs"]
    averaged = marked[marked["_good"]]
    # Both are drawn and compared by factors: the intervals are of logarithms, never below zero.
    logs = {f"_{metric}": np.log(averaged[metric].astype(float)) for metric in _FACTORS}
    groups = averaged.assign(**logs).groupby(keys, observed=True)[[*_METRICS, *logs]]
    mean, deviation = (part.reindex(table.index) for part in (groups.mean(), groups.std(ddof=1)))
    count = table["runs"].where(table["runs"] >= 2).astype(float)
    for metric in _FACTORS:
        table[f"{metric}_mean"] = mean[metric]
        factor = np.exp(t(count - 1) * deviation[f"_{metric}"] / np.sqrt(count))
        table[f"{metric}_low"] = mean[metric] / factor
        table[f"{metric}_high"] = mean[metric] * factor
    for metric in ("latency_avg_ms", "client_cpu_pct"):
        table[f"{metric}_mean"] = mean[metric]
    table = table.reset_index()
    table["idle_servers"] = table["clients"] < table["servers"]
    bad = marked[~marked["_good"]].groupby(keys, observed=True)["_why"]
    marks = bad.agg(lambda reasons: "; ".join(_tally(list(reasons))))
    for flag, what in _MARKS.items():
        counts = marked.groupby(keys, observed=True)[flag].sum()
        words = counts.map(lambda runs, what=what: f"{runs} {what}" if runs else "")
        marks = marks.reindex(words.index).fillna("").str.cat(words, sep="; ").str.strip("; ")
    table["marks"] = marks.reindex(pd.MultiIndex.from_frame(table[keys])).to_numpy()
    return table


def peaks(points: pd.DataFrame) -> pd.DataFrame:
    """Find the best mean throughput of each number of servers, and its knee.

    Points that leave servers idle, or have no good run, are left out.

    Returns
    -------
    One row per number of servers of a kind: `clients` and `qps_*` at the best mean, `runs` there,
    `knee_clients` (fewest clients within 3 % of the best).
    """
    keys = point_columns(points)
    group = [key for key in keys if key != "clients"]
    sound = points[~points["idle_servers"] & points["qps_mean"].notna()]
    best = sound.loc[sound.groupby(group, observed=True)["qps_mean"].idxmax()]
    best = best[[*keys, "qps_mean", "qps_low", "qps_high", "runs"]].reset_index(drop=True)
    top = sound.groupby(group, observed=True)["qps_mean"].transform("max")
    flat = sound[sound["qps_mean"] >= (1 - FLAT) * top].groupby(group, observed=True)["clients"]
    return best.join(flat.agg(knee_clients="min"), on=group)


def steadiness(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return how much throughput and p95 of each run varied from interval to interval.

    Returns
    -------
    `run_id`, `clients`, `intervals`, `qps_min`, `qps_max`, `qps_cv` and `latency_p95_ms_cv`:
    coefficients of variation, 0.05 is 5 %.
    """
    runs = intervals.groupby("run_id", observed=True, sort=False)
    table = runs.agg(
        clients=("clients", "first"),
        intervals=("qps", "count"),
        qps_min=("qps", "min"),
        qps_max=("qps", "max"),
    )
    for metric in ("qps", "latency_p95_ms"):
        table[f"{metric}_cv"] = runs[metric].std(ddof=1) / runs[metric].mean()
    return table.reset_index()


def _tally(reasons: list[str]) -> list[str]:
    return [f"{reasons.count(reason)} not averaged: {reason}" for reason in dict.fromkeys(reasons)]
