"""The user's own comparisons, presented after they were measured: history, pages, notebooks.

The package reads datasets that `comparing` has left; only `watch` measures.
"""
