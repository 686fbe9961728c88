"""How fast rows are loaded, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.bulk_load import analysis as loads
from ndblab.formatting import listed, plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("bulk-load")
def loading(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how fast each way loads, at its best, and whether the redo log matters."""
    found = loads.by_way(loads.of(dataset.runs, dataset.processes, dataset.events))
    best = found.loc[found.groupby("way", sort=False)["rows_per_s"].idxmax()]
    each = [f"{loads.WORDS[row.way]} {plain(row.rows_per_s)}" for row in best.itertuples()]
    return [
        f"rows loaded per second: {listed(each)}",
        Clause(
            "B-load-redo",
            "a small redo log slows loading: {value} times the rate {interval}",
            "a small redo log slows loading by less than 3 %: {value} times the rate {interval}",
            "whether a small redo log slows loading",
        ),
    ]
