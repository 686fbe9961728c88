"""Locks of reads: how many record locks a statement holds on the table it reads.

Locks of the whole table (IS, IX), which nearly every statement takes, are not counted.
"""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.locking_reads import ISOLATIONS, RUNNING

RECORD, NONE = "RECORD", "none"
_KIND = ["statement", "isolation", "moment", "index", "lock_mode"]


def shared(locks: pd.DataFrame, statement: str, isolation: str) -> pd.Series:
    """Return the number of shared record locks of a statement by run id.

    MissingData if its locks were not read.
    """
    own = (locks["statement"] == statement) & (locks["isolation"] == isolation)
    asked = locks[own & (locks["moment"] == RUNNING)]
    if asked.empty:
        raise MissingData(f"no locks of {statement} in {isolation}")
    counts = (asked["lock_type"] == RECORD) & asked["lock_mode"].astype(str).str.startswith("S")
    return asked["locks"].where(counts, 0).groupby(asked["run_id"].astype(str)).sum()


def kinds(locks: pd.DataFrame) -> pd.DataFrame:
    """Return the kinds of record locks that each statement holds.

    Returns
    -------
    `statement`, `isolation`, `moment`, `index`, `lock_mode`, and `least` and `most` locks in any
    run: equal, if runs agree. Statements without record locks have no row.
    """
    records = locks[locks["lock_type"] == RECORD]
    counts = records.groupby(_KIND, sort=False, observed=True)["locks"].agg(["min", "max", "count"])
    everywhere = counts["count"] == locks["run_id"].nunique()
    counts["least"] = counts["min"].where(everywhere, 0).astype(int)
    return counts.rename(columns={"max": "most"})[["least", "most"]].reset_index()


def in_words(kinds: pd.DataFrame, statement: str, isolation: str, moment: str) -> list[str]:
    """Describe each kind of record lock of a statement: "200 S,REC_NOT_GAP on k_1"."""
    own = (kinds["statement"] == statement) & (kinds["isolation"] == isolation)
    rows = kinds[own & (kinds["moment"] == moment)]
    columns = (rows[name] for name in ("least", "most", "lock_mode", "index"))
    return [
        f"{most if least == most else f'{least} to {most}'} {mode} on {index}"
        for least, most, mode, index in zip(*columns, strict=True)
    ]


def table(locks: pd.DataFrame, moment: str) -> pd.DataFrame:
    """Return the record locks of each statement (rows) in each isolation level (columns)."""
    held = kinds(locks)
    rows = []
    for statement in dict.fromkeys(locks["statement"].astype(str)):
        cells = (in_words(held, statement, isolation, moment) for isolation in ISOLATIONS)
        rows.append([statement, *("; ".join(cell) or NONE for cell in cells)])
    return pd.DataFrame(rows, columns=["statement", *ISOLATIONS])


def without(locks: pd.DataFrame, isolation: str) -> list[str]:
    """Return the statements that hold no record lock in an isolation level."""
    cells = table(locks, RUNNING)
    return list(cells.loc[cells[isolation] == NONE, "statement"])
