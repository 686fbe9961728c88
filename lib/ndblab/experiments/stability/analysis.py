"""Stability of one long run: steadiness, trend, shorter measurements, and memory growth.

Intervals are those of `series`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.statistics import series, summary
from ndblab.statistics.estimate import Estimate

METRICS = ("qps", "latency_p95_ms")
STARTS_S = (60, 120, 300, 600, 1800)
MINUTE_S, HOUR_S = 60, 3600
RANGE = (0.025, 0.975)
"""Sources give the range of a curve, not of every second: the central 95 % stand for it."""
CENTRAL_SHARE = RANGE[1] - RANGE[0]
MOST_HALF_PCT = 100
"""A trend is unknown if its interval extends further to either side, in percent per hour."""


def longest(runs: pd.DataFrame) -> pd.Series:
    """Return the longest good run; MissingData if no run is good."""
    good = summary.good(runs)
    if good.empty:
        raise MissingData("no good run")
    return good.loc[good["duration_s"].idxmax()]


def samples(run: pd.Series, intervals: pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a run in order, without a last one taken after clients had ended.

    If a run of a few seconds has only that one, it is kept. Where sysbench reported late, the
    queries are shared between the seconds that they belong to.
    """
    own = intervals[intervals["run_id"] == run["run_id"]].sort_values("t_s", ignore_index=True)
    whole = own[own["clients"] >= run["clients"]]
    seconds = _without_gaps(own if whole.empty else whole.reset_index(drop=True))
    return seconds.assign(qps=series.settled(seconds["qps"]))


def _without_gaps(seconds: pd.DataFrame) -> pd.DataFrame:
    """Give a second without a report half of the next one's queries, if those cover both."""
    step_s = _step_s(seconds)
    alone = seconds["t_s"].diff().between(1.5 * step_s, 2.5 * step_s)
    of_two = alone & series.outliers(seconds["qps"]) & (seconds["qps"] > seconds["qps"].median())
    if not of_two.any():
        return seconds
    halved = seconds.assign(qps=seconds["qps"].mask(of_two, seconds["qps"] / 2))
    missing = halved[of_two].assign(t_s=halved["t_s"][of_two] - step_s)
    return pd.concat([halved, missing]).sort_values("t_s", ignore_index=True)


def steadiness(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return how much the samples of a run vary, and how they drift.

    Returns
    -------
    One row for throughput and one for p95: `samples`, `mean`, `lowest`, `low_95` and `high_95` (the
    central 95 % of samples), `highest`, `cv_pct` (standard deviation in percent of the mean),
    `outliers` (samples), `trend_pct_per_hour` with `trend_low` and `trend_high` (all three NaN
    if the trend is not known).
    """
    rows = {}
    for metric in METRICS:
        values = seconds[metric].dropna()
        trend = _trend(values, _step_s(seconds))
        rows[metric] = {
            "samples": len(values),
            "mean": values.mean(),
            "lowest": values.min(),
            "low_95": values.quantile(RANGE[0]),
            "high_95": values.quantile(RANGE[1]),
            "highest": values.max(),
            "cv_pct": 100 * values.std(ddof=1) / values.mean(),
            "outliers": int(series.outliers(values).sum()),
            "trend_pct_per_hour": trend.value,
            "trend_low": trend.low,
            "trend_high": trend.high,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def starts(seconds: pd.DataFrame, lengths_s: Sequence[float] = STARTS_S) -> pd.DataFrame:
    """Return what shorter measurements, the starts of the run, would have reported.

    Returns
    -------
    One row per length that the run exceeds, and one for the whole run: `start_s`, `of_whole` with
    `low` and `high` (mean throughput of the start over that of the whole run), `band_pct` with
    `band_low` and `band_high` (half the width of the central 95 % of samples, in percent of its
    middle), `trend_pct_per_hour` with `trend_low` and `trend_high` (of the start alone;
    NaN if not known).
    """
    qps, step_s = seconds["qps"], _step_s(seconds)
    whole_s = len(qps) * step_s
    rows = []
    for length_s in [s for s in lengths_s if s < whole_s]:
        rows.append([length_s, *series.prefix_ratio(qps, length_s, step_s)])
    rows.append([whole_s, 1.0, float("nan"), float("nan")])
    table = pd.DataFrame(rows, columns=["start_s", "of_whole", "low", "high"])
    firsts = [qps.iloc[: round(length_s / step_s)] for length_s in table["start_s"]]
    bands = [tuple(100 * end for end in series.band(first, interval_s=step_s)) for first in firsts]
    table[["band_pct", "band_low", "band_high"]] = bands
    table[["trend_pct_per_hour", "trend_low", "trend_high"]] = [
        _trend(first, step_s) for first in firsts
    ]
    return table


def describe_trend(run: pd.Series, starts: pd.DataFrame) -> str:
    """Describe how precisely a run and the shortest of its `starts` determine the trend."""
    width = (starts["trend_high"] - starts["trend_low"]) / 2
    halves = dict(zip(starts["start_s"].iloc[[0, -1]], width.iloc[[0, -1]], strict=True))
    known = [
        f"{formatting.plain(half)} % per hour after {formatting.plain(length_s)} s"
        for length_s, half in halves.items()
        if not math.isnan(half)
    ]
    unknown = [
        f"{formatting.plain(length_s)} s" for length_s, half in halves.items() if math.isnan(half)
    ]
    sentences = ["The run is too short to estimate its trend."]
    if known:
        parts = [f"unknown after {formatting.listed(unknown)}"] if unknown else []
        parts.append(f"known to within {formatting.listed(known)}")
        sentences = [f"The trend is {formatting.listed(parts)}."]
        sentences.append("A smaller drift cannot be distinguished from none.")
    # sysbench ends some milliseconds early or late.
    if run["duration_s"] < 0.99 * HOUR_S:
        sentences.append(
            f"**The run lasts {run['duration_s']:.0f} s, not an hour**: later drift is not seen, "
            "and published statements about an hour stay open where the reasons below say so."
        )
    return " ".join(sentences)


def memory(run: pd.Series, processes: pd.DataFrame) -> pd.DataFrame:
    """Return the memory of the processes of each role in the first and last minute of a run.

    Returns
    -------
    One row per role: `processes`, `first_mib` and `last_mib` of all of them together (resident, so
    shared memory counts in each), `growth_pct`. A run of under two minutes is compared by halves.
    """
    own = processes[processes["run_id"] == run["run_id"]]
    own = own.assign(role=own["role"].astype(str), mib=own["rss_bytes"] / 2**20)
    part_s = min(MINUTE_S, own["t_s"].max() / 2)
    parts = {
        "first_mib": own[own["t_s"] <= part_s],
        "last_mib": own[own["t_s"] > own["t_s"].max() - part_s],
    }
    table = pd.DataFrame({"processes": own.groupby("role")["node_id"].nunique()})
    for name, part in parts.items():
        by_node = part.groupby(["role", "node_id"])["mib"].mean()
        table[name] = by_node.groupby(level="role").sum()
    table["growth_pct"] = 100 * (table["last_mib"] / table["first_mib"] - 1)
    return table


def _trend(values: pd.Series, step_s: float) -> Estimate:
    """Return the trend, or NaN if it is unknown (`MOST_HALF_PCT`)."""
    trend = series.trend(values, step_s)
    known = (trend.high - trend.low) / 2 <= MOST_HALF_PCT
    return trend if known else Estimate(math.nan)


def _step_s(seconds: pd.DataFrame) -> float:
    """Return the time between samples, to a tenth of a second, as requested from sysbench.

    A single sample took as long as the run had lasted when it was taken.
    """
    steps = seconds["t_s"].diff().iloc[1:] if len(seconds) > 1 else seconds["t_s"]
    return float(round(steps.median(), 1))
