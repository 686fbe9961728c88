"""The queries of TPC-H in MySQL's dialect, and how two results of one differ.

The substitution parameters are those that the specification validates results with (clause 2.4),
but for brand and container of query 17: at a scale factor of 0.01 no part has those.

MySQL computes sums and averages of DECIMAL columns exactly, whatever the engine and the order of
the rows. So results must be equal to the last digit, where the specification (clause 2.1.3.5) would
allow a tolerance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

Rows = list[list[str | None]]
NUMBERS = range(1, 23)
_FOLDER = Path(__file__).with_name("queries")
_ORDER = re.compile(r"ORDER BY ([\w, ]+?)(?:\s+LIMIT \d+)?\s*$")


@dataclass(frozen=True)
class Query:
    """One query; `keys` are the columns that order its rows."""

    number: int
    sql: str
    keys: tuple[str, ...]


def read(number: int, scale: float) -> Query:
    """Return a query for tables of a scale factor.

    Only query 11 depends on it. Its fraction is written as a decimal number, since MySQL computes
    exactly with those alone.
    """
    text = (_FOLDER / f"q{number:02d}.sql").read_text().strip()
    sql = text.replace("{fraction}", f"{0.0001 / scale:.10f}")
    order = _ORDER.search(sql)
    keys = tuple(key.split()[0] for key in order[1].split(",")) if order else ()
    return Query(number, sql, keys)


def as_text(rows: Iterable[Sequence[object]]) -> Rows:
    """Return rows as text, as JSON can hold them; NULL is None."""
    return [[None if value is None else str(value) for value in row] for row in rows]


def difference(query: Query, columns: Sequence[str], rows: Rows, expected: Rows) -> str:
    """Say how a result differs from the expected one; nothing if it does not.

    Rows that the ORDER BY leaves equal may change places, and a LIMIT that is reached may cut off
    any of the last ones.
    """
    if rows == expected:
        return ""
    if len(rows) != len(expected):
        return f"{len(rows)} rows instead of {len(expected)}"
    places = [columns.index(key) for key in query.keys]
    ordered, wanted = ([[row[i] for i in places] for row in result] for result in (rows, expected))
    for number, (key, wanted_key) in enumerate(zip(ordered, wanted, strict=True), 1):
        if key != wanted_key:
            return f"row {number} is {_words(rows[number - 1])}, not {_words(expected[number - 1])}"
    is_full = query.sql.endswith(f"LIMIT {len(expected)}")
    cut = wanted[-1] if is_full else None
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
