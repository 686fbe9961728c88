"""One effect measured in several recordings: their common mean, and how far they lie apart.

Each recording holds for its own starts, hour and host. What it measured differs from the mean of
all such recordings by its own error, and by the effect of starts, hours and hosts (random effects:
DerSimonian and Laird 1986). The variance between recordings is that of Paule and Mandel (1982),
which for two is also DerSimonian and Laird's. The interval is Knapp and Hartung's (2003), by
Student's t with one degree of freedom fewer than recordings, and never narrower than the
recordings' own errors give (their section 4.2), so never narrower than without variance between
recordings.

Two recordings have one degree of freedom: if they agree, the interval reaches 9 standard errors of
one recording to either side; with three it is 2.5. So two decide large effects only.

The last part is about a single recording: how far the same effect may lie on another day.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from ndblab.statistics import sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate, from_logs, t


def pooled(
    values: Sequence[float], errors: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """Return the mean over recordings with its interval; NaN bounds for a single recording.

    Parameters
    ----------
    values : what each recording measured, on a scale on which errors are symmetric (logarithms).
    errors : standard error of each, from within the recording.
    """
    y, variances = np.asarray(values, float), np.asarray(errors, float) ** 2
    weights = 1 / (variances + between(y, variances) + math.ulp(1.0))
    centre = float((weights * y).sum() / weights.sum())
    if y.size < 2:
        return Estimate(centre)
    half = float(t(y.size - 1, confidence)) / math.sqrt(weights.sum())
    return Estimate(centre, centre - half, centre + half)


def of_contrast(logs: Sequence[np.ndarray]) -> Estimate:
    """Return the ratio of a contrast over recordings, from its logarithms in each (`contrasts`).

    It has no interval if one of them ended before its first look.
    """
    values = [float(units.mean()) for units in logs]
    if min(map(len, logs)) < sequential.LOOKS[0]:
        return from_logs(Estimate(float(np.mean(values))))
    errors = [sequential.deviation(units) / math.sqrt(len(units)) for units in logs]
    return from_logs(pooled(values, errors))


def between(values: np.ndarray, variances: np.ndarray) -> float:
    """Return the variance between recordings (Paule and Mandel 1982); 0 if they lie no further
    apart than their own variances explain.
    """

    def excess(tau2: float) -> float:
        weights = 1 / (variances + tau2 + math.ulp(1.0))
        centre = (weights * values).sum() / weights.sum()
        return float((weights * (values - centre) ** 2).sum() - (values.size - 1))

    most = float(np.ptp(values)) ** 2 * values.size
    if values.size < 2 or excess(0.0) <= 0 or excess(most) >= 0:
        return 0.0
    return float(scipy.optimize.brentq(excess, 0.0, most))


class Apart(NamedTuple):
    """How far an effect differs between days, and from how many pairs of recordings that is known.

    The standard deviation of its logarithm on one day has two parts, which add up by their squares:
    `floor`, the same for every effect, and `share`, a part of that logarithm.
    """

    floor: float
    share: float
    recordings: int


DAYS = {"throughput": Apart(0.042, 0.16, 14)}
"""By the goal of a search, from the recordings of this repository, on virtual machines with 2 CPUs:
`./lab bench days` estimates it anew (`benchmarks.days`). Ranges for p95 and CPU time, estimated
alike, held too seldom what was measured later, so there are none."""


def another_day(
    ratio: Estimate, quantity: str = "throughput", days: Mapping[str, Apart] = DAYS
) -> Estimate:
    """Return a measured ratio with the range expected of it on another day (95 %); NaN if unknown.

    Both days deviate from the mean of all days, so the squared difference of two is at most
    `floor`**2 + (`part` * mean of both)**2. Solved for the effect of the other day, the range
    reaches farther away from no effect than towards it. On each side its half width and the
    estimate's are added by their squares (Zou and Donner 2008). More blocks narrow the interval,
    but not what days add.
    """
    apart = days.get(quantity)
    if apart is None or not ratio.bounded:
        return Estimate(ratio.value)
    widest = float(t(apart.recordings)) * math.sqrt(2)
    floor, half_part = widest * apart.floor, widest * apart.share / 2
    centre, low, high = map(math.log, ratio)
    # The roots of (x - centre)**2 = floor**2 + (half_part * (x + centre))**2.
    rest = 1 - half_part**2
    if rest <= 0:
        return Estimate(ratio.value, 0.0, math.inf)
    middle = centre * (1 + half_part**2) / rest
    reach = math.sqrt((2 * half_part * centre) ** 2 + rest * floor**2) / rest
    least = centre - math.hypot(centre - low, centre - (middle - reach))
    most = centre + math.hypot(high - centre, middle + reach - centre)
    return from_logs(Estimate(centre, least, most))


def between_days(
    earlier: np.ndarray, later: np.ndarray, variances: np.ndarray
) -> tuple[float, float]:
    """Return `floor` and `share` of `Apart` from effects that were measured twice, as logarithms.

    They are those under which the differences are most likely (normal deviations); 0 for a part
    without which the rest explains them.

    Parameters
    ----------
    variances : of the difference of each pair, by the errors within both recordings.
    """
    squares, effects = (earlier - later) ** 2, (earlier + later) / 2

    def unlikely(parts: np.ndarray) -> float:
        floor, share = parts
        expected = variances + 2 * floor**2 + 2 * (share * effects) ** 2 + math.ulp(1.0)
        return float((np.log(expected) + squares / expected).mean())

    found = scipy.optimize.minimize(
        unlikely, (0.05, 0.2), method="Nelder-Mead", bounds=[(0, None)] * 2
    )
    floor, share = found.x
    return float(floor), float(share)
