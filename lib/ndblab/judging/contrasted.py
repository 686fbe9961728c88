"""Comparisons that come from contrasts: A against B, or parts of one configuration.

This module decides nothing. A sweep never stands in for a contrast that a dataset lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.judging import publication, verdict
from ndblab.judging.evidence import Evidence, at, p95_widened
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import NO_ESTIMATE, Comparison
from ndblab.statistics import contrasts, sequential
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

QPS, P95 = "qps", "latency_p95_ms"
A, B = contrasts.A, contrasts.B
Quantity = str | pd.Series
_OF_THROUGHPUT = re.compile(r"(peak )?qps\([^)]*\)/(peak )?qps\([^)]*\)")
_DECIDED_BY: dict[str, str] = {}
NO_CONTRAST = "it has no contrast"
"""How a message begins that a dataset lacks a contrast."""


def side(evidence: Evidence, contrast: str, name: str = A) -> Mapping[str, Any]:
    """Return the point of a side (servers, clients, variant ...) as the manifest has it.

    MissingData if the dataset has no such contrast.
    """
    if contrast not in evidence.contrasts:
        raise MissingData(f"{NO_CONTRAST} {contrast}")
    return evidence.contrasts[contrast][name]["point"]


def decided_by(contrast: str, *claims: str) -> None:
    """Make a contrast decide these claims wherever a dataset has it.

    The manifests of older datasets assign the claims to another contrast.
    """
    _DECIDED_BY.update(dict.fromkeys(claims, contrast))


def named(manifest: Mapping[str, Any], claim: str) -> list[str]:
    """Return the contrasts of a manifest that are to decide a claim."""
    known = {contrast["name"]: contrast["claims"] for contrast in manifest.get("contrasts", ())}
    if _DECIDED_BY.get(claim) in known:
        return [_DECIDED_BY[claim]]
    return [name for name, claims in known.items() if claim in claims]


def of_claim(evidence: Evidence, claim: Claim) -> list[str]:
    """Return the contrasts of a dataset that are to decide a claim.

    MissingData if there is none.
    """
    names = named(evidence.dataset.manifest, claim.id)
    if not names:
        raise MissingData(f"{NO_CONTRAST} for {claim.id}")
    return names


def sides(evidence: Evidence, contrast: str) -> list[str]:
    """Return the names of a contrast's sides; a level has only one."""
    return [name for name in (A, B) if evidence.contrasts[contrast][name]]


def ratio(
    evidence: Evidence, contrast: str, label: str, quantity: Quantity = QPS, tests: int = 1
) -> Comparison:
    """Compare sides A and B by the ratio of a positive quantity of their slices.

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
    comparison = of_units(contrast, label, logs, tests)
    is_p95 = isinstance(quantity, str) and quantity == P95
    return comparison.changed(p95_widened) if is_p95 else comparison


def of_units(
    contrast: str, label: str, values: np.ndarray, tests: int = 1, log: bool = True
) -> Comparison:
    """Return the mean of one value per unit of a contrast; with `log`, of logarithms."""

    def interval(confidence: float) -> Estimate:
        if not values.size:
            return NO_ESTIMATE
        return (contrasts.ratio if log else sequential.interval)(values, confidence)

    comparison = Comparison.one_of(tests, label, interval)
    return replace(comparison, contrast=contrast, values=values, log=log)


@dataclass(frozen=True)
class Place:
    """Where a claim looks: one side of a contrast."""

    evidence: Evidence
    contrast: str
    side: str = A

    @property
    def servers(self) -> int:
        """Number of servers with clients."""
        return int(side(self.evidence, self.contrast, self.side)["servers"])

    @property
    def clients(self) -> int:
        """Number of clients of all these servers."""
        return int(side(self.evidence, self.contrast, self.side)["clients"])

    @property
    def words(self) -> str:
        """Name the place in words."""
        return at(self.servers, self.clients)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The slices of whole blocks; MissingData if there is none yet."""
        try:
            whole = contrasts.whole(self.evidence.slices, self.contrast)
        except MissingData:
            why = f"the contrast {self.contrast} has not been measured yet"
            raise MissingData(why) from None
        return whole[whole["side"].astype(str) == self.side]

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
        """Return the mean of one value per slice.

        Parameters
        ----------
        values : by run id.
        log : average logarithms, for positive values; ignored if one of them is zero.
        """
        log = log and bool((values > 0).all())
        levels = contrasts.levels(self.evidence.slices, self.contrast, values, self.side, log)
        return of_units(self.contrast, label, levels, tests, log)


def place(evidence: Evidence, contrast: str, name: str = A) -> Place:
    """Return a side of a contrast; MissingData if the dataset does not have it."""
    side(evidence, contrast, name)
    return Place(evidence, contrast, name)


def bounds(contrasts: Iterable[Mapping[str, Any]], claims: Sequence[Claim]) -> pd.DataFrame:
    """Return what claims allow of the throughput ratio that each contrast measures.

    Parameters
    ----------
    contrasts : as in a manifest, each with `name` and `claims`.

    Returns
    -------
    `contrast`, `of` (the claim), `low`, `high`; infinite where there is no bound. Claims
    on anything but a ratio of throughputs have no row.
    """
    by_id = {claim.id: claim for claim in claims}
    rows: list[tuple[str, str, float, float]] = []
    for contrast in contrasts:
        name = contrast["name"]
        named = [by_id[key] for key in contrast["claims"] if key in by_id]
        ratios = [claim for claim in named if _OF_THROUGHPUT.match(claim.metric)]
        rows += [(name, claim.id, *verdict.allowed(claim)) for claim in ratios]
    return pd.DataFrame(rows, columns=["contrast", "of", "low", "high"])


def bounds_of(data: Dataset) -> dict[str, pd.DataFrame]:
    """Return the table `bounds` of a dataset's contrasts, by the table's name."""
    known = data.manifest.get("contrasts", ())
    return {"bounds": bounds(known, publication.claims())}
