"""What OLTP read/write and its variations amount to.

In: tables of a dataset. Out: tables of rates, costs and ratios. It decides nothing.

interfaces  key lookups through SQL and through the NDB API, and what they cost
lookups     queries that look up several keys, counted by their keys
variations  the runs of each question apart, and the ratios of contrasts
"""
