"""Estimates with confidence intervals, of values that vary from run to run.

In: one value per run. Out: an `Estimate`. Intervals of positive quantities are those of logarithms,
as runs vary in proportion to their value. Where the data cannot give an interval it is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

CONFIDENCE = 0.95
DRAWS = 10_000

Values = Sequence[float] | np.ndarray | pd.Series


class Estimate(NamedTuple):
    """A value with its confidence interval; `low` and `high` are NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def bounded(self) -> bool:
        """Return whether the interval is known."""
        return not (math.isnan(self.low) or math.isnan(self.high))


class Variability(NamedTuple):
    """How much runs of one point differ: standard deviation, and degrees of freedom.

    The deviation is that of logarithms. Without freedom it is NaN.
    """

    deviation: float
    freedom: int


def t(freedom: float | np.ndarray | pd.Series, confidence: float = CONFIDENCE):
    """Return the two-sided quantile of Student's t distribution; NaN for NaN freedom."""
    return stdtrit(freedom, (1 + confidence) / 2)


def sidak(tests: int) -> float:
    """Return the confidence of each of several tests that makes 95 % for all of them (Sidak)."""
    return CONFIDENCE ** (1 / max(1, tests))


def mean(values: Values, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean with its t interval."""
    x = np.asarray(values, float)
    if x.size == 0:
        raise ValueError("a mean needs at least one value")
    centre = float(x.mean())
    if x.size < 2:
        return Estimate(centre)
    half = float(t(x.size - 1, confidence) * x.std(ddof=1) / np.sqrt(float(x.size)))
    return Estimate(centre, centre - half, centre + half)


def geometric(values: Values, confidence: float = CONFIDENCE) -> Estimate:
    """Return the geometric mean of positive values with the t interval of their logarithms."""
    return Estimate(*(float(x) for x in np.exp(mean(_logs(values), confidence))))


def ratio(
    a: Values,
    b: Values,
    confidence: float = CONFIDENCE,
    pooled: Variability | None = None,
) -> Estimate:
    """Return the ratio of the geometric means of `a` and `b`.

    Parameters
    ----------
    pooled : variability of all points together. Each side then has it or its own,
        whichever is larger; without it the interval is Welch's, from the two sides alone.

    Raises
    ------
    ValueError
        If a side is empty or has a value that is not positive and finite.
    """
    x, y = _logs(a), _logs(b)
    centre = float(x.mean() - y.mean())
    if pooled is not None and pooled.freedom > 0:
        parts = [
            max(side.var(ddof=1) if side.size > 1 else 0.0, pooled.deviation**2) / side.size
            for side in (x, y)
        ]
        return _exp(centre, float(t(pooled.freedom, confidence) * np.sqrt(sum(parts))))
    if min(x.size, y.size) < 2:
        return Estimate(float(np.exp(centre)))
    vx, vy = x.var(ddof=1) / x.size, y.var(ddof=1) / y.size
    half = 0.0
    if vx + vy > 0:
        # Scaled by the larger one, as squares of tiny variances underflow to zero.
        sx, sy = vx / max(vx, vy), vy / max(vx, vy)
        freedom = (sx + sy) ** 2 / (sx**2 / (x.size - 1) + sy**2 / (y.size - 1))
        half = float(t(freedom, confidence) * np.sqrt(vx + vy))
    return _exp(centre, half)


def peak_ratio(
    top: Sequence[Values],
    base: Sequence[Values],
    pooled: Variability,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the ratio of two peaks, each the best geometric mean among one side's points.

    A peak is picked from noisy means, so the interval comes from a parametric bootstrap that picks
    anew in every draw (basic interval: Davison and Hinkley 1997, section 5.2). Each point
    has the pooled variability or its own, whichever is larger. The seed is fixed.

    Parameters
    ----------
    top, base : the runs of each point of a side.
    """
    rng = np.random.default_rng(7742)
    best, drawn = [], []
    for side in (top, base):
        logs = [np.log(np.asarray(runs, float)) for runs in side]
        means = np.array([runs.mean() for runs in logs])
        own = [runs.std(ddof=1) if runs.size > 1 else 0.0 for runs in logs]
        error = np.maximum(own, pooled.deviation) / np.sqrt([runs.size for runs in logs])
        noise = rng.standard_t(max(1, pooled.freedom), (DRAWS, len(logs)))
        best.append(means.max())
        drawn.append((means + error * noise).max(axis=1))
    centre = float(best[0] - best[1])
    if pooled.freedom < 1:
        return Estimate(float(np.exp(centre)))
    tail = (1 - confidence) / 2
    least, most = np.quantile(drawn[0] - drawn[1], [tail, 1 - tail])
    low, high = np.exp([2 * centre - most, 2 * centre - least])
    return Estimate(float(np.exp(centre)), float(low), float(high))


def _logs(values: Values) -> np.ndarray:
    x = np.asarray(values, float)
    if x.size == 0 or not np.all(np.isfinite(x) & (x > 0)):
        raise ValueError("logarithms need at least one value, all of them positive and finite")
    return np.log(x)


def _exp(centre: float, half: float) -> Estimate:
    with np.errstate(over="ignore"):
        low, high = np.exp([centre - half, centre + half])
    return Estimate(float(np.exp(centre)), float(low), float(high))
