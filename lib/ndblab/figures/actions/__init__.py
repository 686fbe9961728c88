"""Figures of runs that end by themselves: dumps, bulk loads, and the locks of reads."""
