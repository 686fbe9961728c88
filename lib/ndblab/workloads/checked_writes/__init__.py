"""Checked writes: the load generator whose every write can be verified afterwards.

In: a cluster and a `Job`. Out: the history of operations as the clients saw them, and the rows that
each data node holds afterwards. It judges neither: `analysis.checked_writes` compares the two.

client     the program that runs the clients
generator  starts and stops it
tables     creates its tables, and reads them from each data node
metrics    throughput and latency from a history
"""
