"""Names that all workloads share: the usual scripts of sysbench, and the roles of clients."""

from __future__ import annotations

POINT_SELECT, READ_WRITE = "oltp_point_select", "oltp_read_write"
"""Scripts of sysbench, as is every workload that no experiment has a load generator for."""
READ_ONLY, TRANSACTION_LOOKUPS = "oltp_read_only", 10
"""A script of sysbench, and the key lookups of its transaction, all it has without range scans."""
SYSBENCH, CLIENT = "sysbench", "client"
CLIENT_ROLES = (SYSBENCH, CLIENT)
"""Roles of a load generator's process in the table `processes`. New generators use "client";
sysbench keeps the role that recorded datasets give it."""
