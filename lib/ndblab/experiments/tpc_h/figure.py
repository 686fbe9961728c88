"""The queries of TPC-H with pushed joins over the same without, the largest gain first."""

from __future__ import annotations

import textwrap

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.figures import forest
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import in_sentences, listed, plain

_WIDEST = 40


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratio of each query with its interval."""
    table = _table(tables)
    forest.draw(figure.subplots(), table, "Times as fast with pushed joins, ratio")
    notes = [
        "Whiskers: repeated 95 % interval of the blocks. A join is pushed if NDB counts its "
        "execution. Only executions with InnoDB's result count."
    ]
    if (table["low"].isna() & table["ratio"].notna()).any():
        notes.append("Without whiskers: too few blocks for an interval.")
    return Head(_title(table), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratio of each query, those with pushed joins first."""
    table = _table(tables)
    words = [f"{_title(table)}."]
    for pushed, about in ((True, "With pushed joins"), (False, "Nothing to push")):
        mine = table[(table["is_pushed"] == pushed) & table["ratio"].notna()]
        phrases = [
            f"Q{row.query} {_times(row)}, {plain(row.pushed_ms)} instead of "
            f"{plain(row.unpushed_ms)} ms"
            for row in mine.itertuples()
        ]
        words += in_sentences(about, phrases)
    return words + [f"Q{row.query}: {row.why}." for row in table.itertuples() if row.why]


def _table(tables: Tables) -> pd.DataFrame:
    table = pushdown.table(tables["slices"], tables["runs"], tables["pushed"])
    if table["ratio"].isna().all():
        raise MissingData("no query was measured in both ways")
    name = "Q" + table["query"].astype(str)
    texts = [
        textwrap.shorten(row.why, _WIDEST, placeholder=" ...") or _times(row)
        for row in table.itertuples()
    ]
    table = table.assign(name=name.where(table["is_pushed"], name + ", nothing pushed"), text=texts)
    return table.sort_values("ratio", ascending=False, ignore_index=True)


def _times(row: object) -> str:
    """Write a ratio as its axis does, below 1 too: "0.154 times (0.13 to 0.182)"."""
    if row.ratio != row.ratio:
        return "unknown"
    interval = f" ({plain(row.low)} to {plain(row.high)})" if row.low == row.low else ""
    return f"{plain(row.ratio)} times{interval}"


def _title(table: pd.DataFrame) -> str:
    """Say how many queries gain and lose by joins that were pushed, and which do most."""
    pushed = table[table["is_pushed"]]
    faster = pushed[pushed["gain"] == pushdown.FASTER]
    slower = pushed[pushed["gain"] == pushdown.SLOWER]
    # What several recordings say together is the answer's, not this figure's.
    title = f"This recording alone: {len(faster)} of {len(table)} queries are faster "
    title += "with pushed joins"
    for row in faster.head(1).itertuples():
        title += f", Q{row.query} {row.ratio:.3g} times"
    losses = [f"Q{r.query} takes {1 / r.ratio:.3g} times as long" for r in slower.itertuples()]
    return f"{title}; {listed(losses)}" if losses else title


FIGURES = {
    "tpc-h": Entry(
        "Which queries of TPC-H gain from pushed joins?",
        paint, describe, ("slices", "runs", "pushed"), height_in=5.6,
    ),
}  # fmt: skip
