"""Repeats as blocks: what drifts between them is taken out before points are compared.

A repeat is a shuffled pass over all points, so a host that slows down between passes slows all of
them alike: the design is one of randomised blocks. Two kinds of runs are compared pair by pair: a
pair is of one repeat, with the same servers, clients and workload, and never of two datasets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from ndblab.error import MissingData
from ndblab.statistics import estimate
from ndblab.statistics.estimate import Estimate, Variability
from ndblab.statistics.summary import point_columns

PAIR = ["repeat", "servers", "clients", "workload"]


def block_adjusted(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Remove from a metric what all points gained or lost from one repeat to the next."""
    logs = np.log(runs[metric].astype(float))
    points = _by_point(logs, runs)
    means = points.transform("mean")
    left = logs - means
    left -= left.groupby(runs["repeat"]).transform("mean")
    # With the drift, one part in as many as there are points goes of the runs' own variance.
    scale = math.sqrt(points.ngroups / max(1, points.ngroups - 1))
    return np.exp(means + scale * left)


def variability(runs: pd.DataFrame, metric: str) -> Variability:
    """Estimate how much runs of one point differ, from all points, block-adjusted.

    Two to four runs say little about their own variability; all of them together say much. The
    estimate is the median of the points' variances, each divided by its expected median
    (chi-squared), so that a few outliers do not determine it. For normal samples a median is worth
    about 0.4 of their degrees of freedom.
    """
    groups = _by_point(np.log(block_adjusted(runs, metric)), runs)
    variance, freedom = groups.var(ddof=1), groups.count() - 1
    known = freedom > 0
    if not known.any():
        return Variability(math.nan, 0)
    unbiased = variance[known] / (scipy.special.chdtri(freedom[known], 0.5) / freedom[known])
    blocks = runs["repeat"].nunique() - 1
    worth = max(1, int(0.4 * (freedom.sum() - blocks)))
    return Variability(float(np.sqrt(unbiased.median())), worth)


def _by_point(values: pd.Series, runs: pd.DataFrame):
    return values.groupby([runs[key] for key in point_columns(runs)], observed=True)


def log_ratios(top: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of the throughput ratio of each pair; MissingData if there is no pair.

    Returns
    -------
    `clients` and `log`, one row a pair; a run without its counterpart is left out.
    """
    columns = [*PAIR, "qps"]
    both = top[columns].merge(base[columns], on=PAIR, suffixes=("", "_base"))
    if both.empty:
        raise MissingData("no pair of runs of both kinds in one repeat with equal clients")
    return both[["clients"]].assign(log=np.log(both["qps"] / both["qps_base"]))


def ratio(logs: pd.DataFrame, clients: Sequence[int]) -> Estimate:
    """Return the geometric mean of the ratios at these numbers of clients, with its t interval.

    The variability is that of pairs at equal clients. That of the pairs asked for is shrunk towards
    that of all pairs, since two or three pairs alone say little about it. MissingData if there is
    no pair with these clients.
    """
    asked = logs[logs["clients"].isin(clients)]
    if asked.empty:
        raise MissingData(f"no pair of runs with {', '.join(map(str, clients))} clients")
    centre = float(asked["log"].mean())
    known = _of_pairs(logs).of_point(_of_pairs(asked))
    if known.freedom == 0:
        return Estimate(math.exp(centre))
    half = float(estimate.t(known.freedom)) * known.deviation / math.sqrt(len(asked))
    return Estimate(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def _of_pairs(logs: pd.DataFrame) -> Variability:
    """Return how much pairs at equal clients differ."""
    groups = logs.groupby("clients")["log"]
    squares = float(((logs["log"] - groups.transform("mean")) ** 2).sum())
    freedom = len(logs) - groups.ngroups
    return Variability(math.sqrt(squares / freedom) if freedom else math.nan, freedom)
