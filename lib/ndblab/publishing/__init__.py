"""Notebooks, pictures, the report and the README's verdicts, made from datasets.

It brings the other packages together and computes nothing itself.
"""
