"""The tables that only datasets of this experiment have, and how their rows are counted.

How local a load's reads were, counters of the MySQL servers' NDB API tell. A read is local if the
data node that coordinates the transaction holds the row itself. With one node group and
READ_BACKUP, NDB's default, every node holds every row, so that only reads that lock go elsewhere:
to the primary replica.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.experiments.tpc_c import TRANSACTIONS

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

    from ndblab.experiments.tpc_c.go_tpc import Outcome

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
COUNTERS = {
    "reads": ("Ndb_api_read_row_count",),
    "local_reads": ("Ndb_api_trans_local_read_row_count",),
    "scans": ("Ndb_api_range_scan_count", "Ndb_api_table_scan_count"),
    "pruned_scans": ("Ndb_api_pruned_scan_count",),
    "transactions": ("Ndb_api_trans_start_count",),
}
"""Global status variables of a MySQL server, by column."""
PROBES = 10
_HINTED = "Ndb_trans_hint_count_session"
_PROBE = """SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse
 WHERE w_id = 1 AND c_w_id = w_id AND c_d_id = {} AND c_id = 1"""


def of(outcome: Outcome, local: Mapping[str, int]) -> dict[str, pd.DataFrame]:
    """Return the tables of a load; `local` has the columns of `locality`."""
    kinds = [{"transaction": name, **vars(kind)} for name, kind in outcome.kinds.items()]
    aborts = [
        {"error": code, "statement": statement, "transactions": number}
        for (code, statement), number in sorted(outcome.errors.items())
    ]
    made = {"transactions": pd.DataFrame(kinds), "locality": pd.DataFrame([dict(local)])}
    return made | ({"aborts": pd.DataFrame(aborts)} if aborts else {})


def counted(cursors: Iterable[Cursor]) -> dict[str, int]:
    """Add up the counters of MySQL servers."""
    total = dict.fromkeys(COUNTERS, 0)
    for cursor in cursors:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Ndb\\_api\\_%'")
        status = dict(cursor.fetchall())
        for name, variables in COUNTERS.items():
            total[name] += sum(int(status[variable]) for variable in variables)
    return total


def probed(cursor: Cursor) -> dict[str, int]:
    """Begin transactions as New-Order does; count those with a hint on where to begin.

    The counter belongs to a session, and the sessions of go-tpc are over.
    """
    before = _hinted(cursor)
    for number in range(1, PROBES + 1):
        cursor.execute(_PROBE.format(number))
        cursor.fetchall()
    return {"probes": PROBES, "hinted": _hinted(cursor) - before}


def _hinted(cursor: Cursor) -> int:
    cursor.execute(f"SHOW SESSION STATUS LIKE '{_HINTED}'")
    return int(dict(cursor.fetchall())[_HINTED])
