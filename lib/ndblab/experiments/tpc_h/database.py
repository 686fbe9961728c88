"""The tables of TPC-H: their statements, and their rows at a scale factor."""

from __future__ import annotations

import re
from pathlib import Path

ROWS_AT_1 = {
    "region": 5,
    "nation": 25,
    "supplier": 10_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
"""Rows at scale factor 1 (specification, clause 4.2.5)."""
_FIXED = ("region", "nation")
_ROUGH, _ROUGHLY = "lineitem", 0.1
"""An order has 1 to 7 items at random."""
REPEATED, _REPEATS_BELOW = "partsupp", 0.01
"""Below this scale factor, suppliers are so few that the rule of the specification (clause 4.2.3)
gives some parts the same supplier twice. Such rows are kept once."""
_SCHEMA = Path(__file__).with_name("schema.sql")


def scale_factor(rows: int) -> float:
    """Return the scale factor for about this many rows in all tables, to two significant digits.

    >>> scale_factor(8 * 10_830)
    0.01
    """
    return float(f"{rows / sum(ROWS_AT_1.values()):.2g}")


def statements(engine: str, options: str = "") -> list[str]:
    """Return the statements that create the tables, each ending in `options`."""
    text = re.sub(r"^--.*$", "", _SCHEMA.read_text(), flags=re.MULTILINE)
    parts = (statement.strip() for statement in text.split(";"))
    return [f"{statement} ENGINE={engine} {options}".strip() for statement in parts if statement]


def wrong_count(table: str, rows: int, scale: float) -> str:
    """Say how many rows a table should have if it has another number; else nothing."""
    wanted = _generated(table, scale)
    slack = _ROUGHLY * wanted if table == _ROUGH else 0.5
    if table == REPEATED and scale < _REPEATS_BELOW:
        slack = wanted / 2
    return "" if abs(rows - wanted) <= slack else f"{wanted} in {table}"


def _generated(table: str, scale: float) -> int:
    """Return how many rows the generator makes: it cuts off fractions, as of 57999.99."""
    if table == REPEATED:
        return 4 * _generated("part", scale)
    return int(ROWS_AT_1[table] * (1 if table in _FIXED else scale))
