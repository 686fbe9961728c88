"""Deciding: which contrast is measured next, and for how long.

In: contrasts, a dataset's writer, functions that measure a block and judge a dataset. Out: what is
decided and what is open; on the way a board shows it. Only `loop` acts; the choice and the board's
text are pure.
"""
