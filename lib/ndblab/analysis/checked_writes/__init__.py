"""What the checked writes say: were any lost, and what did clients see?

In: the history, copies, counters and events of runs. Out: findings on every write; gaps, retries
and clients that gave up. Pure.
"""
