"""Workloads: their names, the roles of their processes, and the words of their tables.

In: nothing, or a seed, a client and an operation's number. Out: constants and the value of a write,
shared by the load and the analysis of its data. It imports next to nothing, so that the clients of
checked writes start fast. Pure.
"""

from __future__ import annotations

import hashlib

POINT_SELECT, READ_WRITE = "oltp_point_select", "oltp_read_write"
"""Scripts of sysbench, as is every workload without an entry in `workloads.registry`."""
FILTERED, IN_LISTS = "oltp_read_write_filtered", "oltp_in_lists"
"""Scripts of the lab for sysbench: read/write whose range scans return about one row, and key
lookups by IN lists."""
TRANSACTION_QUERIES = 20
"""Statements of a read/write transaction, filtered or not, BEGIN and COMMIT included."""
READ_ONLY, TRANSACTION_LOOKUPS = "oltp_read_only", 10
"""A script of sysbench, and the key lookups of its transaction, all it has without range scans."""
IN_KEYS = {"in-1": 1, "in-10": 10, "in-100": 100}
"""Keys in each list of `IN_LISTS`, by the name of the variant."""
CHECKED_WRITES = "checked_writes"
DUMP, LOCKING_READS = "dump", "locking_reads"
ACTIONS = (DUMP, LOCKING_READS)
"""Workloads whose runs have neither queries nor a rate."""
NDB_API = "ndb_api"
"""Key lookups by flexAsynch, which asks the data nodes without a MySQL server."""
AT_ONCE = {"ndb-api": 1, "ndb-api-32": 32}
"""Lookups that a thread of flexAsynch has under way at once, by the name of the variant."""
BULK_LOAD = "bulk_load"
"""The rows that it loads count as its queries."""
ENDING = (*ACTIONS, BULK_LOAD)
"""Workloads that end by themselves. The seconds of a profile are how long one should take."""
TPC_H = "tpc_h_q"
"""Begins the name of a query of TPC-H as a workload: "tpc_h_q05"."""
WRONG_RESULT = "another result than InnoDB"
"""In the status of a run of such a query that is wrong."""
TPC_C = "tpc_c"
TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
"""Kinds of transactions of TPC-C, as go-tpc names them."""
INCONSISTENT = "inconsistent rows, condition"
"""Begins the status of a run that left rows which violate a condition of the specification."""

SYSBENCH, CLIENT = "sysbench", "client"
CLIENT_ROLES = (SYSBENCH, CLIENT)
"""Roles of a load generator's process in the table `processes`. New generators use "client";
sysbench keeps the role that recorded datasets give it."""

OVERRAN = "overran"
"""Begins the status of a run that took longer than asked (`dataset.overrun`)."""

READ, WRITE = "read", "write"
"""Kinds of operations of checked writes."""
OK, FAILED, UNKNOWN, WRONG = "ok", "failed", "unknown", "wrong"
GIVEN_UP = (FAILED, UNKNOWN)
"""Their outcomes: answered correctly; given up and certainly not applied; given up after an
unanswered COMMIT, so that it may have been applied; a read that missed acknowledged data."""

READ_COMMITTED, REPEATABLE_READ = "READ COMMITTED", "REPEATABLE READ"
ISOLATIONS = (READ_COMMITTED, REPEATABLE_READ, "SERIALIZABLE")
SET_VARIABLE, CREATE_SELECT = "SET @v = (SELECT ...)", "CREATE TABLE ... SELECT"
PLAIN_SELECT, SELECT_INTO = "SELECT ...", "SELECT ... INTO @v"
RUNNING, HELD = "running", "held"
"""When the locks of a statement are read: while it reads its last row; after its end, before its
transaction ends."""

UNCOMPRESSED, ZSTD, GZIP = COMPRESSIONS = ("none", "zstd", "gzip")
MYSQLDUMP, MYSQL_SHELL = "mysqldump", "mysqlsh"
"""Programs that dump."""

LOAD_DATA, INSERTS, BY_SYSBENCH, NDB_IMPORT, LOAD_LOCAL = LOADERS = (
    "load-data", "inserts", "sysbench", "ndb-import", "load-data-local",
)  # fmt: skip
"""How rows are loaded: LOAD DATA, INSERT of many rows, `sysbench prepare`, ndb_import, LOAD DATA
LOCAL."""


def is_good(status: object) -> bool:
    """Return whether a run of this status is averaged with others.

    >>> is_good("ok"), is_good("overran: 5.61 s for 4 s"), is_good("sysbench exited 1")
    (True, True, False)
    """
    return status == OK or overran(status)


def overran(status: object) -> bool:
    """Return whether a run of this status overran, and its rate is that of all clients at work."""
    return str(status).startswith(f"{OVERRAN}: ")


def is_sysbench(name: str) -> bool:
    """Return whether a workload is a script of sysbench, or of the lab for sysbench.

    >>> is_sysbench("oltp_point_select"), is_sysbench("tpc_h_q05")
    (True, False)
    """
    others = (CHECKED_WRITES, NDB_API, TPC_C, *ENDING)
    return name not in others and not name.startswith(TPC_H)


def of_query(number: int) -> str:
    """Return the workload that executes a query of TPC-H.

    >>> of_query(5)
    'tpc_h_q05'
    """
    return f"{TPC_H}{number:02d}"


def query_number(name: str) -> int:
    """Return the number of the query that a workload executes.

    >>> query_number("tpc_h_q05")
    5
    """
    return int(name.removeprefix(TPC_H))


def written_value(seed: object, client: int, seq: int) -> str:
    """Return the value that a client of checked writes writes with an operation, unlike any other.

    >>> written_value(1, 1, 0) == written_value("1", 1, 0) != written_value("1", 1, 1)
    True
    """
    return hashlib.md5(f"{seed}/{client}/{seq}".encode(), usedforsecurity=False).hexdigest()
