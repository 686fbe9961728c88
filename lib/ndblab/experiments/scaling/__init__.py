"""How one cluster scales with clients, MySQL servers and threads: Figures 4 to 9 of the brief."""

THREADS_OF_32 = "threads-of-32"
"""Name of the variant whose data nodes have the threads of the brief's 32 CPUs each."""
SMALL_SERVERS = "small-servers"
"""Name of the variant whose servers have smaller quotas: 16 then do not use up the SQL side's."""
