"""Horizontal bars with whiskers, every run as a circle, and numbers beside them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ndblab.figures import points, style
from ndblab.formatting import exact, plain
from ndblab.planning.workload import CLIENT

_CPU_BY_ROLE = {
    "mysqld_us": ("mysqld", style.SERVER),
    "ndbmtd_us": ("ndbmtd", style.DATA_NODE),
    f"{CLIENT}_us": ("client", style.PALE),
}
"""Parts of a bar of CPU time, in microseconds: words and colour by column."""
_ROOM = 1.3
"""Length of an axis relative to its longest bar, with room for the number beside the bar."""


def draw(
    ax: Axes,
    table: pd.DataFrame,
    column: str,
    label: str,
    colour: str = style.THROUGHPUT,
    each: pd.DataFrame | None = None,
    room: float = _ROOM,
) -> None:
    """Draw a bar for each row of `name` and `column`, the first one on top.

    Parameters
    ----------
    table : with `low` and `high`, bars have whiskers; with `text`, words instead of numbers.
    room : length of the axis relative to the longest bar, for what stands beside the bar.
    each : `name` and `column` of every run.
    """
    plot = style.plot(table, x=column, y="name").add(so.Bar(color=colour, width=0.62, alpha=0.8))
    if "low" in table:
        plot = plot.add(so.Range(color=style.INK, linewidth=1.2), xmin="low", xmax="high")
    if each is not None:
        circle = so.Dot(color="white", edgecolor=style.INK, edgewidth=0.8, pointsize=4)
        plot = plot.add(circle, data=each)
    plot.label(x=label, y="").on(ax).plot()
    ends = np.fmax(table[column], table.get("high", np.nan)).to_numpy(float)
    if each is not None:
        ends = np.fmax(ends, table["name"].map(each.groupby("name", observed=True)[column].max()))
    texts = table["text"] if "text" in table else table[column].map(plain)
    _finish(ax, ends, list(texts), room)
    points.add(ax, table, table[column], range(len(table)), table["name"], along="x")


def stacked(ax: Axes, table: pd.DataFrame, label: str) -> None:
    """Draw the CPU time of each row by role, and its total beside it; a legend names the roles."""
    long = table.melt("name", list(_CPU_BY_ROLE), "part", "length").fillna({"length": 0.0})
    (
        style.plot(long, x="length", y="name", color="part")
        .add(so.Bar(width=0.62, alpha=1), so.Stack(), legend=False)
        .scale(color={part: colour for part, (_, colour) in _CPU_BY_ROLE.items()})
        .label(x=label, y="")
        .on(ax)
        .plot()
    )
    total = table[list(_CPU_BY_ROLE)].sum(axis=1, min_count=1).to_numpy(float)
    _finish(ax, total, [plain(x) if math.isfinite(x) else "unknown" for x in total])
    handles = [ax.barh(0, 0, color=colour, label=words) for words, colour in _CPU_BY_ROLE.values()]
    place = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    ax.legend(handles=handles, ncols=3, fontsize=8, columnspacing=1, handlelength=1.2, **place)


def _finish(ax: Axes, ends: np.ndarray, texts: list[str], room: float = _ROOM) -> None:
    """Write the numbers beside the bars, with room for them, the first bar on top."""
    for place, (end, text) in enumerate(zip(ends, texts, strict=True)):
        ax.annotate(
            text, (np.nan_to_num(end), place), (5, 0), textcoords="offset points", va="center",
            fontsize=9,
        )  # fmt: skip
    longest = float(np.nanmax(ends, initial=0.0)) or 1.0
    ax.set_xlim(0, longest * room)
    ax.set_ylim(len(ends) - 0.5, -0.5)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: exact(value)))
