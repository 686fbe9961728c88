"""One long run as a time series: its outliers, its trend, and how well its start represents it.

In: the samples of a run in order, one per interval. Out: marks, smoothed samples, and estimates
with 95 % intervals. Neighbouring samples are correlated, so every interval comes from a bootstrap
of blocks of a minute (circular: Politis and Romano 1992) with a fixed seed.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from ndblab.analysis.estimate import CONFIDENCE, Estimate

WINDOW = 61
# A sample further from the running median than this many scaled MADs is an outlier.
OUTLYING = 5
DRAWS = 2000
_BLOCK = 60
_FEWEST_BLOCKS = 8
_FEWEST_SAMPLES = 16
_SEED = 7742
_HOUR_S = 3600


def smooth(values: pd.Series, window: int = WINDOW) -> pd.Series:
    """Return the running median around each sample; the window is cut off at the ends."""
    return values.rolling(window, center=True, min_periods=1).median()


def outliers(values: pd.Series, window: int = WINDOW) -> pd.Series:
    """Mark the samples further than 5 scaled MADs from the running median.

    The MAD is that of the whole run, times 1.4826 (the standard deviation of a normal one). If more
    than half of the samples lie on the running median, as percentiles from a histogram may, the
    mean absolute deviation times 1.2533 replaces it (Iglewicz and Hoaglin 1993).
    """
    distance = (values - smooth(values, window)).abs()
    scale = 1.4826 * distance.median()
    if scale == 0:
        scale = 1.2533 * distance.mean()
    return distance > OUTLYING * scale


def trend(values: pd.Series, interval_s: float = 1.0, confidence: float = CONFIDENCE) -> Estimate:
    """Return the slope of a least-squares line, in percent of the mean per hour.

    Its interval comes from resampling the residuals by blocks.

    Parameters
    ----------
    interval_s : seconds from one sample to the next.

    Returns
    -------
    All NaN below 3 samples; low and high are NaN below 16.
    """
    x = _samples(values)
    if x.size < 3 or x.mean() == 0:
        return Estimate(math.nan)
    hours = np.arange(x.size) * interval_s / _HOUR_S
    weights = (hours - hours.mean()) / ((hours - hours.mean()) ** 2).sum()
    slope = float(weights @ x)
    residuals = x - x.mean() - slope * (hours - hours.mean())
    shifts = _drawn_sums(residuals, weights[:, None])[:, 0]
    to_pct = 100 / x.mean()
    low, high = _interval(slope + shifts, x.size, confidence)
    return Estimate(slope * float(to_pct), low * float(to_pct), high * float(to_pct))


def prefix_ratio(
    values: pd.Series,
    seconds: float,
    interval_s: float = 1.0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the mean of the first seconds over the mean of the whole run.

    The start and the rest may differ in level; blocks of their residuals are resampled. The
    interval is NaN below 16 samples.

    Raises
    ------
    ValueError
        If the run is not longer than `seconds`.
    """
    x = _samples(values)
    first = round(seconds / interval_s)
    if not 0 < first < x.size:
        raise ValueError(f"a run of {x.size} samples has no start of {first} and a rest")
    start = np.arange(x.size) < first
    levels = np.where(start, x[:first].mean(), x[first:].mean())
    parts = np.column_stack([start / first, np.full(x.size, 1 / x.size)])
    shifts = _drawn_sums(x - levels, parts)
    value = float(x[:first].mean() / x.mean())
    drawn = (x[:first].mean() + shifts[:, 0]) / (x.mean() + shifts[:, 1])
    return Estimate(value, *_interval(drawn, x.size, confidence))


def mean(values: pd.Series, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of the samples with its block-bootstrap interval."""
    x = _samples(values)
    value = float(x.mean())
    shifts = _drawn_sums(x - value, np.full((x.size, 1), 1 / x.size))[:, 0]
    return Estimate(value, *_interval(value + shifts, x.size, confidence))


def quantile(values: pd.Series, at: float, confidence: float = CONFIDENCE) -> Estimate:
    """Return a quantile of the samples with its block-bootstrap interval."""
    x = _samples(values)
    value = float(np.quantile(x, at))
    drawn = np.quantile(_drawn_samples(x), at, axis=1)
    return Estimate(value, *_interval(drawn, x.size, confidence))


def band(values: pd.Series, share: float = 0.95, confidence: float = CONFIDENCE) -> Estimate:
    """Return half the width of the band that holds a share of the samples, over its middle.

    0.03 means that the central `share` of the samples lies within plus or minus 3 % of the middle.
    """
    x = _samples(values)
    ends = [(1 - share) / 2, (1 + share) / 2]

    def half_width(samples: np.ndarray) -> np.ndarray:
        low, high = np.quantile(samples, ends, axis=-1)
        return (high - low) / (high + low)

    drawn = half_width(_drawn_samples(x))
    return Estimate(float(half_width(x)), *_interval(drawn, x.size, confidence))


def _samples(values: pd.Series) -> np.ndarray:
    return values.dropna().to_numpy(float)


def _block(samples: int) -> int:
    """Return the length of a block: a minute, or less in a run of few minutes."""
    return max(1, min(_BLOCK, samples // _FEWEST_BLOCKS))


def _starts(samples: int, draws: int) -> np.ndarray:
    """Draw where the blocks of each bootstrap series begin, one row per series."""
    blocks = math.ceil(samples / _block(samples))
    return np.random.default_rng(_SEED).integers(0, samples, (draws, blocks))


def _drawn_sums(residuals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted sums of drawn residuals, one row per draw and one column per set of weights.

    A block contributes the same to a place in every draw, so the contribution of every block at
    every place is computed once, and a draw is a sum of those.
    """
    size, block = residuals.size, _block(residuals.size)
    starts = _starts(size, DRAWS)
    places = starts.shape[1]
    padded = np.zeros((places * block, weights.shape[1]))
    padded[:size] = weights
    blocks = sliding_window_view(np.concatenate([residuals, residuals[: block - 1]]), block)
    by_place = padded.reshape(places, block, -1).transpose(2, 0, 1) @ blocks.T
    return by_place[:, np.arange(places), starts].sum(axis=2).T


def _drawn_samples(x: np.ndarray, draws: int = 200) -> np.ndarray:
    """Draw whole series by blocks, one row per draw."""
    block = _block(x.size)
    at = _starts(x.size, draws)[:, :, None] + np.arange(block)
    return x[at.reshape(draws, -1)[:, : x.size] % x.size]


def _interval(drawn: np.ndarray, samples: int, confidence: float) -> tuple[float, float]:
    """Return the percentiles of the draws; NaN if there are too few samples for an interval."""
    if samples < _FEWEST_SAMPLES:
        return math.nan, math.nan
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
