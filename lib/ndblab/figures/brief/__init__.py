"""Figures 1 to 9 of the brief, from a dataset or a plan, with published numbers beside them."""
