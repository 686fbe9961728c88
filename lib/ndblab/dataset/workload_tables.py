"""The tables that only some experiments have: of checked writes, TPC-H's queries, dumps, locks ...

In: nothing. Out: a `Schema` for each table, for `schema`.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.planning import workload

OUTCOMES = (workload.OK, *workload.GIVEN_UP, workload.WRONG)

_OF_A_LOCK = replace(column.text(), empty=True)
"""As performance_schema.data_locks has it; empty where there is none: of a lock of the whole table
the index, and everything in the one row, with 0 locks, of a statement that holds none."""


def _local_is_a_part(reads: pd.DataFrame) -> pd.Series:
    near = reads["near_bytes"] <= reads["received_bytes"]
    return near & (reads["local_rows"] <= reads["rows"])


SCHEMAS: dict[str, Schema] = {
    "pushed": Schema(
        "What NDB was given as pushed joins in each run or slice of a query of TPC-H",
        {
            "run_id": column.text(),
            "query": column.whole(1),
            "executions": column.whole(1),
            "rows": column.whole(0),
            "tables": column.whole(1),
            "joins": column.whole(0),
            "joined": column.whole(0),
            "defined": column.whole(0),
            "dropped": column.whole(0),
            "executed": column.whole(0),
            "reads": column.whole(0),
            "innodb_ms": column.real(),
        },
        optional=True,
    ),
    "reads": Schema(
        "Rows that each loaded MySQL server read, and bytes that data nodes sent it, in each run",
        {
            "run_id": column.text(),
            "node_id": column.whole(1),
            "rows": column.whole(0),
            "local_rows": column.whole(0),
            "received_bytes": column.whole(0),
            "near_bytes": column.whole(0),
        },
        rule=(_local_is_a_part, "no more local rows than rows, nor near bytes than bytes"),
        optional=True,
    ),
    "history": Schema(
        "Every operation of the checked writes: when, where and how it ended",
        {
            "run_id": column.text(),
            "client": column.whole(1),
            "seq": column.whole(0),
            "kind": column.one_of((workload.READ, workload.WRITE)),
            "first_server": column.whole(1),
            "server": column.whole(1),
            "t_s": column.real(),
            "latency_ms": column.real(),
            "outcome": column.one_of(OUTCOMES),
            "attempts": column.whole(1),
            "error": column.whole(0),
        },
        optional=True,
        packing=column.XZ,
    ),
    "copies": Schema(
        "Every row of the checked writes that each data node held afterwards",
        {
            "run_id": column.text(),
            "replica": column.whole(1),
            "client": column.whole(1),
            "seq": column.whole(0),
            "first_value": replace(column.text(), empty=True),
            "second_value": replace(column.text(), empty=True),
        },
        optional=True,
        packing=column.XZ,
    ),
    "counters": Schema(
        "How many writes of each client each data node counted afterwards",
        {
            "run_id": column.text(),
            "replica": column.whole(1),
            "client": column.whole(1),
            "writes": column.whole(0),
        },
        optional=True,
    ),
    "dumps": Schema(
        "What a dump wrote, read back and counted; one row per run",
        {
            "run_id": column.text(),
            "tool": column.one_of((workload.MYSQLDUMP, workload.MYSQL_SHELL)),
            "compression": column.one_of(workload.COMPRESSIONS),
            "tables": column.whole(1),
            "rows": column.whole(1),
            "content_bytes": column.whole(1),
            "written_bytes": column.whole(1),
        },
        optional=True,
    ),
    "locks": Schema(
        "The InnoDB locks that a statement holds on the table it reads, by kind",
        {
            "run_id": column.text(),
            "statement": column.text(),
            "isolation": column.one_of(workload.ISOLATIONS),
            "moment": column.one_of((workload.RUNNING, workload.HELD)),
            "index": _OF_A_LOCK,
            "lock_type": _OF_A_LOCK,
            "lock_mode": _OF_A_LOCK,
            "lock_status": _OF_A_LOCK,
            "locks": column.whole(0),
        },
        optional=True,
    ),
    "transactions": Schema(
        "Transactions of TPC-C by kind, warm-up and end included; p95 as coarse as go-tpc has it",
        {
            "run_id": column.text(),
            "transaction": column.one_of(workload.TRANSACTIONS),
            "committed": column.whole(0),
            "failed": column.whole(0),
            "latency_avg_ms": column.real(empty=True),
            "latency_p95_ms": column.real(empty=True),
        },
        optional=True,
    ),
    "aborts": Schema(
        "Why transactions of TPC-C failed: MySQL's error, and the statement that met it",
        {
            "run_id": column.text(),
            "error": column.whole(1),
            "statement": column.text(),
            "transactions": column.whole(1),
        },
        optional=True,
    ),
    "locality": Schema(
        "Rows read in a load of TPC-C and scans, in all and by the data node asked or by one",
        {
            "run_id": column.text(),
            "reads": column.whole(0),
            "local_reads": column.whole(0),
            "scans": column.whole(0),
            "pruned_scans": column.whole(0),
            "transactions": column.whole(0),
            "probes": column.whole(0),
            "hinted": column.whole(0),
        },
        optional=True,
    ),
}
