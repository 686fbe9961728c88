"""The experiments: a question with its sweep, variants, figures and claims, and its measurement.

`claims` judges; here a verdict only ends or prolongs a measurement.
"""
