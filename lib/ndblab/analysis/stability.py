"""What the minutes of a long run tell, and what only all of them together do.

In: the tables of a dataset. Out: tables of its longest run: how steady it was, what a measurement
that ended sooner would have said, what memory was taken; and in words what its length allows.
Intervals are those of `series`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple

import pandas as pd

from ndblab.analysis import formatting, series, summary

METRICS = ("qps", "latency_p95_ms")
STARTS_S = (60, 120, 300, 600, 1800)
MINUTE_S, HOUR_S = 60, 3600


def longest(runs: pd.DataFrame) -> pd.Series:
    """Give the longest good run.

    Raises
    ------
    ValueError
        If no run is good.
    """
    good = runs[summary.usable(runs) == ""]
    return good.loc[good["duration_s"].idxmax()]


def samples(run: pd.Series, intervals: pd.DataFrame) -> pd.DataFrame:
    """Give the samples of a run in order, without a last one in which clients had already ended."""
    own = (intervals["run_id"] == run["run_id"]) & (intervals["clients"] >= run["clients"])
    return intervals[own].sort_values("t_s", ignore_index=True)


def steadiness(seconds: pd.DataFrame) -> pd.DataFrame:
    """Say how far the samples of a run go apart, and where they drift.

    Returns
    -------
    A row for throughput and one for p95: `samples`, `mean`, `lowest`, `low_95` and `high_95` (the
    central 95 % of samples), `highest`, `cv_pct` (standard deviation in percent of the mean),
    `outliers` (samples), `trend_pct_per_hour` with `trend_low` and `trend_high` (all three NaN
    where the run is too short for an interval).
    """
    rows = {}
    for metric in METRICS:
        values = seconds[metric].dropna()
        trend = _trend(values, _step_s(seconds))
        rows[metric] = {
            "samples": len(values),
            "mean": values.mean(),
            "lowest": values.min(),
            "low_95": values.quantile(0.025),
            "high_95": values.quantile(0.975),
            "highest": values.max(),
            "cv_pct": 100 * values.std(ddof=1) / values.mean(),
            "outliers": int(series.outliers(values).sum()),
            "trend_pct_per_hour": trend.per_hour_pct,
            "trend_low": trend.low,
            "trend_high": trend.high,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def starts(seconds: pd.DataFrame, lengths_s: Sequence[float] = STARTS_S) -> pd.DataFrame:
    """Say what measurements would have told that end sooner than the run did.

    Returns
    -------
    A row for each of `lengths_s` that the run is longer than, and one for the whole run: `start_s`,
    `of_whole` with `low` and `high` (mean throughput of the start over that of the whole run),
    `band_pct` with `band_low` and `band_high` (half the width of the central 95 % of samples, in
    percent of its middle), `trend_pct_per_hour` with `trend_low` and `trend_high` (as the start
    alone has it).
    """
    qps, step_s = seconds["qps"], _step_s(seconds)
    whole_s = len(qps) * step_s
    rows = []
    for length_s in [s for s in lengths_s if s < whole_s]:
        rows.append([length_s, *series.prefix_ratio(qps, length_s, step_s)])
    rows.append([whole_s, 1.0, float("nan"), float("nan")])
    table = pd.DataFrame(rows, columns=["start_s", "of_whole", "low", "high"])
    firsts = [qps.iloc[: round(length_s / step_s)] for length_s in table["start_s"]]
    bands = [tuple(100 * end for end in series.band(first)) for first in firsts]
    table[["band_pct", "band_low", "band_high"]] = bands
    table[["trend_pct_per_hour", "trend_low", "trend_high"]] = [
        astuple(_trend(first, step_s)) for first in firsts
    ]
    return table


def told(run: pd.Series, starts: pd.DataFrame) -> str:
    """Say in sentences how well the run and its shortest start know their trend, and of what hour.

    Parameters
    ----------
    starts : of the run, as `starts` gives them.
    """
    width = (starts["trend_high"] - starts["trend_low"]) / 2
    known = [
        f"{formatting.plain(half)} % an hour either side from {formatting.plain(length_s)} s"
        for length_s, half in zip(starts["start_s"].iloc[[0, -1]], width.iloc[[0, -1]], strict=True)
        if math.isfinite(half)
    ]
    sentences = [
        f"The trend of this run is known to {formatting.listed(dict.fromkeys(known))}. A drift that is "
        "smaller than that cannot be told from none."
        if known
        else "The run is too short to know its trend."
    ]
    # sysbench ends some milliseconds early or late.
    if run["duration_s"] < 0.99 * HOUR_S:
        sentences.append(
            f"**It lasts {run['duration_s']:.0f} s and not an hour**: what comes later is not "
            "seen, and what was published on an hour stays open where the reasons below say so."
        )
    return " ".join(sentences)


def memory(run: pd.Series, processes: pd.DataFrame) -> pd.DataFrame:
    """Say what memory the processes of each role took in the first and in the last minute of a run.

    Returns
    -------
    A row for each role: `processes`, `first_mib` and `last_mib` of all of them together (resident,
    so that what they share counts in each), `growth_pct`. A run of under two minutes is compared by
    its halves.
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
        each = part.groupby(["role", "node_id"])["mib"].mean()
        table[name] = each.groupby(level="role").sum()
    table["growth_pct"] = 100 * (table["last_mib"] / table["first_mib"] - 1)
    return table


def _trend(values: pd.Series, step_s: float) -> series.Trend:
    """Give the trend, and none where its interval is not known."""
    found = series.trend(values, step_s)
    return found if math.isfinite(found.low) else series.Trend(math.nan, math.nan, math.nan)


def _step_s(seconds: pd.DataFrame) -> float:
    """Give the time from one sample to the next, to a tenth of a second as sysbench is asked."""
    return float(round(seconds["t_s"].diff().median(), 1))
