"""The answer about read locality."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED, READ_BACKUP
from ndblab.formatting import plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers
from ndblab.statistics import ratio_tables

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

_GAINS = {
    READ_BACKUP: "reading every replica rather than the primary one",
    FULLY_REPLICATED: "full replication over that",
}


@answers("read-locality")
def locality(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how local reads are, then what that brings on one host."""
    return [
        Clause(
            "C-read-backup",
            "as published, tables that every replica serves are read more locally, {value} times "
            "as often {interval}",
            "unlike published, tables that every replica serves are not read more locally",
            "whether tables that every replica serves are read more locally",
        ),
        Clause(
            "C-fully-replicated",
            "as published, fully replicated tables are always read locally",
            "unlike published, only {value_pct} of the rows of fully replicated tables are read "
            "locally",
            "whether fully replicated tables are always read locally",
        ),
        Clause(
            "C-location",
            "as published, location domains keep reads in their own domain",
            "unlike published, location domains keep only {value_pct} of the bytes in their domain",
            "whether location domains keep reads in their own domain",
        ),
        *_gained(dataset),
    ]


def _gained(dataset: Dataset) -> Iterator[str]:
    """Say the ratios of throughput that have an interval, in transactions of ten lookups."""
    found = ratio_tables.of_contrasts(dataset.slices).set_index("contrast")
    for name, words in _GAINS.items():
        if name in found.index and not math.isnan(found.at[name, "low"]):
            value, low, high = (plain(found.at[name, part]) for part in ("ratio", "low", "high"))
            yield f"on one host, {words} gives {value} times the throughput ({low} to {high})"
