"""From runs to means, spread and confidence: the statistics of the lab.

In: tables of a dataset. Out: tables, one row per point, per number of servers or per run.
It never reads a file, never drops a run without a mark, and never averages a failed one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import chdtri, stdtrit

CONFIDENCE = 0.95
DRAWS = 10_000
# Throughput this close to the best counts as flat: the knee is the fewest clients that reach it.
FLAT = 0.03
# A client process this close to its CPUs measures itself, not the cluster.
USED_UP = 0.95
POINT = ["transporter", "workload", "variant", "servers", "clients"]
_METRICS = ["qps", "latency_p95_ms", "latency_avg_ms", "client_cpu_pct"]


def select(
    runs: pd.DataFrame,
    transporter: str = "shm",
    workload: str = "oltp_point_select",
    variant: str = "default",
) -> pd.DataFrame:
    """Give the runs of one kind; where the table knows no variants, all are the default one."""
    kind = (runs["transporter"] == transporter) & (runs["workload"] == workload)
    if "variant" in runs:
        return runs[kind & (runs["variant"] == variant)]
    return runs[kind] if variant == "default" else runs.iloc[:0]


def usable(runs: pd.DataFrame, client_cpus: float | None = None) -> pd.Series:
    """Say for each run why it is not averaged; empty where it is.

    Parameters
    ----------
    client_cpus : logical CPUs that sysbench had for itself; None where it had none of its own.
    """
    why = pd.Series("", index=runs.index, dtype=object)
    if client_cpus is not None:
        used_up = runs["client_cpu_pct"] >= 100 * client_cpus * USED_UP
        why[used_up] = "the client used up its CPUs"
    why[~(runs["qps"] > 0)] = "no throughput"
    why[runs["errors"] > 0] = "errors"
    failed = runs["status"].astype(object) != "ok"
    why[failed] = runs.loc[failed, "status"].astype(str)
    return why


def points(runs: pd.DataFrame, client_cpus: float | None = None) -> pd.DataFrame:
    """Average the runs of each point, with 95 % confidence intervals of the mean over runs.

    Returns
    -------
    One row per point, sorted, `variant` if the runs have it: `runs` averaged, `failed` not
    averaged, means, `_low` and `_high` (NaN for one run), `idle_servers`, `marks`.
    """
    keys, why = _keys(runs), usable(runs, client_cpus)
    marked = runs[[*keys, *_METRICS]].assign(_why=why, _good=why == "")
    table = marked.groupby(keys, observed=True)["_good"].agg(runs="sum", _all="count")
    table["failed"] = table.pop("_all") - table["runs"]
    good = marked[marked["_good"]].groupby(keys, observed=True)[_METRICS]
    mean, spread = good.mean(), good.std(ddof=1)
    count = table["runs"].to_numpy(float)
    table["qps_mean"] = mean["qps"].reindex(table.index)
    half = _half_width(spread["qps"].reindex(table.index).to_numpy(float), count)
    table["qps_low"], table["qps_high"] = table["qps_mean"] - half, table["qps_mean"] + half
    # Latency is drawn and compared by factors: its interval is one of logarithms, never below zero.
    logs = np.log(marked.loc[marked["_good"], "latency_p95_ms"].astype(float))
    groups = [marked.loc[logs.index, key] for key in keys]
    factor = logs.groupby(groups, observed=True).std(ddof=1).reindex(table.index)
    half = np.exp(_half_width(factor.to_numpy(float), count))
    table["latency_p95_ms_mean"] = mean["latency_p95_ms"].reindex(table.index)
    table["latency_p95_ms_low"] = table["latency_p95_ms_mean"] / half
    table["latency_p95_ms_high"] = table["latency_p95_ms_mean"] * half
    for metric in ("latency_avg_ms", "client_cpu_pct"):
        table[f"{metric}_mean"] = mean[metric].reindex(table.index)
    table = table.reset_index()
    table["idle_servers"] = table["clients"] < table["servers"]
    bad = marked[~marked["_good"]].groupby(keys, observed=True)["_why"]
    marks = bad.agg(lambda reasons: "; ".join(_tally(list(reasons))))
    table["marks"] = marks.reindex(pd.MultiIndex.from_frame(table[keys])).fillna("").to_numpy()
    return table


def peaks(points: pd.DataFrame) -> pd.DataFrame:
    """Find the best mean throughput of each number of servers, and its knee.

    Points that leave servers idle, or have no good run, are left out.

    Returns
    -------
    One row per number of servers of a kind: `clients` and `qps_*` at the best mean, `runs` there,
    `knee_clients` (fewest clients within 3 % of the best), `flat` (points that are so).
    """
    keys = _keys(points)
    group = [key for key in keys if key != "clients"]
    sound = points[~points["idle_servers"] & points["qps_mean"].notna()]
    best = sound.loc[sound.groupby(group, observed=True)["qps_mean"].idxmax()]
    best = best[[*keys, "qps_mean", "qps_low", "qps_high", "runs"]].reset_index(drop=True)
    top = sound.groupby(group, observed=True)["qps_mean"].transform("max")
    flat = sound[sound["qps_mean"] >= (1 - FLAT) * top].groupby(group, observed=True)["clients"]
    return best.join(flat.agg(knee_clients="min", flat="count"), on=group)


@dataclass(frozen=True)
class Spread:
    """How much runs of one point differ: standard deviation of the logarithm, and its freedom."""

    deviation: float
    freedom: int


def without_drift(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Take out of a metric what all points together gained or lost from one repeat to the next.

    A repeat is a shuffled pass over all points, so that a machine that slows down between passes
    slows all points alike: the repeats are the blocks of a randomised block design.
    """
    logs = np.log(runs[metric].astype(float))
    from_point = logs - logs.groupby([runs[key] for key in _keys(runs)], observed=True).transform(
        "mean"
    )
    return np.exp(logs - from_point.groupby(runs["repeat"]).transform("mean"))


def pooled(runs: pd.DataFrame, metric: str) -> Spread:
    """Estimate the spread between runs of one point from all points, drift taken out.

    Two to four runs a point say little of their own spread; all points together say much. It is the
    median over points of their variances, each over the median that chance gives it (chi-squared),
    so that a few wild points do not set it. The median of normal samples is worth about 0.4 of
    their freedom. The logarithm is taken since spread is relative to the value.
    """
    logs = np.log(without_drift(runs, metric))
    by_point = logs.groupby([runs[key] for key in _keys(runs)], observed=True)
    variance, freedom = by_point.var(ddof=1), by_point.count() - 1
    known = freedom > 0
    if not known.any():
        return Spread(math.nan, 0)
    unbiased = variance[known] / (chdtri(freedom[known], 0.5) / freedom[known])
    blocks = runs["repeat"].nunique() - 1
    worth = max(1, int(0.4 * (freedom.sum() - blocks)))
    return Spread(float(np.sqrt(unbiased.median())), worth)


def ratio(
    a: Sequence[float] | np.ndarray,
    b: Sequence[float] | np.ndarray,
    confidence: float = CONFIDENCE,
    spread: Spread | None = None,
) -> tuple[float, float, float]:
    """Give the ratio of the geometric means of `a` and `b` with its interval on the logarithms.

    Parameters
    ----------
    spread : of all points together. Each side then has that spread or its own, whichever is
        larger; without it the interval is Welch's, from the two sides alone.

    Returns
    -------
    (value, low, high); low and high are NaN where there is no spread to know.

    Raises
    ------
    ValueError
        If a side is empty or holds a value that is not positive and finite.
    """
    x, y = np.asarray(a, float), np.asarray(b, float)
    for values in (x, y):
        if values.size == 0 or not np.all(np.isfinite(values) & (values > 0)):
            raise ValueError("a ratio needs positive, finite values on both sides")
    x, y = np.log(x), np.log(y)
    centre = float(x.mean() - y.mean())
    if spread is not None and spread.freedom > 0:
        parts = [
            max(values.var(ddof=1) if values.size > 1 else 0.0, spread.deviation**2) / values.size
            for values in (x, y)
        ]
        half = float(stdtrit(spread.freedom, (1 + confidence) / 2) * np.sqrt(sum(parts)))
        low, high = np.exp([centre - half, centre + half])
        return float(np.exp(centre)), float(low), float(high)
    if min(x.size, y.size) < 2:
        return float(np.exp(centre)), float("nan"), float("nan")
    vx, vy = x.var(ddof=1) / x.size, y.var(ddof=1) / y.size
    half = 0.0
    if vx + vy > 0:
        # Scaled by the larger one, as squares of tiny variances underflow to zero.
        sx, sy = vx / max(vx, vy), vy / max(vx, vy)
        freedom = (sx + sy) ** 2 / (sx**2 / (x.size - 1) + sy**2 / (y.size - 1))
        half = float(stdtrit(freedom, (1 + confidence) / 2) * np.sqrt(vx + vy))
    with np.errstate(over="ignore"):
        low, high = np.exp([centre - half, centre + half])
    return float(np.exp(centre)), float(low), float(high)


def peak_ratio(
    top: Sequence[np.ndarray],
    base: Sequence[np.ndarray],
    spread: Spread,
    confidence: float = CONFIDENCE,
) -> tuple[float, float, float]:
    """Give the ratio of two peaks, each the best geometric mean among the points of one side.

    A peak is picked from noisy means, so the interval comes from a parametric bootstrap that picks
    anew in every draw (the basic interval: Davison and Hinkley 1997, section 5.2). Each point has
    the pooled spread or its own, whichever is larger. The seed is fixed.

    Parameters
    ----------
    top, base : the runs of each point of a side.

    Returns
    -------
    (value, low, high); low and high are NaN where there is no spread to know.
    """
    rng = np.random.default_rng(7742)
    best, drawn = [], []
    for side in (top, base):
        logs = [np.log(np.asarray(point, float)) for point in side]
        means = np.array([point.mean() for point in logs])
        own = [point.std(ddof=1) if point.size > 1 else 0.0 for point in logs]
        error = np.maximum(own, spread.deviation) / np.sqrt([point.size for point in logs])
        noise = rng.standard_t(max(1, spread.freedom), (DRAWS, len(logs)))
        best.append(means.max())
        drawn.append((means + error * noise).max(axis=1))
    centre = float(best[0] - best[1])
    if spread.freedom < 1:
        return float(np.exp(centre)), math.nan, math.nan
    tail = (1 - confidence) / 2
    few, many = np.quantile(drawn[0] - drawn[1], [tail, 1 - tail])
    low, high = np.exp([2 * centre - many, 2 * centre - few])
    return float(np.exp(centre)), float(low), float(high)


def mean(
    values: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Give the mean with its t interval; (value, NaN, NaN) for one value."""
    x = np.asarray(values, float)
    if x.size == 0:
        raise ValueError("a mean needs at least one value")
    centre = float(x.mean())
    if x.size < 2:
        return centre, float("nan"), float("nan")
    half = float(_half_width(x.std(ddof=1), np.asarray(float(x.size)), confidence))
    return centre, centre - half, centre + half


def geometric(
    values: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Give the geometric mean of positive values with the t interval of their logarithms."""
    x = np.asarray(values, float)
    if x.size == 0 or not np.all(np.isfinite(x) & (x > 0)):
        raise ValueError("a geometric mean needs positive, finite values")
    value, low, high = np.exp(mean(np.log(x), confidence))
    return float(value), float(low), float(high)


def steadiness(intervals: pd.DataFrame) -> pd.DataFrame:
    """Say per run how steady throughput and p95 were from interval to interval.

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


def _keys(table: pd.DataFrame) -> list[str]:
    """Give what a point is told by; datasets before variants have only the default one."""
    return [key for key in POINT if key in table]


def _half_width(
    spread: np.ndarray | float, count: np.ndarray, confidence: float = CONFIDENCE
) -> np.ndarray:
    """Half of the t interval of a mean; NaN where one value gives no spread."""
    count = np.where(count >= 2, count, np.nan)
    return stdtrit(count - 1, (1 + confidence) / 2) * spread / np.sqrt(count)


def _tally(reasons: list[str]) -> list[str]:
    return [f"{reasons.count(reason)} not averaged: {reason}" for reason in dict.fromkeys(reasons)]
