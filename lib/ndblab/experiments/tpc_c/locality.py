"""How local the reads of a load were, by the counters of the MySQL servers' NDB API.

A read is local if the data node that coordinates the transaction holds the row itself. With one
node group and READ_BACKUP, NDB's default, every node holds every row, so that only reads that lock
go elsewhere: to the primary replica.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pymysql.cursors import Cursor

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


def counted(cursors: Iterable[Cursor]) -> dict[str, int]:
    """Add up the counters of MySQL servers."""
    total = dict.fromkeys(COUNTERS, 0)
    for cursor in cursors:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Ndb\\_api\\_%'")
        status = dict(cursor.fetchall())
        for column, variables in COUNTERS.items():
            total[column] += sum(int(status[variable]) for variable in variables)
    return total


def between(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return what was counted in between."""
    return {column: after[column] - before[column] for column in COUNTERS}


def probed(cursor: Cursor) -> dict[str, int]:
    """Begin transactions as New-Order does; count those that NDB was told where to begin.

    That counter is one of a session, and those of go-tpc are over.
    """
    before = _hinted(cursor)
    for number in range(1, PROBES + 1):
        cursor.execute(_PROBE.format(number))
        cursor.fetchall()
    return {"probes": PROBES, "hinted": _hinted(cursor) - before}


def _hinted(cursor: Cursor) -> int:
    cursor.execute(f"SHOW SESSION STATUS LIKE '{_HINTED}'")
    return int(dict(cursor.fetchall())[_HINTED])
