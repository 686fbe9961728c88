"""What runs that end by themselves found: dumps, and the locks of reads.

In: the tables of a dataset. Out: time, size and compression of dumps; locks by statement and
isolation level. Pure.
"""
