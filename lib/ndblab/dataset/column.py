"""What a column of a table may hold, and a table of columns; how they are declared."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

PLAIN, GZIP, XZ = PACKINGS = "", ".gz", ".xz"
"""How the file of a table may be packed, by its suffix. xz takes longer than gzip, and makes
smaller files of rows that are much alike."""


@dataclass(frozen=True)
class Column:
    """What a column may hold.

    `dtype` is "str", "int64" or "float64". `expected` says, for an error, what `allows` accepts;
    cells may be empty only with `empty`.
    """

    dtype: str
    allows: Callable[[pd.Series], pd.Series]
    expected: str
    empty: bool = False
    unique: bool = False

    def faults(self, values: pd.Series) -> Iterator[tuple[pd.Series, str]]:
        """Mark the cells that break each rule, with what was expected instead."""
        missing = values.isna()
        if not self.empty:
            yield missing, "a value"
        if self.unique:
            yield values.duplicated(), "a value that no other line has"
        yield ~(self.allows(values) | missing), self.expected


@dataclass(frozen=True)
class Schema:
    """A table: one line on what it holds, its columns in order, and a rule for whole rows.

    Only some experiments have an `optional` table. Its `packing` is one of `PACKINGS`.
    """

    about: str
    columns: Mapping[str, Column]
    rule: tuple[Callable[[pd.DataFrame], pd.Series], str] | None = None
    optional: bool = False
    packing: str = PLAIN


def text() -> Column:
    """Declare text."""
    return Column("str", lambda values: values.notna(), "text")


def one_of(words: tuple[str, ...]) -> Column:
    """Declare one of these words."""
    return Column("str", lambda values: values.isin(words), "one of " + ", ".join(words))


def like(pattern: str, example: str) -> Column:
    """Declare text that matches a pattern."""

    def matches(values: pd.Series) -> pd.Series:
        return values.astype(str).str.match(pattern)

    return Column("str", matches, f"something like {example}")


def whole(least: int) -> Column:
    """Declare whole numbers from `least` up."""
    return Column("int64", lambda values: values >= least, f"{least} or more")


def real(most: float = math.inf, *, least: float = 0.0, empty: bool = False) -> Column:
    """Declare finite numbers from `least` to `most`."""
    limit = "any finite number" if math.isinf(most) else f"{most:g}"
    finite = min(most, sys.float_info.max)
    expected = f"from {least:g} up to {limit}"
    return Column("float64", lambda values: values.between(least, finite), expected, empty)
