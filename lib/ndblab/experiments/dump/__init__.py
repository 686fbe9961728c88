"""Dumps: the load generator that dumps the tables of sysbench, compressed or not.

In: a cluster and a `Job`. Out: how long a dump took and how large it became, once it was read back
and found complete. MySQL Shell dumps where it is on PATH, else mysqldump.

tools      the programs, their versions and commands
contents   what a dump holds, read back from its files
generator  runs one dump
"""
