"""What shared memory gains over TCP, and what TLS costs, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.error import MissingData
from ndblab.formatting import plain
from ndblab.judging.answer import Answer, Clause
from ndblab.judging.answers import answers
from ndblab.statistics import contrasts

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("shm-vs-tcp")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what shared memory gains over TCP, and what spinning adds."""
    published = dict(zip(table["id"], table["published"], strict=True))
    return [
        Clause(
            "T-shm-gain",
            "with point selects, shared memory carries {value} times as much as TCP {interval}",
            "with point selects, shared memory carries {value} times as much as TCP {interval} "
            f"here, not {published.get('T-shm-gain')}",
            "what shared memory gains over TCP with point selects",
        ),
        Clause(
            "T-top",
            "at the top of OLTP read-write, shared memory carries {value} times as much {interval}",
            "at the top of OLTP read-write, shared memory carries {value} times as much {interval} "
            f"here, not {published.get('T-top')}",
            "the gain at the top of OLTP read-write",
        ),
        Clause(
            "T-low",
            "with 1 and 2 clients, both are alike",
            "with 1 and 2 clients, shared memory carries {value} times as much {interval}",
            "whether both are alike with 1 and 2 clients",
        ),
        Clause(
            "T-high",
            "with very many clients, shared memory carries {value} times as much {interval}",
            "with very many clients, shared memory carries only {value} times as much {interval}",
            "very many clients",
        ),
        Clause(
            "T-spin-low",
            "with few clients, spinning brings {value} times the throughput {interval}",
            "with few clients, spinning brings {value} times the throughput {interval}",
            "spinning",
        ),
    ]


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
