"""What shared memory gains over TCP, and what TLS costs, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.error import MissingData
from ndblab.formatting import change, less_or_more
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
            "with point selects, shared memory raised throughput by {value_gain_pct} over TCP "
            "{interval_gain_pct}",
            "with point selects, shared memory did not gain the published "
            f"{published.get('T-shm-gain')} times over TCP here: {{change}}",
            "what shared memory gains over TCP with point selects",
        ),
        Clause(
            "T-top",
            "at the top of OLTP read-write, shared memory raised throughput by {value_gain_pct} "
            "{interval_gain_pct}",
            "at the top of OLTP read-write, shared memory did not gain the published "
            f"{published.get('T-top')} times over TCP here: {{change}}",
            "the gain at the top of OLTP read-write",
        ),
        Clause(
            "T-low",
            "with 1 and 2 clients, both are alike",
            "with 1 and 2 clients, shared memory changed throughput by {change}",
            "whether both are alike with 1 and 2 clients",
        ),
        Clause(
            "T-high",
            "with very many clients, shared memory raised throughput by {value_gain_pct} "
            "{interval_gain_pct}",
            "with very many clients, shared memory changed throughput by only {change}",
            "very many clients",
        ),
        Clause(
            "T-spin-low",
            "with few clients, spinning changed throughput by {change}",
            "with few clients, spinning changed throughput by {change}",
            "spinning",
        ),
    ]


THROUGHPUTS: Mapping[str, str] = MappingProxyType(
    {"tls-best": "the best throughput", "tls-one": "the throughput with one client a server"}
)
"""The throughput that each contrast compares, in words."""


@answers("tls")
def cost(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Say what TLS costs in throughput; it is certain if the interval excludes equality."""
    certain, still_open, advice = [], [], ()
    for name, throughput in THROUGHPUTS.items():
        try:
            found = contrasts.ratio(contrasts.log_ratios(dataset.slices, name))
        except MissingData:
            still_open.append(f"what TLS does to {throughput}")
            continue
        if not found.bounded:
            still_open.append(f"what TLS does to {throughput} ({change(*found)})")
        elif found.low <= 1 <= found.high:
            still_open.append(f"whether TLS changes {throughput} ({change(*found)})")
        else:
            of = f"{'of' if found.high < 1 else 'to'} {throughput}"
            did = "cost" if found.high < 1 else "added"
            certain.append(f"TLS on NDB's links {did} {less_or_more(*found, of, of)}")
            if found.high < 1:
                advice = ("Where links leave the host, plan for the CPUs that TLS needs",)
    if not certain:
        certain = ["no source says what TLS costs on NDB's links, and no cost is certain here"]
    return Answer(tuple(certain), tuple(still_open), advice=advice)
