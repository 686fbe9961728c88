"""Faults as data, injected into a running cluster under load.

In: a scenario: what is done to which node, and when. Out: the tables of one run through it. What the
fault did to the service is computed later, from the dataset (`analysis.outage`).
"""
