"""Bulk loads: how fast each way loads rows, what a row costs, and what the contrasts say.

In: runs with their CPU and checkpoints, and slices. Out: a painted figure and its description.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ndblab.error import MissingData
from ndblab.experiments.bulk_load import NDB_IMPORT
from ndblab.experiments.bulk_load import analysis as loads
from ndblab.figures import old_bars as bars
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures import selection
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.formatting import count, listed, plain
from ndblab.judging.publication import Anchor
from ndblab.planning.workload import CLIENT
from ndblab.statistics import ratio_tables

_ROLES = {"mysqld": ("mysqld", style.SERVER), "ndbmtd": ("ndbmtd", style.DATA_NODE),
          CLIENT: ("loading program", style.QUIET)}  # fmt: skip
_COMPARED = {
    "import": "ndb_import over LOAD DATA",
    "local": "LOCAL over LOAD DATA",
    "redo": "small redo log over usual",
}
"""Contrasts, and what they compare."""
_ROOM = 1.4
"""Length of the axis of ratios over the largest, for the number beside it."""


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a bar of the rate and one of the CPU time for each way, and the ratios below."""
    every, means = _tables(tables)
    ratios = _ratios(tables)
    grid = sheet.panels(
        figure, rows=2, columns=(1, 1), heights=(3, 1), wspace=0.12, hspace=0.42, left=0.21,
        above_in=sheet.ABOVE_WITH_LEGEND_IN,
    )  # fmt: skip
    (rate, cost), (compared, unused) = grid
    across = compared.get_position()
    width = unused.get_position().x1 - across.x0
    unused.remove()
    compared.set_position((across.x0, across.y0, width, across.height))
    sheet.legend(figure, [Patch(fc=colour, label=label) for label, colour in _ROLES.values()])
    y = np.arange(len(means))
    rate.set_title(caption.title())
    rate.barh(y, means["rows_per_s"], height=0.6, color=style.THROUGHPUT, alpha=0.75)
    for place, row in zip(y, means.itertuples(), strict=True):
        own = every[(every["way"] == row.way) & (every["connections"] == row.connections)]
        look = {"mfc": "white", "mec": style.INK, "ms": 4}
        rate.plot(own["rows_per_s"], [place] * len(own), "o", **look)
        bars.beside(rate, own["rows_per_s"].max(), place, plain(row.rows_per_s))
    bars.finish(rate, every["rows_per_s"].max(), "Rows per second")
    cost.set_title("CPU time")
    parts = {f"{role}_us": c for role, (_, c) in _ROLES.items()}
    bars.stacked(cost, means, parts, "cpu_us")
    longest = means[list(parts)].sum(axis=1).max()
    bars.finish(cost, longest if longest > 0 else 1.0, "CPU time of a row, \N{MICRO SIGN}s")
    rate.set_yticks(y, [_name(row).replace(", ", "\n") for row in means.itertuples()], fontsize=8)
    cost.set_yticks(y, [""] * len(y))
    _draw_ratios(compared, ratios)
    fewest, most = int(means["loads"].min()), int(means["loads"].max())
    number = count(most, "load") if fewest == most else f"{fewest} to {count(most, 'load')}"
    notes = [
        f"{number} of each kind, of {plain(float(every['rows'].iloc[0]))} rows. Bars: means; "
        "circles: each load."
    ]
    if len(ratios):
        notes.append("Ratios: intervals hold with 95 % at all looks together.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the rate and the cost of each way, and the ratios."""
    _, means = _tables(tables)
    kinds = [
        f"{_name(row)}: {plain(row.rows_per_s)} rows/s"
        + (f" ({plain(row.low)} to {plain(row.high)})" if row.low == row.low else "")
        + (
            f", {plain(row.cpu_us)} \N{MICRO SIGN}s of CPU a row"
            if row.cpu_us == row.cpu_us
            else ""
        )
        for row in means.itertuples()
    ]
    words = [f"Rates of bulk loads: {'; '.join(kinds)}."]
    said = [f"{_COMPARED[row.contrast]} {_number(row)}" for row in _ratios(tables).itertuples()]
    return [*words, *([f"Ratios of rows per second: {listed(said)}."] if said else [])]


def _tables(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    try:
        every = loads.of(tables["runs"], tables["processes"], tables["events"])
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None
    return every, loads.by_way(every)


def _ratios(tables: Tables) -> pd.DataFrame:
    found = ratio_tables.of_contrasts(tables["slices"])
    return found[found["contrast"].isin(_COMPARED)]


def _name(row) -> str:
    if row.way == NDB_IMPORT:
        return loads.WORDS[row.way]
    return f"{loads.WORDS[row.way]}, {count(row.connections, 'connection')}"


def _draw_ratios(ax: Axes, ratios: pd.DataFrame) -> None:
    if ratios.empty:
        ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", color=style.QUIET)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    ax.axvline(1, color=style.INK, lw=1.0, zorder=1)
    ends = [1.0]
    for place, row in enumerate(ratios.itertuples()):
        low, high = (row.low, row.high) if row.low == row.low else (row.ratio, row.ratio)
        ends += [low, high]
        ax.plot([low, high], [place, place], color=style.THROUGHPUT, lw=2.2, zorder=2)
        ax.plot(row.ratio, place, "o", color=style.THROUGHPUT, ms=5, zorder=3)
        bars.beside(ax, max(high, 1.0), place, _number(row))
    ax.set_xlim(0, max(ends) * _ROOM)
    sheet.trim_ticks(ax)
    names = [_COMPARED[name].replace(" over ", "\nover ") for name in ratios["contrast"]]
    ax.set_yticks(range(len(ratios)), names, fontsize=8)
    ax.set_ylim(len(ratios) - 0.4, -0.6)
    ax.grid(False, axis="y")
    ax.set_xlabel("Ratio of rows per second")


def _number(row) -> str:
    interval = f" ({row.low:.3g} to {row.high:.3g})" if row.low == row.low else ""
    return f"{row.ratio:.3g}{interval}"


FIGURES = {
    "bulk-load": Entry(
        "How fast are rows loaded, and does the redo log matter?",
        paint, describe, ("runs", "processes", "events", "slices"), height_in=7.6,
    ),
}  # fmt: skip
