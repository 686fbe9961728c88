"""Locks of reads made up for tests; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pandas as pd

import small_runs
from ndblab.experiments.locking_reads import HELD, ISOLATIONS, RUNNING

ROWS = 200
NOTHING = {"queries": float("nan"), "qps": float("nan"), "errors": 0}


def locks(
    held: Mapping[tuple[str, str], str], repeat: int = 1, rows: int = ROWS
) -> dict[str, pd.DataFrame]:
    """Make the tables of one run of locking reads.

    Parameters
    ----------
    held : by statement and isolation level, the mode of the record locks on all rows; those that
        are missing have none.
    """
    name = f"s01_c0001_r{repeat}_locking_reads"
    run = small_runs.tables(name, repeat=repeat, workload="locking_reads", **NOTHING)
    rows_of_locks = []
    for statement, isolation, moment in product(
        dict.fromkeys(statement for statement, _ in held), ISOLATIONS, (RUNNING, HELD)
    ):
        about = (name, statement, isolation, moment)
        if mode := held.get((statement, isolation)):
            rows_of_locks.append((*about, "", "TABLE", "IS", "GRANTED", 1))
            rows_of_locks.append((*about, "k_1", "RECORD", mode, "GRANTED", rows))
        else:
            rows_of_locks.append((*about, "", "", "", "", 0))
    columns = ["run_id", "statement", "isolation", "moment", "index", "lock_type", "lock_mode",
               "lock_status", "locks"]  # fmt: skip
    return {**run, "locks": pd.DataFrame(rows_of_locks, columns=columns)}
