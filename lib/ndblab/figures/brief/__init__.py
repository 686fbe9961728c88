"""Figures 1 to 9 of the brief, drawn from a dataset or a plan beside what was published."""
