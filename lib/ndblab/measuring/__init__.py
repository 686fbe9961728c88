"""The experiments: a question with its sweep, variants, figures and claims, and its measurement.

In: a name, a profile and overrides. Out: a dataset, measured on this host; or, as a dry run, every
command that would be run. `claims` judges; here a verdict only ends or prolongs a measurement.
"""
