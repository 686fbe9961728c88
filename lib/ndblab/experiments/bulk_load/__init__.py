"""Bulk loads: the load generator that loads the same rows in several ways.

In: a cluster and a `Job`. Out: how long it took until all rows were in empty tables, once they were
read back and found right. A row counts as a query: `qps` is rows per second.

rows       writes the files of rows, once for a cluster; a program
client     loads them by LOAD DATA or INSERT; a program
ways       the command of each way to load, and the tables they load into
generator  runs one load
"""
