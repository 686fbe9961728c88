"""The queries of TPC-H: what pushed joins gain.

In: tables of a dataset. Out: one row per query. It judges no claim.
"""
