"""The answer about read locality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED, READ_BACKUP
from ndblab.formatting import moved
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause
from ndblab.statistics import contrasts

_GAINS = {
    READ_BACKUP: "reading every replica instead of the primary one",
    FULLY_REPLICATED: "full replication instead of read backup",
}


@answers("read-locality")
def locality(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how local reads are, then what that gains on one host."""
    return [
        Clause(
            "C-read-backup",
            "read backup raised the share of local reads by {value_gain_pct} {interval_gain_pct}",
            "read backup did not raise the share of local reads here ({change})",
            "whether read backup makes reads more local",
        ),
        Clause(
            "C-fully-replicated",
            "fully replicated tables were always read locally",
            "only {value_pct} of the rows of fully replicated tables were read locally",
            "whether fully replicated tables are always read locally",
        ),
        Clause(
            "C-location",
            "location domains with read backup kept reads in their own domain",
            "location domains with read backup kept only {value_pct} of the bytes in their domain",
            "whether location domains keep reads in their own domain",
        ),
        *_gained(dataset),
    ]


def _gained(dataset: Dataset) -> Iterator[str]:
    """State the throughput ratios that have an interval, in transactions of ten lookups."""
    ratios = {name: contrasts.measured_ratio(dataset.slices, name) for name in _GAINS}
    for name, ratio in ratios.items():
        if ratio.bounded:
            yield f"on one host, {_GAINS[name]} {moved(*ratio, 'throughput')}"
    if ratios[FULLY_REPLICATED].low > 1:
        yield Advice(
            "Fully replicate tables that are read often and rarely written: the manual says that "
            "every data node then writes each of their rows"
        )
