"""Repeats as blocks: what drifts between them is taken out before points are compared.

A repeat is a shuffled pass over all points, so a host that slows down between passes slows all of
them alike: the design is one of randomised blocks.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import scipy

from ndblab.statistics.estimate import Variability
from ndblab.statistics.summary import point_columns


def block_adjusted(runs: pd.DataFrame, metric: str) -> pd.Series:
    """Remove from a metric what all points gained or lost from one repeat to the next."""
    logs = np.log(runs[metric].astype(float))
    means = _by_point(logs, runs).transform("mean")
    return np.exp(logs - (logs - means).groupby(runs["repeat"]).transform("mean"))


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
