"""The queries of TPC-H with pushed joins against the same without: ratios, and times.

In: slices and runs of the queries, what NDB was given as pushed joins. Out: a painted figure and
its description.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures import selection
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

HEIGHT_IN = 7.8
_UNPUSHED = "#c8691c"
_WIDEST = 40


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the ratio of each query with its interval, and beside it the times of an execution."""
    found = _found(tables)
    [[left, right]] = sheet.panels(
        figure, columns=(1.5, 1), wspace=0.06, left=0.07, above_in=sheet.ABOVE_WITH_LEGEND_IN + 0.05
    )
    left.set_title(caption.title())
    _ratios(left, found)
    _times(right, found)
    sheet.legend(figure, _keys())
    notes = [
        "Whiskers: repeated 95 % interval of the blocks. A join is pushed if NDB counts its "
        "execution. Only executions with InnoDB's result count."
    ]
    unbounded = found.loc[found["low"].isna() & found["ratio"].notna(), "query"]
    notes += ["Without whiskers: too few blocks for an interval."] if len(unbounded) else []
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the ratio of each query, those with pushed joins first."""
    found = _found(tables)
    words = ["How many times as fast each query of TPC-H is with pushed joins as without."]
    for pushed, about in ((True, "With pushed joins"), (False, "Nothing to push")):
        mine = found[(found["is_pushed"] == pushed) & found["ratio"].notna()]
        if len(mine):
            words.append(f"{about}: {formatting.listed(map(_words, mine.itertuples()))}.")
    words += [f"Q{row.query}: {row.why}." for row in found.itertuples() if row.why]
    return words


def _found(tables: Tables) -> pd.DataFrame:
    try:
        found = pushdown.table(tables["slices"], tables["runs"], tables["pushed"])
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None
    if found["ratio"].isna().all():
        raise selection.nothing_to_draw("no query was measured in both ways")
    return found


def _words(row) -> str:
    interval = f" ({row.low:.2f} to {row.high:.2f})" if row.low == row.low else ""
    return f"Q{row.query} {row.ratio:.2f}{interval}"


def _ratios(ax: Axes, found: pd.DataFrame) -> None:
    ax.axvline(1, color=style.INK, lw=1.2, zorder=1)
    for y, row in enumerate(found.itertuples()):
        if row.why:
            shown = row.why if len(row.why) <= _WIDEST else f"{row.why[: _WIDEST - 4]} ..."
            ax.text(1, y, f" {shown}", va="center", fontsize=8, color=style.QUIET,
                    bbox=style.WHITE_BOX)  # fmt: skip
            continue
        ax.plot([row.low, row.high], [y, y], color=style.INK, lw=1.2, marker="|", ms=6, zorder=2)
        face = style.THROUGHPUT if row.is_pushed else "white"
        ax.plot(row.ratio, y, "o", mfc=face, mec=style.THROUGHPUT, ms=6, zorder=4)
    ends = found[["ratio", "low", "high"]].to_numpy(float)
    _logarithmic(ax, min(np.nanmin(ends), 1), max(np.nanmax(ends), 1), most_labelled=1000)
    _across(ax, found)
    ax.set_xlabel("Times as fast with pushed joins")


def _times(ax: Axes, found: pd.DataFrame) -> None:
    y = np.arange(len(found))
    ax.hlines(y, found["pushed_ms"], found["unpushed_ms"], color="#bbbbbb", lw=1.4, zorder=1)
    ax.plot(found["unpushed_ms"], y, "s", mfc="white", mec=_UNPUSHED, ms=5, zorder=3)
    ax.plot(found["pushed_ms"], y, "o", color=style.THROUGHPUT, ms=4, zorder=4)
    ends = found[["pushed_ms", "unpushed_ms"]].to_numpy(float)
    _logarithmic(ax, np.nanmin(ends), np.nanmax(ends), most_labelled=100)
    _across(ax, found)
    ax.set_yticklabels([])
    ax.set_xlabel("Time of an execution, ms")
    ax.set_title("Mean of all slices and runs")


def _across(ax: Axes, found: pd.DataFrame) -> None:
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.set_yticks(range(len(found)), [f"Q{query}" for query in found["query"]])
    ax.grid(True, axis="y", lw=0.4)


def _logarithmic(ax: Axes, low: float, high: float, most_labelled: float) -> None:
    """Make a logarithmic axis with room at both ends and numbers as people write them.

    Up to `most_labelled` times the lowest value there is room for more than powers of ten.
    """
    room = max(1.08, (high / low) ** 0.05)
    ax.set_xscale("log")
    ax.set_xlim(low / room, high * room)
    steps = (1, 2, 5) if high / low < most_labelled else (1,)
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    if high / low < 4:
        ax.xaxis.set_major_locator(LogLocator(subs=tuple(np.arange(0.5, 10, 0.5))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    sheet.trim_ticks(ax)


def _keys() -> list[Line2D]:
    blue = {"ls": "", "marker": "o", "mec": style.THROUGHPUT}
    return [
        Line2D([], [], label="joins pushed", mfc=style.THROUGHPUT, **blue),
        Line2D([], [], label="nothing pushed", mfc="white", **blue),
        Line2D([], [], label="time without pushing", ls="", marker="s", mfc="white", mec=_UNPUSHED),
    ]


FIGURES = {
    "tpc-h": Entry(
        "Which queries of TPC-H gain from pushed joins?",
        paint, describe, ("slices", "runs", "pushed"), height_in=HEIGHT_IN,
    ),
}  # fmt: skip
