"""The tables of the experiments on the brief's neighbours, which only those have.

In: nothing. Out: a `Schema` for each table. Pure.
"""

from __future__ import annotations

from dataclasses import replace

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.planning import workload

_OF_A_LOCK = replace(column.text(), empty=True)
"""As performance_schema.data_locks has it; empty where there is none: of a lock of the whole table
the index, and everything in the one row, with 0 locks, of a statement that holds none."""

TABLES = {
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
