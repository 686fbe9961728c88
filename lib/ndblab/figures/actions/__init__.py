"""Figures of runs that end by themselves: dumps, and the locks of reads."""
