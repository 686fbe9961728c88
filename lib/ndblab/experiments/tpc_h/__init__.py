"""The 22 queries of TPC-H on NDB, each checked against InnoDB in the same MySQL server.

In: a cluster and a `Job`: its workload names a query, its rows the scale factor. Out: how often the
query was executed and how long that took, what of it NDB executed as pushed joins; a result that
differs from InnoDB's is the status of a failed run. It never compares times.

queries/    the queries, with the substitution parameters of the specification's validation
queries     reads them
schema.sql  the tables
tables      their rows at a scale factor
data        generates their rows
loading     fills the tables of both engines, and asks InnoDB for all results; a program
results     compares two results
session     connections, names of databases
client      executes a query again and again; a program
generator   starts both programs
"""
