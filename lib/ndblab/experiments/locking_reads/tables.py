"""The tables that only datasets of this experiment have."""

from __future__ import annotations

from dataclasses import replace

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.experiments.locking_reads import HELD, ISOLATIONS, LOCKING_READS, RUNNING

_OF_A_LOCK = replace(column.text(), empty=True)
"""As in performance_schema.data_locks. Empty are the index of a lock on the whole table, and all of
these columns in the one row, with 0 locks, of a statement that holds none."""
WITHOUT_QUERIES = (LOCKING_READS,)
"""Workloads whose runs have neither queries nor a rate."""

SCHEMAS: dict[str, Schema] = {
    "locks": Schema(
        "The InnoDB locks that a statement holds on the table it reads, by kind",
        {
            "run_id": column.text(),
            "statement": column.text(),
            "isolation": column.one_of(ISOLATIONS),
            "moment": column.one_of((RUNNING, HELD)),
            "index": _OF_A_LOCK,
            "lock_type": _OF_A_LOCK,
            "lock_mode": _OF_A_LOCK,
            "lock_status": _OF_A_LOCK,
            "locks": column.whole(0),
        },
        optional=True,
    ),
}
