"""Loads of TPC-C: what they committed, why transactions failed, how local their reads were.

In: tables of a dataset. Out: one row per point, per kind of transaction, per contrast. It judges no
claim.
"""
