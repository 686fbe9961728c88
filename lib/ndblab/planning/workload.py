"""Names of workloads, and of the processes that run them, as datasets have them.

In: nothing. Out: constants that both the load and the analysis of its data use. Pure.
"""

from __future__ import annotations

POINT_SELECT, READ_WRITE = "oltp_point_select", "oltp_read_write"
"""Scripts of sysbench. Every workload that is not listed here by another name is one."""
CHECKED_WRITES = "checked_writes"

SYSBENCH, CLIENT = "sysbench", "client"
CLIENT_ROLES = (SYSBENCH, CLIENT)
"""Roles of a load generator's process in the table `processes`. New generators use "client";
sysbench keeps the role that recorded datasets give it."""
