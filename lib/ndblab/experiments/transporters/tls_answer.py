"""The answer about TLS on NDB's own links: what it costs.

No source states it, so no claim is judged: the answer is the interval of each contrast.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.error import MissingData
from ndblab.formatting import plain
from ndblab.judging.answer import Answer
from ndblab.judging.registry import answers
from ndblab.statistics import contrasts

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

THROUGHPUTS: Mapping[str, str] = MappingProxyType(
    {"tls-best": "the best throughput", "tls-one": "the throughput with one client a server"}
)
"""The throughput that each contrast compares, in words."""


@answers("tls")
def cost(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Say what TLS leaves of the throughput; it is certain if the interval excludes equality."""
    certain, still_open = [], []
    for name, throughput in THROUGHPUTS.items():
        try:
            found = contrasts.ratio(contrasts.log_ratios(dataset.slices, name))
        except MissingData:
            still_open.append(f"what TLS does to {throughput}")
            continue
        value, low, high = map(plain, found)
        if not found.bounded:
            still_open.append(f"what TLS does to {throughput} ({value} times)")
        elif found.low <= 1 <= found.high:
            still_open.append(f"whether TLS changes {throughput} ({value} times, {low} to {high})")
        else:
            changes = "lowers" if found.high < 1 else "raises"
            certain.append(
                f"TLS on NDB's links {changes} {throughput} to {value} times that of plain text "
                f"({low} to {high})"
            )
    if not certain:
        certain = ["no source says what TLS costs on NDB's links, and no cost is certain here"]
    return Answer(tuple(certain), tuple(still_open))
