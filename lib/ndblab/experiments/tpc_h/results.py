"""Results of a query as text, and how two of them differ.

MySQL computes sums and averages of DECIMAL columns exactly, whatever the engine and the order of
the rows. So results must be equal to the last digit, where the specification (clause 2.1.3.5) would
allow a tolerance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.experiments.tpc_h.queries import Query

Rows = list[list[str | None]]


def as_text(rows: Iterable[Sequence[object]]) -> Rows:
    """Return rows as text, as JSON can hold them; NULL is None."""
    return [[None if value is None else str(value) for value in row] for row in rows]


def difference(query: Query, columns: Sequence[str], rows: Rows, expected: Rows) -> str:
    """Say in what a result differs from the expected one; nothing if it does not.

    Rows that the ORDER BY leaves equal may change places, and a LIMIT may cut either off.
    """
    if rows == expected:
        return ""
    if len(rows) != len(expected):
        return f"{len(rows)} rows instead of {len(expected)}"
    places = [columns.index(key) for key in query.keys]
    ordered, wanted = ([[row[i] for i in places] for row in each] for each in (rows, expected))
    for number, (found, right) in enumerate(zip(ordered, wanted, strict=True), 1):
        if found != right:
            return f"row {number} is {_words(rows[number - 1])}, not {_words(expected[number - 1])}"
    cut = wanted[-1] if query.limited else None
    theirs = Counter(tuple(row) for row, key in zip(expected, wanted, strict=True) if key != cut)
    for number, (row, key) in enumerate(zip(rows, ordered, strict=True), 1):
        if key != cut and not theirs[tuple(row)]:
            return f"row {number} is {_words(row)}, which should not be there"
        theirs[tuple(row)] -= 1
    return ""


def is_empty(rows: Rows) -> bool:
    """Return whether a result says nothing: it has no row, or NULL alone."""
    return all(value is None for row in rows for value in row)


def _words(row: Sequence[str | None]) -> str:
    return f"({', '.join('NULL' if value is None else value for value in row)})"
