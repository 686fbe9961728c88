"""The best configuration for a host: proposed, tried against the baseline, and confirmed.

`search` decides what is tried next, from what has been found so far; `executing` carries it out
with the designs of `comparing`; `outcome` says what may be believed. A trial is always a contrast.
"""
