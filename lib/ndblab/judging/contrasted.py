"""Comparisons that come from contrasts: A against B, or parts of one configuration.

It decides nothing.

A dataset that was measured before there were contrasts has none: its sweep stands for them where
that is sound (`place`, and the checks that ask `planned`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.judging.evidence import Evidence, at, p95_widened
from ndblab.judging.verdict import NO_ESTIMATE, Comparison
from ndblab.statistics import contrasts, estimate, sequential
from ndblab.statistics.estimate import Estimate

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
        raise MissingData(f"it has no contrast {contrast}")
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
    found = of_units(contrast, label, logs, tests)
    is_p95 = isinstance(quantity, str) and quantity == P95
    return found.changed(p95_widened) if is_p95 else found


def of_units(
    contrast: str, label: str, values: np.ndarray, tests: int = 1, log: bool = True
) -> Comparison:
    """Return the mean of one value per unit of a contrast; of logarithms, with `log`."""

    def interval(confidence: float) -> Estimate:
        if not values.size:
            return NO_ESTIMATE
        return (contrasts.ratio if log else sequential.interval)(values, confidence)

    found = Comparison.one_of(tests, label, interval)
    return replace(found, contrast=contrast, values=values, log=log)


@dataclass(frozen=True)
class Place:
    """Where a claim looks: one side of a contrast, or a point of the sweep if there is none."""

    evidence: Evidence
    servers: int
    clients: int
    contrast: str = ""
    side: str = A

    @property
    def words(self) -> str:
        """Name the place in words."""
        return at(self.servers, self.clients)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The good runs there, or the slices of whole blocks.

        Raises
        ------
        MissingData
            If there is none yet.
        """
        if not self.contrast:
            return self.evidence.runs_at(self.servers, self.clients)
        found = slices(self.evidence, self.contrast, self.side)
        if found.empty:
            raise MissingData(f"the contrast {self.contrast} has not been measured yet")
        return found

    @property
    def run_ids(self) -> list[str]:
        """Ids of `runs`."""
        return [str(name) for name in self.runs["run_id"]]

    @property
    def cpu_pct(self) -> pd.DataFrame:
        """CPU of each role (`Usage.of_roles`)."""
        return self.evidence.usage.of_roles(self.run_ids)

    @property
    def threads(self) -> pd.DataFrame:
        """CPU of each NDB thread (`Usage.of_threads`)."""
        return self.evidence.usage.of_threads(self.run_ids)

    def mean(self, values: pd.Series, label: str, tests: int = 1, log: bool = False) -> Comparison:
        """Return the mean of one value per run or slice.

        Parameters
        ----------
        values : by run id.
        log : average logarithms, as of positive values, unless one of them is zero.
        """
        log = log and bool((values > 0).all())
        if self.contrast:
            all_slices = self.evidence.slices
            found = contrasts.levels(all_slices, self.contrast, values, self.side, log)
            return of_units(self.contrast, label, found, tests, log)
        mean = estimate.geometric if log else estimate.mean
        return Comparison.one_of(tests, label, lambda confidence: mean(values, confidence))


def place(
    evidence: Evidence, contrast: str, name: str, otherwise: tuple[int, int] | None = None
) -> Place:
    """Return a side of a contrast, or else a point of the sweep: its servers and clients.

    Without `otherwise` that is the most servers at their best throughput.

    Raises
    ------
    MissingData
        If the dataset has neither.
    """
    if planned(evidence, contrast):
        point = side(evidence, contrast, name)
        return Place(evidence, int(point["servers"]), int(point["clients"]), contrast, name)
    if otherwise is None:
        if not evidence.servers:
            raise MissingData("no good run")
        otherwise = evidence.servers[-1], evidence.best(evidence.servers[-1])
    return Place(evidence, *otherwise)
