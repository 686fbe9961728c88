"""Comparisons that come from contrasts: A against B, or parts of one configuration.

In: the evidence of a dataset, the name of a contrast, a quantity of its slices. Out: `Comparison`s
with intervals that may be looked at while measuring goes on (`analysis.sequential`). It decides
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ndblab.analysis import contrasts, sequential
from ndblab.analysis.estimate import CONFIDENCE, Estimate, sidak
from ndblab.claims.evidence import Evidence, p95_widened
from ndblab.claims.verdict import Comparison
from ndblab.error import MissingData

QPS, P95 = "qps", "latency_p95_ms"
A, B = contrasts.A, contrasts.B
Quantity = str | pd.Series


def planned(evidence: Evidence, contrast: str) -> bool:
    """Return whether a dataset has this contrast, measured or still to be measured."""
    return contrast in evidence.contrasts


def side(evidence: Evidence, contrast: str, name: str = A) -> Mapping[str, Any]:
    """Return the point of a side: its servers, clients, variant ... as its manifest has them.

    Raises
    ------
    MissingData
        If the dataset has no such contrast.
    """
    if not planned(evidence, contrast):
        raise MissingData(f"the contrast {contrast} is not part of it")
    return evidence.contrasts[contrast][name]["point"]


def slices(evidence: Evidence, contrast: str, name: str = A) -> pd.DataFrame:
    """Return the slices of one side in whole blocks; empty if there are none yet."""
    try:
        found = contrasts.whole(evidence.slices, contrast)
    except MissingData:
        return evidence.slices.iloc[:0]
    return found[found["side"].astype(str) == name]


def ratio(
    evidence: Evidence, contrast: str, label: str, quantity: Quantity = QPS, tests: int = 1
) -> Comparison:
    """Compare side A with side B: the ratio of a positive quantity of their slices.

    Parameters
    ----------
    quantity : a column of `slices`, or values by run id.
    tests : how many tests the claim has.
    """
    side(evidence, contrast)
    try:
        logs = contrasts.log_ratios(evidence.slices, contrast, quantity)
    except MissingData:
        logs = np.array([])
    comparison = _comparison(contrast, label, logs, tests, True)
    if isinstance(quantity, str) and quantity == P95:
        widened = p95_widened(comparison.estimate)
        return Comparison(label, widened, contrast=contrast, values=logs)
    return comparison


def level(
    evidence: Evidence,
    contrast: str,
    label: str,
    quantity: Quantity,
    name: str = A,
    log: bool = True,
    tests: int = 1,
) -> Comparison:
    """Return the mean of a quantity of one side's slices: a positive one with `log`.

    The other parameters are those of `ratio`.
    """
    side(evidence, contrast)
    try:
        values = contrasts.levels(evidence.slices, contrast, quantity, name, log)
    except (MissingData, KeyError):
        values = np.array([])
    return _comparison(contrast, label, values, tests, log)


def _comparison(contrast: str, label: str, values: np.ndarray, tests: int, log: bool) -> Comparison:
    found = _interval(values, sidak(tests) if tests > 1 else CONFIDENCE, log)
    return Comparison(label, found, contrast=contrast, values=values, log=log)


def _interval(values: np.ndarray, confidence: float, log: bool) -> Estimate:
    if not values.size:
        return Estimate(math.nan)
    if log:
        return contrasts.ratio(values, confidence)
    return sequential.interval(values, confidence)
