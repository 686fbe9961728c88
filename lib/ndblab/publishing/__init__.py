"""Notebooks, pictures, the report and the README's verdicts, made from datasets.

In: experiments and where their data come from. Out: executed notebooks, figures as files, HTML. It
brings the other packages together and computes nothing itself.
"""
