"""The answers about runs that end by themselves: dumps, bulk loads, and the locks of reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.bulk_load import analysis as loads
from ndblab.experiments.dump import analysis as dumps
from ndblab.experiments.locking_reads import analysis as locks
from ndblab.formatting import listed, plain
from ndblab.judging.answer import Clause
from ndblab.judging.registry import answers
from ndblab.planning.workload import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
    UNCOMPRESSED,
)

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("dump")
def compression(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how small each compression makes a dump, and how long that takes."""
    found = dumps.by_compression(dumps.of(dataset.runs, dataset.dumps))
    words = [
        f"a dump by {row.tool} takes {plain(row.duration_s)} s for {plain(row.content_mb)} MB"
        if row.compression == UNCOMPRESSED
        else f"with {row.compression} {plain(row.duration_s)} s for {100 / row.ratio:.0f} % of "
        "that size"
        for row in found.itertuples()
    ]
    known = "the published times and ratios of another machine"
    return ["; ".join(words), Clause("M-zstd", f"{known} hold", f"{known} do not hold", known)]


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


@answers("locking-reads")
def locking(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which statements take record locks, and which take none in READ COMMITTED."""
    without = locks.without(dataset.locks, READ_COMMITTED)
    return [
        Clause(
            "L-uservar",
            f"{SET_VARIABLE} locks the records it reads, even in {READ_COMMITTED}; "
            f"{CREATE_SELECT} does so in {REPEATABLE_READ}, not in {READ_COMMITTED}",
            f"{SET_VARIABLE} and {CREATE_SELECT} do not lock the records they read as published",
            f"which locks {SET_VARIABLE} and {CREATE_SELECT} take",
        ),
        f"without a record lock in {READ_COMMITTED}: {listed(without)}",
    ]
