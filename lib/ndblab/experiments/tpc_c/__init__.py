"""TPC-C on NDB by go-tpc, with tables that the lab creates, fills and checks.

In: a cluster and a `Job`: its tables are warehouses, the database in its options says how they are
partitioned. Out: committed and aborted transactions by kind, how local their reads were; a violated
consistency condition of the specification, or a go-tpc that ends early, is the status of a failed
run. It never compares two runs.

schema.sql   the tables
tables       their statements, partitioned in either way; how many rows they have
loading      fills them; a program
rows         the statements that make their rows
output       reads what go-tpc prints
consistency  the conditions of the specification
locality     how local reads are, from the counters of the MySQL servers
generator    starts go-tpc, and puts a report together
"""
