"""Faults, injected into a running cluster under load.

In: a scenario (`planning.fault`): what is done to which node, host or link, and when. Out: the
tables of one run with it. What the fault did to the service is computed later, from the dataset
(`analysis.checked_writes`).
"""
