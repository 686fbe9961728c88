"""The load on a running cluster, and what is measured while it runs.

In: a cluster, a point and seconds. Out: the tables of one run: its result, its intervals, CPU and
memory of every process, CPU of every NDB thread. It never decides what a failed run means.
"""
