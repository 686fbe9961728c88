"""How many errors a load of the user's own may have: one in a thousand queries."""

from __future__ import annotations

from ndblab.workloads.load_generator import OK

TOLERATED = 0.001
"""Share of queries that may fail. With more, the load is no longer the one that was asked for."""


def status(queries: int, errors: int) -> str:
    """Return "ok", or why a load with this many queries and errors is void.

    >>> status(10_000, 10), status(10_000, 11)
    ('ok', 'errors: 11 of 10000 queries, more than 0.1 %')
    """
    if not queries:
        return "no query was answered"
    if errors > TOLERATED * queries:
        return f"errors: {errors} of {queries} queries, more than {100 * TOLERATED:g} %"
    return OK
