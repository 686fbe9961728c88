"""Dumps: how long each kind takes, and how much of the uncompressed size is left."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.dump import UNCOMPRESSED
from ndblab.experiments.dump import analysis as dumps
from ndblab.figures import bars, forest, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import in_sentences, plain
from ndblab.statistics import intervals


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw a bar of the time and one of the size for each kind of dump."""
    every, means = _tables(tables)
    time, size = sheet.panels(figure, 2, sharey=True)
    times = [f"{plain(seconds)} s" for seconds in means["duration_s"]]
    bars.draw(
        time, means.assign(text=times), "duration_s", "Time of the dump, s", style.ORANGE,
        each=every,
    )  # fmt: skip
    sizes = [
        f"{plain(row.written_mb)} MB"
        + ("" if row.compression == UNCOMPRESSED else f", {100 / row.ratio:.0f} %")
        for row in means.itertuples()
    ]
    bars.draw(
        size, means.drop(columns=["low", "high"]).assign(text=sizes), "written_mb",
        "Size of its files, MB", style.VIOLET,
    )  # fmt: skip
    size.tick_params(labelleft=False)
    notes = [
        intervals.described(means["dumps"], "Whiskers", "kind", "dump", 2),
        f"Each has {plain(float(every['rows'].iloc[0]))} rows; circles: each dump.",
    ]
    notes.append("Percent: of the uncompressed size; 1 MB is 1 000 000 bytes.")
    return Head(_title(means), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the time and the size of each kind."""
    _, means = _tables(tables)
    kinds = [
        f"{row.tool} with compression {row.compression} takes {plain(row.duration_s)} s"
        + (f" ({plain(row.low)} to {plain(row.high)})" if row.low == row.low else "")
        + f" and writes {plain(row.written_mb)} MB, {100 / row.ratio:.0f} % of the content"
        for row in means.itertuples()
    ]
    return [f"{_title(means)}.", *in_sentences("Time and size of a dump", kinds)]


def _title(means: pd.DataFrame) -> str:
    """Say what each compression leaves of the size, and how many times as long it takes."""
    none = means[means["compression"] == UNCOMPRESSED]
    packed = means[means["compression"] != UNCOMPRESSED]
    if none.empty or packed.empty:
        row = means.iloc[0]
        return f"A dump with compression {row['compression']} takes {plain(row['duration_s'])} s"
    base_s = float(none["duration_s"].iloc[0])
    phrases = [
        f"{row.compression} leaves {100 / row.ratio:.0f} % of the size "
        f"{_in_time(row.duration_s / base_s)}"
        for row in packed.itertuples()
    ]
    return "; ".join(phrases)


def _in_time(factor: float) -> str:
    if factor < 1.95:
        is_other = round(100 * (factor - 1))
        return f"in {forest.change(factor)} time" if is_other else "in the same time"
    return f"in {factor:.2g} times the time"


def _tables(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every good dump and the mean of each kind, both with its `name`."""
    every = dumps.of(tables["runs"], tables["dumps"])
    every, means = (
        table.assign(name=table["tool"].astype(str) + "\n" + table["compression"].astype(str))
        for table in (every, dumps.by_compression(every))
    )
    return every, means


FIGURES = {
    "dump": Entry(
        "How long does a dump take, and what does compression save?",
        paint, describe, ("runs", "dumps"), height_in=3.2,
    ),
}  # fmt: skip
