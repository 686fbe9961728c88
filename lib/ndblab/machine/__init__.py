"""What a host is, and what the lab may do on it.

In: /proc, /sys and the lab's requests. Out: a `Host` (CPUs, NUMA nodes, memory, limits), processes
that are started, found and ended, and control groups that limit their CPUs. It knows nothing of NDB.
"""
