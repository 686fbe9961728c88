"""Comparisons of the user's own, told after they were measured: history, pages, notebooks.

It reads datasets that `comparing` has left; only `watch` measures.
"""
