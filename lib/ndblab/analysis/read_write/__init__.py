"""What OLTP read/write and its variations amount to.

In: tables of a dataset. Out: tables of rates, costs and ratios. It decides nothing.

lookups     queries that look up several keys, counted by their keys
variations  the runs of each question apart, and the ratios of contrasts
"""
