"""Designs: what is measured, how often and in which order.

In: an experiment's size. Out: the runs of a sweep, for the curve of a figure; the slices of a
contrast, for a verdict. Pure but for `sweep.perform`, the loop over a sweep.
"""
