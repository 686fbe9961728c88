"""Dumps: how long each kind takes, and how large it becomes.

In: runs and their dumps. Out: a painted figure and its description.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ndblab.error import MissingData
from ndblab.experiments.dump import UNCOMPRESSED
from ndblab.experiments.dump import analysis as dumps
from ndblab.figures import old_bars as bars
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures import selection
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.formatting import count, listed, plain
from ndblab.judging.publication import Anchor

_TIME, _SIZE = "#c8691c", "#5b3a8c"


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a bar of the time and one of the size for each kind of dump."""
    every, means = _tables(tables)
    [[time, size]] = sheet.panels(figure, columns=(1, 1), wspace=0.12, left=0.16)
    y = np.arange(len(means))
    time.set_title(caption.title())
    time.barh(y, means["duration_s"], height=0.5, color=_TIME, alpha=0.75)
    for place, row in zip(y, means.itertuples(), strict=True):
        own = every[(every["tool"] == row.tool) & (every["compression"] == row.compression)]
        time.plot(own["duration_s"], [place] * len(own), "o", mfc="white", mec=style.INK, ms=4)
        bars.beside(time, own["duration_s"].max(), place, f"{plain(row.duration_s)} s")
    bars.finish(time, every["duration_s"].max(), "Time of the dump, s")
    size.set_title("Size of the dump")
    size.barh(y, means["written_mb"], height=0.5, color=_SIZE, alpha=0.75)
    for place, row in zip(y, means.itertuples(), strict=True):
        part = "" if row.compression == UNCOMPRESSED else f", 1 / {plain(row.ratio)}"
        bars.beside(size, row.written_mb, place, f"{plain(row.written_mb)} MB{part}")
    bars.finish(size, means["written_mb"].max(), "Size of its files, MB (10^6 bytes)")
    names = [f"{row.tool}\n{row.compression}" for row in means.itertuples()]
    time.set_yticks(y, names)
    size.set_yticks(y, [""] * len(y))
    fewest, most = int(means["dumps"].min()), int(means["dumps"].max())
    number = count(most, "dump") if fewest == most else f"{fewest} to {count(most, 'dump')}"
    return [
        f"{number} of each kind, of {plain(float(every['rows'].iloc[0]))} rows. Bars: means; "
        "circles: each dump.",
        "Beside the size: the part of the uncompressed one.",
    ]


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the time and the size of each kind."""
    _, means = _tables(tables)
    kinds = [
        f"{row.tool} with compression {row.compression} takes {plain(row.duration_s)} s"
        + (f" ({plain(row.low)} to {plain(row.high)})" if row.low == row.low else "")
        + f" and writes {plain(row.written_mb)} MB, 1 / {plain(row.ratio)} of the content"
        for row in means.itertuples()
    ]
    return [f"Time and size of a dump: {listed(kinds)}."]


def _tables(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    try:
        every = dumps.of(tables["runs"], tables["dumps"])
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None
    return every, dumps.by_compression(every)


FIGURES = {
    "dump": Entry(
        "How long does a dump take, and what does compression save?",
        paint, describe, ("runs", "dumps"), height_in=4.6,
    ),
}  # fmt: skip
