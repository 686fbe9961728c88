"""One long run as a time series: its outliers, its trend, and how well its start represents it.

Neighbouring samples are correlated, and so, in the recorded hour, are minutes six apart. Intervals
therefore come from how much a few long sections differ from the whole (sectioning: Asmussen and
Glynn 2007, section III.5), with Student's t for so few. Even sections of ten minutes miss some slow
variation, so an interval is widened by the square root of 1 + 400 s / section. With the recorded
autocorrelation, it then holds the truth about as often as it claims, for an hour as for ten
minutes; without any autocorrelation it is conservative (97 to 99 %). `data/coverage.csv` has the
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy
from numpy.lib.stride_tricks import sliding_window_view

from ndblab.statistics.estimate import CONFIDENCE, Estimate, t

WINDOW = 61
# A sample further from the running median than this many scaled MADs is an outlier.
OUTLYING = 5
SECTIONS = 6
# How much of the variation sections of this length miss: chosen by simulation.
_MEMORY_S = 400
_FEWEST_SAMPLES = 5 * SECTIONS
_FEWEST_WINDOWS = 4
_HOUR_S = 3600

Statistic = Callable[[np.ndarray], np.ndarray]


def smooth(values: pd.Series) -> pd.Series:
    """Return the running median around each sample; the window is cut off at the ends."""
    return values.rolling(WINDOW, center=True, min_periods=1).median()


def outliers(values: pd.Series) -> pd.Series:
    """Mark the samples further than 5 scaled MADs from the running median.

    The MAD is that of the whole run, times 1.4826 (for normal samples, the standard deviation). If
    more than half of the samples lie on the running median, as percentiles from a histogram may,
    the mean absolute deviation times 1.2533 replaces it (Iglewicz and Hoaglin 1993).
    """
    distance = (values - smooth(values)).abs()
    return distance > OUTLYING * _scale(distance)


def settled(values: pd.Series) -> pd.Series:
    """Even out late counts: a sample far below the running median, and the next far above it.

    Both get their mean if each is an outlier but the two together are not, as when sysbench reports
    late and the next report counts what that one missed. The sum stays the same.
    """
    off = values - smooth(values)
    limit = OUTLYING * _scale(off.abs())
    following = off.shift(-1)
    late = (off < -limit) & (following > limit) & ((off + following).abs() <= limit)
    mean = (values + values.shift(-1)) / 2
    after = late.shift(1, fill_value=False)
    return values.mask(late, mean).mask(after, mean.shift(1))


def _scale(distance: pd.Series) -> float:
    scale = 1.4826 * distance.median()
    return float(scale or 1.2533 * distance.mean())


def trend(values: pd.Series, interval_s: float = 1.0, confidence: float = CONFIDENCE) -> Estimate:
    """Return the slope of a least-squares line, in percent of the mean per hour.

    Its interval comes from the means of the sections around their own line.

    Parameters
    ----------
    interval_s : seconds from one sample to the next.

    Returns
    -------
    All NaN with fewer than 3 samples; low and high are NaN with fewer than 30.
    """
    x = _samples(values)
    if x.size < 3 or x.mean() == 0:
        return Estimate(math.nan)
    to_pct = 100 / x.mean()
    value = to_pct * _slope(x) * _HOUR_S / interval_s
    if x.size < _FEWEST_SAMPLES:
        return Estimate(float(value))
    means = _sections(x).mean(axis=1)
    at = np.arange(SECTIONS) - (SECTIONS - 1) / 2
    residuals = means - means.mean() - _slope(means) * at
    freedom = SECTIONS - 2
    error = math.sqrt((residuals**2).sum() / freedom / (at**2).sum())
    section_s = interval_s * (x.size // SECTIONS)
    half = to_pct * t(freedom, confidence) * _widening(section_s) * error * _HOUR_S / section_s
    return Estimate(float(value), float(value - half), float(value + half))


def prefix_ratio(values: pd.Series, seconds: float, interval_s: float = 1.0) -> Estimate:
    """Return the mean of the first seconds over the mean of the whole run.

    The start and the rest may differ in level, so the interval comes from how much windows of that
    length differ within the rest. It is NaN if the rest has fewer than 4 such windows. ValueError
    if the run is not longer than `seconds`.
    """
    x = _samples(values)
    first = round(seconds / interval_s)
    if not 0 < first < x.size:
        raise ValueError(f"a run of {x.size} samples has no start of {first} and a rest")
    value = float(x[:first].mean() / x.mean())
    number = (x.size - first) // first
    if number < _FEWEST_WINDOWS or x.size < _FEWEST_SAMPLES:
        return Estimate(value)
    windows = x[first : first * (number + 1)].reshape(number, first).mean(axis=1)
    half = float(t(number - 1) * windows.std(ddof=1) / x.mean())
    return Estimate(value, max(0.0, value - half), value + half)


def mean(values: pd.Series, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of samples that are a second apart."""
    return _sectioned(_samples(values), 1.0, confidence, lambda x: x.mean(axis=-1))


def quantile(
    values: pd.Series, at: float, confidence: float = CONFIDENCE, of_mean: bool = False
) -> Estimate:
    """Return a quantile of samples a second apart; with `of_mean`, over their mean."""

    def statistic(x: np.ndarray) -> np.ndarray:
        values_at = np.quantile(x, at, axis=-1)
        return values_at / x.mean(axis=-1) if of_mean else values_at

    return _sectioned(_samples(values), 1.0, confidence, statistic)


def band(
    values: pd.Series, share: float = 0.95, interval_s: float = 1.0, confidence: float = CONFIDENCE
) -> Estimate:
    """Return half the width of the band that holds a share of the samples, over its middle.

    0.03 means that the central `share` of the samples lies within plus or minus 3 % of the middle.
    """
    ends = [(1 - share) / 2, (1 + share) / 2]

    def half_width(x: np.ndarray) -> np.ndarray:
        low, high = np.quantile(x, ends, axis=-1)
        # A section without any throughput has no width.
        return (high - low) / np.where(high > 0, high + low, 1.0)

    width = _sectioned(_samples(values), interval_s, confidence, half_width)
    return width._replace(high=min(width.high, 1.0))


def windows_share(
    values: pd.Series, seconds: float, within: float, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the share of windows whose mean is near that of the whole run.

    It follows from the standard deviation of all windows of this length, by the normal
    distribution: an hour has too few windows to determine a share of 95 % by counting. ValueError
    if the run is not longer than `seconds`.

    Parameters
    ----------
    within : 0.03 is 3 % of the mean of the whole run.
    """
    x = _samples(values)
    length = round(seconds)
    if not 0 < length < x.size:
        raise ValueError(f"a run of {x.size} samples has no windows of {length}")
    means = sliding_window_view(x, length).mean(axis=1)
    squares = (means / x.mean() - 1) ** 2
    spread = _sectioned(squares, 1.0, confidence, lambda part: part.mean(axis=-1))
    with np.errstate(divide="ignore"):
        shares = [float(2 * scipy.special.ndtr(within / np.sqrt(square)) - 1) for square in spread]
    return Estimate(shares[0], shares[2], shares[1])


def _samples(values: pd.Series) -> np.ndarray:
    return values.dropna().to_numpy(float)


def _sections(x: np.ndarray) -> np.ndarray:
    """Cut the samples into sections, one per row; a few at the end may be left over."""
    length = x.size // SECTIONS
    return x[: SECTIONS * length].reshape(SECTIONS, length)


def _widening(section_s: float) -> float:
    return math.sqrt(1 + _MEMORY_S / section_s)


def _slope(x: np.ndarray) -> float:
    """Return the slope of the least-squares line, per sample."""
    at = np.arange(x.size) - (x.size - 1) / 2
    return float(at @ x / (at @ at))


def _sectioned(
    x: np.ndarray, interval_s: float, confidence: float, statistic: Statistic
) -> Estimate:
    """Return a non-negative statistic of samples, with the interval from their sections."""
    value = float(statistic(x))
    if x.size < _FEWEST_SAMPLES:
        return Estimate(value)
    parts = statistic(_sections(x))
    factors = value > 0 and bool((parts > 0).all())
    differences = np.log(parts / value) if factors else parts - value
    error = math.sqrt((differences**2).sum() / (SECTIONS - 1) / SECTIONS)
    widening = _widening(interval_s * (x.size // SECTIONS))
    half = float(t(SECTIONS - 1, confidence)) * widening * error
    if not factors:
        return Estimate(value, max(0.0, value - half), value + half)
    return Estimate(value, value * math.exp(-half), value * math.exp(min(half, 700.0)))
