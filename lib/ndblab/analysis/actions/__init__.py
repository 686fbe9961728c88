"""What runs that end by themselves found: dumps, bulk loads, and the locks of reads.

In: the tables of a dataset. Out: time, size and compression of dumps; rates of loads and the CPU
time of a row; locks by statement and isolation level. Pure.
"""
