"""The fault campaign: random faults against the lab and its cluster, each checked for damage.

In: a seed and a number of faults. Out: a table that says for each kind of fault whether anything was
lost, damaged or left behind.
"""
