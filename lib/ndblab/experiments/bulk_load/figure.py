"""Bulk loads: how fast each way loads rows, what a row costs, and what the contrasts say."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.bulk_load import NDB_IMPORT
from ndblab.experiments.bulk_load import analysis as loads
from ndblab.figures import bars, forest, sheet
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import count, in_sentences, listed, plain
from ndblab.statistics import intervals

_COMPARED = {
    "redo": "small redo log over usual",
    "import": "ndb_import over LOAD DATA",
    "local": "LOCAL over LOAD DATA",
}
"""Contrasts, and what they compare."""
_APART = "not told apart"


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios, and below a bar of the rate and one of the CPU time for each way."""
    every, means = _tables(tables)
    ratios = forest.of_contrasts(tables["slices"], _COMPARED)
    lower = forest.leading(figure, ratios, "Rows per second, ratio", 3.0)
    rate, cost = sheet.panels(lower, 2)
    bars.draw(rate, means, "rows_per_s", "Rate, rows/s", each=every)
    known = means[means["cpu_us"].notna()]
    if len(known):
        bars.stacked(cost, known, "CPU time of a row, \N{MICRO SIGN}s")
    title = _title(means, ratios)
    notes = [
        *forest.notes(ratios)[:-1],
        intervals.described(means["loads"], "Whiskers of bars", "kind", "load", 2),
        f"Each has {plain(float(every['rows'].iloc[0]))} rows; circles: each load.",
    ]
    notes += ["Not told apart: the interval holds the best mean."] if _APART in title else []
    if len(missing := means[means["cpu_us"].isna()]):
        names = listed(_line(name) for name in missing["name"])
        notes.append(f"No CPU, as loads were too short or it was not sampled: {names}.")
    return Head(title, notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, and the rate and the cost of each way."""
    _, means = _tables(tables)
    ratios = forest.of_contrasts(tables["slices"], _COMPARED)
    kinds = [
        f"{_line(row.name)}: {plain(row.rows_per_s)} rows/s"
        + (f" ({plain(row.low)} to {plain(row.high)})" if row.low == row.low else "")
        + (f", {plain(row.cpu_us)} \N{MICRO SIGN}s of CPU a row" if row.cpu_us > 0 else "")
        for row in means.itertuples()
    ]
    rates = in_sentences("Rates of bulk loads", kinds)
    return [f"{_title(means, ratios)}.", *rates, *forest.sentence(ratios)]


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say which ways are fastest, and what a small redo log costs."""
    best = means.iloc[0]
    # A way whose interval holds the best mean cannot be told from the best.
    fast = means[(means["low"] <= best["rows_per_s"]) & (best["rows_per_s"] <= means["high"])]
    if len(fast) > 1:
        ways = listed(dict.fromkeys(loads.WORDS[way] for way in fast["way"]))
        least = plain(fast["rows_per_s"].min())
        title = f"Fastest, {_APART}: {ways}, {least} to "
    else:
        title = f"{_line(best['name'])} loaded fastest, "
    title += f"{plain(best['rows_per_s'])} rows/s"
    for row in ratios[ratios["contrast"] == "redo"].itertuples():
        title += f". With a small redo log {forest.gain(row, 'more', 'fewer')}"
    return title


def _tables(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every good load and the mean of each way, the fastest first, both with a `name`."""
    every = loads.of(tables["runs"], tables["processes"], tables["events"])
    every, means = (
        table.assign(name=[_name(row) for row in table.itertuples()])
        for table in (every, loads.by_way(every))
    )
    return every, means.sort_values("rows_per_s", ascending=False, ignore_index=True)


def _name(row: object) -> str:
    if row.way == NDB_IMPORT:
        return loads.WORDS[row.way]
    return f"{loads.WORDS[row.way]},\n{count(row.connections, 'connection')}"


def _line(name: str) -> str:
    return name.replace("\n", " ")


FIGURES = {
    "bulk-load": Entry(
        "How fast are rows loaded, and does the redo log matter?",
        paint, describe, ("runs", "processes", "events", "slices"), height_in=5.6,
    ),
}  # fmt: skip
