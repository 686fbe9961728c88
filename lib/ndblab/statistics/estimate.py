"""Estimates with confidence intervals, of values that vary from run to run.

Intervals of positive quantities are computed on logarithms, as runs vary in proportion to their
value, and those of shares on logits, so none includes impossible values. An interval that the data
cannot give is NaN. `data/coverage.csv` shows how often the intervals hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # imports its parts when they are first used, and half of all commands use none

CONFIDENCE = 0.95
DRAWS = 10_000
PRIOR = 5
"""Prior degrees of freedom: the weight of all points' variability in that of one point. Between
points of the recorded sweeps, variances differ like chi-squared ones with 4 to 9 (Smyth 2004)."""

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

    The deviation is that of logarithms. Without any degree of freedom it is NaN.
    """

    deviation: float
    freedom: int

    def of_point(self, own: Variability) -> Variability:
        """Shrink a point's own variability towards this one, of all points (Smyth 2004).

        A few runs say little about their own variability, but points do differ in it.
        """
        prior = min(PRIOR, self.freedom)
        if not prior + own.freedom:
            return UNKNOWN
        squares = sum(
            part * of.deviation**2 for part, of in ((prior, self), (own.freedom, own)) if part
        )
        # The point's own degrees of freedom are in both, and must not count twice.
        freedom = min(prior + own.freedom, max(self.freedom, own.freedom))
        return Variability(math.sqrt(squares / (prior + own.freedom)), freedom)


def variability(logs: np.ndarray) -> Variability:
    """Return how much the runs of one point differ, from themselves alone."""
    return Variability(float(logs.std(ddof=1)), logs.size - 1) if logs.size > 1 else UNKNOWN


UNKNOWN = Variability(math.nan, 0)
"""The variability of all points if nothing but a point's own runs is known."""


def t(freedom: float | np.ndarray | pd.Series, confidence: float = CONFIDENCE):
    """Return the two-sided quantile of Student's t distribution; NaN for NaN freedom."""
    return scipy.special.stdtrit(freedom, (1 + confidence) / 2)


def sidak(tests: int) -> float:
    """Return the confidence of each test that gives 95 % for all of them together (Sidak)."""
    return CONFIDENCE ** (1 / max(1, tests))


def mean(values: Values, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean with its t interval; for differences, which may have either sign."""
    x = np.asarray(values, float)
    if x.size == 0:
        raise ValueError("a mean needs at least one value")
    centre = float(x.mean())
    if x.size < 2:
        return Estimate(centre)
    half = float(t(x.size - 1, confidence) * x.std(ddof=1) / np.sqrt(float(x.size)))
    return Estimate(centre, centre - half, centre + half)


def positive(values: Values, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of values that cannot be negative, with the t interval of their logarithms.

    If one is zero there are no logarithms: the interval is then that of `mean`, cut off at zero.
    """
    return _bounded(np.asarray(values, float), confidence, math.inf, np.log, np.exp)


def share(values: Values, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of parts of 1, with the t interval of their logits.

    If one is 0 or 1 there are no logits: the interval is then that of `mean`, cut off at both.
    """
    scale, back = scipy.special.logit, scipy.special.expit
    return _bounded(np.asarray(values, float), confidence, 1.0, scale, back)


def geometric(values: Values) -> Estimate:
    """Return the geometric mean of positive values with the t interval of their logarithms."""
    return from_logs(mean(_logs(values)))


def from_logs(logs: Estimate) -> Estimate:
    """Return the estimate of a positive quantity from that of its logarithm."""
    with np.errstate(over="ignore"):
        return Estimate(*np.exp(logs).tolist())


def ratio(
    a: Values, b: Values, confidence: float = CONFIDENCE, pooled: Variability = UNKNOWN
) -> Estimate:
    """Return the ratio of the geometric means of `a` and `b`, with Welch's interval.

    ValueError if a side is empty or has a value that is not positive and finite.

    Parameters
    ----------
    pooled : variability of all points together, towards which that of each side is shrunk.
    """
    sides = _logs(a), _logs(b)
    centre = float(sides[0].mean() - sides[1].mean())
    known = [pooled.of_point(variability(side)) for side in sides]
    if not all(side.freedom for side in known):
        return from_logs(Estimate(centre))
    parts = [one.deviation**2 / side.size for one, side in zip(known, sides, strict=True)]
    half = 0.0
    if sum(parts) > 0:
        # Scaled by the larger one, as squares of tiny variances underflow to zero.
        scaled = [part / max(parts) for part in parts]
        terms = [part**2 / one.freedom for part, one in zip(scaled, known, strict=True)]
        half = float(t(sum(scaled) ** 2 / sum(terms), confidence)) * math.sqrt(sum(parts))
    return from_logs(Estimate(centre, centre - half, centre + half))


def peak_ratio(top: Sequence[Values], base: Sequence[Values], pooled: Variability) -> Estimate:
    """Return the ratio of two peaks, each the best geometric mean among one side's points.

    A peak is picked from noisy means, so the interval comes from a parametric bootstrap that picks
    anew in every draw (basic interval: Davison and Hinkley 1997, section 5.2). The variability of
    each point is shrunk towards the pooled one. The seed is fixed.

    Parameters
    ----------
    top, base : the runs of each point of a side.
    """
    rng = np.random.default_rng(7742)
    best, drawn, bounded = [], [], True
    for side in (top, base):
        logs = [np.log(np.asarray(runs, float)) for runs in side]
        means = np.array([runs.mean() for runs in logs])
        known = [pooled.of_point(variability(runs)) for runs in logs]
        freedom = np.array([one.freedom for one in known])
        bounded = bounded and bool(freedom.all())
        error = np.array([one.deviation for one in known]) / np.sqrt([runs.size for runs in logs])
        noise = rng.standard_t(np.maximum(1, freedom), (DRAWS, len(logs)))
        best.append(means.max())
        drawn.append((means + error * noise).max(axis=1))
    centre = float(best[0] - best[1])
    if not bounded:
        return from_logs(Estimate(centre))
    tail = (1 - CONFIDENCE) / 2
    least, most = np.quantile(drawn[0] - drawn[1], [tail, 1 - tail])
    return from_logs(Estimate(centre, 2 * centre - float(most), 2 * centre - float(least)))


def _bounded(x: np.ndarray, confidence: float, most: float, to, back) -> Estimate:
    """Return the mean with a t interval on another scale, or one cut off at 0 and `most`."""
    plain = mean(x, confidence)
    if not plain.bounded or not np.all((x > 0) & (x < most)):
        return Estimate(plain.value, *np.clip(plain[1:], 0.0, most).tolist())
    _, low, high = mean(to(x), confidence)
    centre, half = to(plain.value), (high - low) / 2
    with np.errstate(over="ignore"):
        ends = float(back(centre - half)), float(back(centre + half))
    # Rounding must not leave the mean outside.
    return Estimate(plain.value, min(plain.value, ends[0]), max(plain.value, ends[1]))


def _logs(values: Values) -> np.ndarray:
    x = np.asarray(values, float)
    if x.size == 0 or not np.all(np.isfinite(x) & (x > 0)):
        raise ValueError("logarithms need at least one value, all of them positive and finite")
    return np.log(x)
