"""The answer about shared memory and TCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.judging.answer import Clause
from ndblab.judging.registry import answers

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
            "with point selects, shared memory carries {value} times as much as TCP {interval}, "
            f"not {published.get('T-shm-gain')}",
            "what shared memory gains over TCP with point selects",
        ),
        Clause(
            "T-top",
            "at the top of OLTP read-write, shared memory carries {value} times as much {interval}",
            "at the top of OLTP read-write, shared memory carries {value} times as much {interval}"
            f", not {published.get('T-top')}",
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
