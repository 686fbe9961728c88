"""Names that all workloads share: the usual scripts of sysbench, and the roles of clients."""

from __future__ import annotations

POINT_SELECT, READ_WRITE = "oltp_point_select", "oltp_read_write"
"""Scripts of sysbench, as is every workload that no experiment has a load generator for."""
READ_ONLY, TRANSACTION_LOOKUPS = "oltp_read_only", 10
"""A script of sysbench, and the key lookups per transaction, which is only these without range
scans."""
SYSBENCH, CLIENT = "sysbench", "client"
CLIENT_ROLES = (SYSBENCH, CLIENT)
"""Roles of a load generator's process in the table `processes`. New generators use "client";
sysbench keeps the role that recorded datasets give it."""
OWN, SQL, LUA, LOG, PROGRAM = "own_", "sql", "lua", "log", "program"
"""How the name of a user's own workload begins, and the kinds it may be."""
OK, OVERRAN = "ok", "overran"
"""The status of a run that ended as it should, and the beginning of the status of a run that took
longer than asked (`dataset.overrun`). Any other status is the reason why a run failed."""
ERRED = (
    "errors:", "reconnects:", "no transaction ended", "sysbench exited", "the load ended with",
)  # fmt: skip
"""How the status of a run begins that what is measured made fail, not the host."""
WAITED = "the clients of the other side did not connect"
AGAIN = "its block was measured again"
"""The status of a slice whose clients waited in vain for their turns: the other side has failed."""


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
    """Return whether a workload is a script for sysbench, by its name.

    >>> is_sysbench("oltp_point_select"), is_sysbench("own_sql_0123456789ab")
    (True, True)
    >>> is_sysbench("tpc_h_q05"), is_sysbench("own_program_0123456789ab")
    (False, False)
    """
    return name.startswith(("oltp_", *(f"{OWN}{kind}_" for kind in (SQL, LUA, LOG))))
