"""Verdicts on claims, by dataset: computed, and written for a terminal.

In: datasets. Out: tables of verdicts with the columns of `claims.judge`, or text.
"""

from __future__ import annotations

import io
import textwrap

import pandas as pd

from ndblab import dataset
from ndblab.analysis.formatting import plain
from ndblab.claims import judge, publication
from ndblab.experiments import recorded
from ndblab.experiments.catalogue import find
from ndblab.machine import host

_SHOWN = ["id", "verdict", "published", "measured", "unit"]
_NUMBERS = ["measured", "low", "high"]


def of(data: dataset.Dataset) -> pd.DataFrame:
    """Judge the claims of a dataset's experiment."""
    published = publication.claims()
    prefixes = find(data.experiment).claims
    ids = [claim.id for claim in published if claim.id.startswith(prefixes)]
    return judge.judge(data, ids, published)


def every() -> pd.DataFrame:
    """Judge all claims by the recorded datasets."""
    published = publication.claims()
    tables = [of(data) for data in recorded.every()]
    judged = {name for table in tables for name in table["id"]}
    tables.append(judge.unmeasured([c for c in published if c.id not in judged]))
    order = {claim.id: i for i, claim in enumerate(published)}
    together = pd.concat([t for t in tables if len(t)], ignore_index=True)
    return together.sort_values("id", key=lambda ids: ids.map(order), ignore_index=True)


def with_statements(table: pd.DataFrame) -> pd.DataFrame:
    """Add the statement of each claim, as its second column."""
    statements = pd.DataFrame(publication.claims())[["id", "statement"]]
    return statements.merge(table, on="id", how="right")


def from_csv(text: str) -> pd.DataFrame:
    """Read the verdicts that a notebook's page holds."""
    empty = dict.fromkeys(_NUMBERS, "")
    words = dict.fromkeys(set(judge.COLUMNS) - set(_NUMBERS), str)
    return pd.read_csv(
        io.StringIO(text), dtype=words, keep_default_na=False, na_values=empty, index_col=False
    )


def by_dataset(table: pd.DataFrame, datasets: list[dataset.Dataset]) -> str:
    """Write verdicts dataset by dataset, each below its host and time."""
    parts = []
    for data in datasets:
        machine = host.from_dict(dict(data.host)).describe()
        head = f"{data.id}, {data.manifest['started_utc']}, budget {data.budget}\n{machine}"
        parts.append(f"{head}\n\n{as_text(table[table['dataset'] == data.id])}")
    rest = table[table["dataset"] == ""]
    parts += [f"Without a dataset\n\n{as_text(rest)}"] if len(rest) else []
    return "\n\n\n".join(parts)


def as_text(table: pd.DataFrame) -> str:
    """Write verdicts as a table for a terminal, each with its reason below."""
    shown = table.assign(measured=[_interval(row) for row in table.itertuples()])
    columns = {name: [name, *shown[name].astype(str)] for name in _SHOWN}
    widths = {name: max(map(len, cells)) for name, cells in columns.items()}
    lines = []
    for row, reason in zip(
        zip(*columns.values(), strict=True), ["", *shown["reason"]], strict=True
    ):
        cells = (cell.ljust(widths[name]) for name, cell in zip(_SHOWN, row, strict=True))
        lines.append("  ".join(cells).rstrip())
        lines += textwrap.wrap(reason, 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _interval(row) -> str:
    if row.measured != row.measured:
        return "-"
    if row.low != row.low:
        return plain(row.measured)
    return f"{plain(row.measured)} ({plain(row.low)} to {plain(row.high)})"
