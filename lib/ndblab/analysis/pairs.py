"""Two kinds of runs compared pair by pair.

In: runs of a transporter, workload or variant each. Out: ratios of their throughput with intervals.
A pair was measured soon after one another, in the same repeat, with the same servers, clients and
workload, so that what drifts between repeats falls out. It never pairs runs of two datasets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ndblab.analysis import summary
from ndblab.error import MissingData

PAIR = ["repeat", "servers", "clients", "workload"]


class Ratio(NamedTuple):
    """A ratio of throughputs with its confidence interval; NaN bounds where one pair has none."""

    value: float
    low: float
    high: float


def log_ratios(top: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """Give the logarithm of the ratio of throughput of each pair.

    Returns
    -------
    `clients` and `log`, one row a pair; a run without its fellow is left out.

    Raises
    ------
    MissingData
        If there is no pair.
    """
    columns = [*PAIR, "qps"]
    both = top[columns].merge(base[columns], on=PAIR, suffixes=("", "_base"))
    if both.empty:
        raise MissingData("no pair of runs of both kinds in one repeat with equal clients")
    return both[["clients"]].assign(log=np.log(both["qps"] / both["qps_base"]))


def ratio(
    logs: pd.DataFrame, clients: Sequence[int], confidence: float = summary.CONFIDENCE
) -> Ratio:
    """Take the geometric mean of the ratios at these numbers of clients, with its t interval.

    The spread is that of pairs at equal clients: of all pairs together or of those asked for,
    whichever is larger, since two or three pairs alone say little of it.

    Raises
    ------
    MissingData
        If there is no pair with these clients.
    """
    asked = logs[logs["clients"].isin(clients)]
    if asked.empty:
        raise MissingData(f"no pair of runs with {', '.join(map(str, clients))} clients")
    all_spread, freedom = _spread(logs)
    own_spread, own_freedom = _spread(asked)
    centre = float(asked["log"].mean())
    if freedom == 0:
        return Ratio(math.exp(centre), math.nan, math.nan)
    spread = max(all_spread, own_spread if own_freedom else 0.0)
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * spread / math.sqrt(len(asked))
    return Ratio(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def peak_ratio(
    top: pd.DataFrame, base: pd.DataFrame, confidence: float = summary.CONFIDENCE
) -> tuple[Ratio, int, int]:
    """Compare the best throughput of two kinds of runs, whatever the clients each is best at.

    Only pairs count, the drift between repeats is taken out of both kinds together, and the
    interval allows for how the peaks were picked (`summary.peak_ratio`).

    Returns
    -------
    The ratio, and the clients at which `top` and `base` are best.

    Raises
    ------
    MissingData
        If there is no pair.
    """
    keys = base.set_index(PAIR).index.intersection(top.set_index(PAIR).index)
    sides = [side[side.set_index(PAIR).index.isin(keys)] for side in (top, base)]
    if not len(keys):
        raise MissingData("no pair of runs of both kinds in one repeat with equal clients")
    both = pd.concat(sides)
    both = both.assign(qps=summary.without_drift(both, "qps"))
    spread = summary.pooled(both, "qps")
    values = [both.loc[side.index].groupby("clients")["qps"] for side in sides]
    runs = [[points.to_numpy() for _, points in side] for side in values]
    best = [int(side.mean().idxmax()) for side in values]
    found = summary.peak_ratio(runs[0], runs[1], spread, confidence)
    return Ratio(*found), best[0], best[1]


def _spread(logs: pd.DataFrame) -> tuple[float, int]:
    """Give the standard deviation of pairs at equal clients, and its freedom."""
    groups = logs.groupby("clients")["log"]
    squares = float(((logs["log"] - groups.transform("mean")) ** 2).sum())
    freedom = len(logs) - groups.ngroups
    return (math.sqrt(squares / freedom), freedom) if freedom else (math.nan, 0)
