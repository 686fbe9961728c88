"""Intervals that stay valid while measuring goes on, and what later looks will probably say.

Stopping as soon as an ordinary interval decides is wrong far more often than 5 % of the time. These
are repeated confidence intervals (Jennison and Turnbull 1989): a fixed list of looks, and at each
look a t interval of one constant nominal level, chosen so that all of them together hold the true
value with 95 % probability (Pocock 1977; the nominal levels are used for t, as in Jennison and
Turnbull 2000, section 4.4). If all of them hold the true value, so does their intersection. The
interval is therefore the intersection of those of the looks so far: a later look does not revoke
what an earlier one decided (the running intersection of a confidence sequence: Howard et al. 2021).

The mean is that of units. Where a unit has parts, its error comes from how the parts deviate from
the mean of their place in the unit, which gives more degrees of freedom: what makes all first parts
differ from all second ones (other servers, say) adds no error, and the small correlation of
neighbouring parts is allowed for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import scipy

from ndblab.statistics.estimate import CONFIDENCE, Estimate, t

LOOKS = (4, 6, 9, 13, 20, 30, 45, 68, 100)
"""Numbers of units after which an interval is computed; between two looks it does not change."""

ALIKE = 1 / 8
"""Correlation of the parts of a unit. Halves of A B B A on a host with the autocorrelation of the
recorded hour have 0.06 to 0.125, for slices of 2 to 30 s (`benchmarks.simulations.seconds`)."""

_ERROR = (0.05, 0.025, 0.01, 0.005, 0.0025, 0.001)
_NOMINAL = (0.00809, 0.00377, 0.00142, 0.000683, 0.000331, 0.000124)
"""Nominal error of each look for each of these errors of all looks together, by simulation of a
million series of normal values (`tests/statistics/test_sequential.py` repeats it with fewer).
Between them it is interpolated on logarithms, where both are nearly proportional; an error above
5 % gets the nominal one of 5 %."""


def interval(values: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean with the intersection of the intervals of all looks so far.

    The bounds are NaN before the first look. If the mean has left the intersection, the interval is
    extended to it. If the intersection is empty, which is rare unless the host changed, the last
    look alone counts.

    Parameters
    ----------
    values : one row per unit, with one value or one column per part.
    """
    x = _table(values)
    if not x.size:
        return Estimate(math.nan)
    looks = [look for look in LOOKS if look <= len(x)]
    if not looks:
        return Estimate(float(x.mean()))
    centres = np.array([x[:look].mean() for look in looks])
    halves = np.array([half_width(deviation(x[:n]), n, x.shape[1], confidence) for n in looks])
    centre, half = float(centres[-1]), float(halves[-1])
    low, high = float((centres - halves).max()), float((centres + halves).min())
    if low > high:
        low, high = centre - half, centre + half
    return Estimate(centre, min(low, centre), max(high, centre))


def deviation(values: np.ndarray) -> float:
    """Return the standard deviation of a unit, from its parts if it has several."""
    x = _table(values)
    return of_mean(x.shape[1]) * math.sqrt(x.var(axis=0, ddof=1).mean())


def of_mean(parts: int) -> float:
    """Return the standard deviation of the mean of parts, for parts that deviate by 1."""
    return math.sqrt((1 + ALIKE * (parts - 1)) / parts)


def half_width(
    deviation: float, units: int, parts: int = 1, confidence: float = CONFIDENCE
) -> float:
    """Return half the width of the interval at a look, of units with this standard deviation."""
    errors, nominals = np.log(_ERROR[::-1]), np.log(_NOMINAL[::-1])
    nominal = float(np.exp(np.interp(np.log(1 - confidence), errors, nominals)))
    return float(t((units - 1) * parts, 1 - nominal)) * deviation / math.sqrt(units)


def chances(
    values: np.ndarray,
    low: float,
    high: float,
    confidence: float = CONFIDENCE,
    outside: bool = True,
) -> dict[int, float] | None:
    """Return for each later look the chance that its interval lies inside a range, or outside it.

    The mean at that look is predicted from the present values: it differs from their mean by their
    own error and that of the units to come (Gelman et al. 2013, section 3.2), and the width of the
    interval follows from their deviation. A bound of the range that the interval does not cross now
    is not crossed later. None if there is no interval yet.

    Parameters
    ----------
    values : as for `interval`.
    low, high : bounds of the range; infinite for none.
    outside : whether an interval outside the range counts, too.
    """
    x = _table(values)
    units, parts = x.shape
    if units < LOOKS[0]:
        return None
    _, now_low, now_high = interval(x, confidence)
    low, high = (-math.inf if now_low >= low else low), (math.inf if now_high <= high else high)
    centre, spread, by_look = float(x.mean()), deviation(x), {}
    for look in (look for look in LOOKS if look > units):
        half = half_width(spread, look, parts, confidence)
        scale = (spread or math.ulp(1.0)) * math.sqrt(1 / units - 1 / look)

        def below(bound: float, scale: float = scale) -> float:
            return float(scipy.special.stdtr((units - 1) * parts, (bound - centre) / scale))

        inside = max(0.0, below(high - half) - below(low + half))
        by_look[look] = inside + outside * (below(low - half) + 1 - below(high + half))
    return by_look


def probable_look(chances: Mapping[int, float]) -> float:
    """Return the first look that decides more likely than not; infinite if none does."""
    return min((look for look, chance in chances.items() if chance > 1 / 2), default=math.inf)


def _table(values: np.ndarray) -> np.ndarray:
    x = np.asarray(values, float)
    return x if x.ndim == 2 else x[:, None]
