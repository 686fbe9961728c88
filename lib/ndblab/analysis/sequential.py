"""Intervals that may be looked at while measuring goes on, and how much longer that would take.

In: one value per unit of a contrast (a block, or a pair of cluster starts), in the order of
measurement. Out: an `Estimate` whose interval holds 95 % for all looks together, and the units that
a decision would probably take. Pure.

Stopping as soon as an ordinary interval decides is wrong far more often than 5 % of the time. These
are repeated confidence intervals (Jennison and Turnbull 1989): a fixed list of looks, and at each
of them a t interval of one constant nominal level, so chosen that all of them together hold the
true value with 95 % (Pocock 1977; the nominal levels are used for t, as in Jennison and Turnbull
2000, section 4.4).
"""

from __future__ import annotations

import math

import numpy as np

from ndblab.analysis.estimate import CONFIDENCE, Estimate, t

LOOKS = (4, 6, 9, 13, 20, 30, 45, 68, 100)
"""Numbers of units after which an interval is computed; between two looks it does not change."""

_ERROR = (0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
_NOMINAL = (0.00809, 0.00377, 0.00142, 0.000683, 0.000331, 0.000124)
"""Nominal error of each look for an error of all of them together, by simulation of a million
series of normal values (`tests/analysis/test_sequential.py` repeats it with fewer). In between it
is interpolated on logarithms, where both are nearly proportional; a larger error gets that of 5 %.
"""


def interval(values: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean with the interval of the last look; NaN bounds before the first look."""
    x = np.asarray(values, float)
    if not x.size:
        return Estimate(math.nan)
    looks = [look for look in LOOKS if look <= x.size]
    if not looks:
        return Estimate(float(x.mean()))
    seen = x[: looks[-1]]
    centre, half = float(seen.mean()), half_width(float(seen.std(ddof=1)), seen.size, confidence)
    return Estimate(centre, centre - half, centre + half)


def half_width(deviation: float, units: int, confidence: float = CONFIDENCE) -> float:
    """Return half the width of the interval at a look, of units with this standard deviation."""
    errors, nominals = np.log(_ERROR[::-1]), np.log(_NOMINAL[::-1])
    nominal = float(np.exp(np.interp(np.log(1 - confidence), errors, nominals)))
    return float(t(units - 1, 1 - nominal)) * deviation / math.sqrt(units)


def units_to_decide(
    values: np.ndarray, low: float, high: float, confidence: float = CONFIDENCE
) -> int | None:
    """Return at how many units the interval would probably lie inside or outside a range.

    It takes the mean and deviation of the values there are as the true ones. None if that is not
    known yet, or no look would do.

    Parameters
    ----------
    low, high : bounds of the range; infinite for none.
    """
    x = np.asarray(values, float)
    if x.size < LOOKS[0]:
        return None
    centre, deviation = float(x.mean()), float(x.std(ddof=1))
    distance = min(abs(centre - low), abs(centre - high))
    for look in LOOKS:
        if look >= x.size and half_width(deviation, look, confidence) < distance:
            return look
    return None
