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
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    """Return the ratio of a contrast over recordings, from its logarithms in each (`contrasts`)."""
    values = [float(units.mean()) for units in logs]
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
