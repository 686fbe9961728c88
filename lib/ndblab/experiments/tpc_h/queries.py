"""The queries of TPC-H in MySQL's dialect.

The substitution parameters are those that the specification validates results with (clause 2.4),
but for brand and container of query 17: at a scale factor of 0.01 no part has those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

NUMBERS = range(1, 23)
_FOLDER = Path(__file__).with_name("queries")
_ORDER = re.compile(r"ORDER BY ([\w, ]+?)(?:\s+LIMIT \d+)?\s*$")


@dataclass(frozen=True)
class Query:
    """One query; `keys` are the columns that order its rows, `limited` says if it has a LIMIT."""

    number: int
    sql: str
    keys: tuple[str, ...]
    limited: bool


def read(number: int, scale: float) -> Query:
    """Return a query for tables of a scale factor.

    Only query 11 depends on it. Its fraction is written as a decimal number, since MySQL computes
    exactly with those alone.
    """
    text = (_FOLDER / f"q{number:02d}.sql").read_text().strip()
    sql = text.replace("{fraction}", f"{0.0001 / scale:.10f}")
    order = _ORDER.search(sql)
    if order is None:
        return Query(number, sql, (), False)
    keys = tuple(key.split()[0] for key in order[1].split(","))
    return Query(number, sql, keys, "LIMIT" in order[0])
