"""Which reads lock, in words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SELECT_INTO,
    SET_VARIABLE,
)
from ndblab.experiments.locking_reads import analysis as locks
from ndblab.formatting import listed
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause


@answers("locking-reads")
def locking(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which statements take record locks, and which take none in READ COMMITTED."""
    without = locks.without(dataset.locks, READ_COMMITTED)
    return [
        Clause(
            "L-uservar",
            f"{SET_VARIABLE} locked the records it read, even in {READ_COMMITTED}; "
            f"{CREATE_SELECT} did so in {REPEATABLE_READ}, not in {READ_COMMITTED}",
            f"{SET_VARIABLE} and {CREATE_SELECT} do not lock the records they read as published",
            f"which locks {SET_VARIABLE} and {CREATE_SELECT} take",
        ),
        f"in {READ_COMMITTED} these locked no record they read: {listed(without)}",
        *([Advice(f"Read into a variable with {SELECT_INTO}")] if SELECT_INTO in without else []),
    ]
