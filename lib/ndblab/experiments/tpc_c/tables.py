"""The tables that only datasets of this experiment have."""

from __future__ import annotations

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.experiments.tpc_c import TRANSACTIONS

SCHEMAS: dict[str, Schema] = {
    "transactions": Schema(
        "Transactions of TPC-C by kind, warm-up and end included; p95 as coarse as go-tpc has it",
        {
            "run_id": column.text(),
            "transaction": column.one_of(TRANSACTIONS),
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
