"""The answers about runs that end by themselves: dumps, and the locks of reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.analysis.actions import dumps, locks
from ndblab.analysis.formatting import listed, plain
from ndblab.claims.answers.clause import Clause
from ndblab.claims.answers.registry import answers
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
        f"{row.tool} takes {plain(row.duration_s)} s for {plain(row.content_mb)} MB"
        if row.compression == UNCOMPRESSED
        else f"with {row.compression} {plain(row.duration_s)} s for {100 / row.ratio:.0f} % of "
        "that size"
        for row in found.itertuples()
    ]
    known = "the published times and ratios of another machine"
    return ["; ".join(words), Clause("M-zstd", f"{known} hold", f"{known} do not hold", known)]


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
