"""The answer about TLS on NDB's own links: what it costs.

No source states it, so no claim is judged: the answer is the interval of each contrast.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.analysis import contrasts
from ndblab.analysis.formatting import plain
from ndblab.claims.answers.clause import Answer
from ndblab.claims.answers.registry import answers
from ndblab.error import MissingData

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.analysis.estimate import Estimate
    from ndblab.dataset import Dataset

LOADS: Mapping[str, str] = MappingProxyType(
    {"tls-best": "at the best throughput", "tls-one": "with one client a server"}
)
"""Contrasts, in words."""


@answers("tls")
def cost(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Say how much throughput is left, where the interval excludes equality and where not."""
    certain, still_open = [], []
    for name, load in LOADS.items():
        try:
            found = contrasts.ratio(contrasts.log_ratios(dataset.slices, name))
        except MissingData:
            still_open.append(f"what TLS costs {load}")
            continue
        if not found.bounded:
            still_open.append(f"what TLS costs {load} ({plain(found.value)} times the throughput)")
        elif found.low <= 1 <= found.high:
            still_open.append(f"whether TLS costs anything {load} {_times(found)}")
        else:
            costs = "costs throughput" if found.high < 1 else "gains throughput"
            certain.append(f"TLS on NDB's links {costs} {load}: {_times(found)}")
    if not certain:
        certain = ["no source says what TLS costs on NDB's links, and no cost is certain here"]
    return Answer(tuple(certain), tuple(still_open))


def _times(found: Estimate) -> str:
    value, low, high = map(plain, found)
    return f"{value} times that of plain text ({low} to {high})"
