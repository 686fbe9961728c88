"""How one cluster scales with clients, MySQL servers and threads: Figures 4 to 9 of the brief."""

THREADS_OF_32 = "threads-of-32"
"""Name of the variant whose data nodes have the threads of the brief's 32 CPUs each."""
SMALL_SERVERS = "small-servers"
"""Name of the variant whose servers have smaller quotas: 16 then do not use up the SQL side's."""
WARM_QUERIES = 100
"""Queries of a client after which the first ones on its new connection hardly count.

With 2 to 20 queries a client, a new connection took 0.9 to 1.4 ms of CPU in mysqld: 4 to 7 times as
much as a later point select (slices of `overload`, three recordings of 2026-11).
"""
