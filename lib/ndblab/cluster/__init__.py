"""A real NDB Cluster, from nothing to ready and back to nothing.

In: a `Plan` and the binaries. Out: a running cluster, observed to be ready; afterwards no process,
port, socket or memory segment is left. It plans nothing and measures nothing.
"""
