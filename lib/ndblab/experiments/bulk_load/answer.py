"""How fast rows are loaded, in words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.bulk_load import analysis as loads
from ndblab.formatting import listed, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause

_START_S = 6
"""About what ndb_import takes however few the rows are (notebook 14)."""


@answers("bulk-load")
def loading(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how fast each way loads, at its best, and whether the redo log matters."""
    every = loads.of(dataset.runs, dataset.processes, dataset.events)
    means = loads.by_way(every)
    best = means.loc[means.groupby("way", sort=False)["rows_per_s"].idxmax()]
    most_rows = every["rows"].max()
    # Such a time may be that of the start: a rate would say how small the load is.
    is_start = (best["way"] == loads.NDB_IMPORT) & (most_rows / best["rows_per_s"] < 2 * _START_S)
    rates = [
        f"{loads.WORDS[row.way]} {plain(row.rows_per_s)}" for row in best[~is_start].itertuples()
    ]
    most = best["rows_per_s"].max()
    holds = (best["low"] <= most) & (most <= best["high"])
    fast = best[(best["rows_per_s"] == most) | holds]
    fastest = " or ".join(loads.WORDS[way] for way in fast["way"])
    return [
        f"rows a second: {listed(rates)}{_one_start(dataset)}",
        f"a load has {plain(most_rows)} rows, and its time includes the program's start",
        *(
            f"ndb_import took {plain(most_rows / rate)} s: so small a load does not show its rate"
            for rate in best.loc[is_start, "rows_per_s"]
        ),
        Clause(
            "B-load-redo",
            "a small redo log slowed loading by {value_fall_pct} {interval_fall_pct}",
            "a small redo log slowed loading by less than 3 % ({change})",
            "whether a small redo log slows loading",
        ),
        Advice(f"For loads as small as these, use {fastest}"),
    ]


def _one_start(dataset: Dataset) -> str:
    """Write that the ways were compared in one cluster start, if they were.

    Contrasts, measured after them, begin in the start of the last way or in one of their own.
    """
    first = dataset.slices["start"].min()
    starts = max(1, first - 1) if first > 0 else dataset.manifest.get("starts")
    return ", in one cluster start" if starts == 1 else ""
