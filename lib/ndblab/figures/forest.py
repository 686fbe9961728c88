"""Forests: a row for each ratio with its interval, and published values as marks beside it."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from ndblab import formatting
from ndblab.figures import points, published, ratio_axis, sheet, style
from ndblab.judging.publication import Anchor
from ndblab.statistics import ratio_tables

REPEATED = "Whiskers: 95 % interval, corrected for repeated looks."
FEW_BLOCKS = "A contrast of fewer than 4 blocks has no interval."
_IN_TIMES_FROM = 2.5
_TALL_ROW_IN, _LINE_IN, _TALL_NAME, _SHORT_NAME = 0.44, 0.14, 48, 14
"""On a tall sheet: height of a row with its name above; height of each further line of the name;
characters in a line; length up to which names stand beside their rows there, too."""
_TALL_AROUND_IN = 1.3
"""On a tall sheet: height of the axis and its label below the rows, and of the room above them."""
_CIRCLES_IN = 0.12
"""How much higher a row with circles is on a tall sheet."""
_LONG_NAME = 30
"""Length of a row's name, in characters, from which names take a third of the sheet."""
_STAR_IN = 0.25
"""How far above its row a published value stands."""
_MANY = 50
"""Circles from which on the axis does not follow the few farthest."""


def draw(
    ax: Axes,
    rows: pd.DataFrame,
    label: str,
    *,
    anchors: Mapping[str, Sequence[Anchor]] | None = None,
    allowed: Mapping[str, tuple[float, float]] | None = None,
    each: pd.DataFrame | None = None,
    colour: str = style.THROUGHPUT,
    equal: float | None = 1.0,
) -> None:
    """Draw a value with its interval for each row, the first one on top, and write its numbers.

    Parameters
    ----------
    rows : `name`, `ratio`, `low`, `high` (NaN without an interval).
    label : of the horizontal axis, with its unit; a ratio is called a change where all are small.
    anchors : published values by name of a row.
    allowed : the range that a claim allows, by name of a row.
    each : `name` and `ratio` of every block, drawn as small circles.
    equal : where both sides are equal; None if values are not ratios: the axis is linear then.
    """
    above = _above(rows["name"]) if sheet.is_tall(ax.figure) else []
    if above:
        lines = max(name.count("\n") for name in above)
        row_in = _TALL_ROW_IN + _LINE_IN * lines + (_CIRCLES_IN if each is not None else 0)
        rows_in = row_in * len(rows)
        sheet.grow(ax.figure, max(0.0, _TALL_AROUND_IN + rows_in - sheet.size_in(ax)[1]))
    # Equal names would share a row.
    again = rows.groupby("name").cumcount()
    rows = rows.assign(name=rows["name"] + again.map("\N{ZERO WIDTH SPACE}".__mul__))
    theirs = [a.value for group in (anchors or {}).values() for a in group]
    if each is not None:
        tail = 0.02 if len(each) > _MANY else 0.0
        theirs += [*each["ratio"].quantile([tail, 1 - tail])]
    theirs += [] if equal is None else [equal]
    low, high = ratio_axis.limits(rows, theirs, equal is not None)
    if equal is not None:
        ax.axvline(equal, color=style.INK, lw=1.1, zorder=1)
    (
        style.plot(rows, x="ratio", y="name")
        .add(so.Range(color=colour, linewidth=2.4), xmin="low", xmax="high")
        .add(so.Dot(color=colour, pointsize=7))
        .label(x=label, y="")
        .on(ax)
        .plot()
    )
    of_a_row = _STAR_IN * len(rows) / sheet.size_in(ax)[1]
    # Near its row, where rows are so dense that the next one is as near.
    aside = 0.28 if above else -of_a_row if 0.3 < of_a_row < 0.5 else -0.3
    _mark(ax, rows, (low, high), anchors or {}, allowed or {}, each, aside)
    longest = rows["name"].str.split("\n").explode().str.len().max()
    part = 0.5 if above else 0.42 if longest < _LONG_NAME else 0.32
    _finish(ax, rows, low, high, part if equal is not None else None)
    if equal == 1 and high < _IN_TIMES_FROM:
        ratio_axis.in_percent(ax, label, part)
    _write_above(ax, above)
    names = [_on_one_line(name) for name in rows["name"]]
    # A point says what the axis and the numbers beside it say.
    said = [_beside(row).replace("\n", " ") for row in rows.itertuples()]
    told = rows if equal is None else rows.assign(said=said)
    points.add(ax, told, rows["ratio"], range(len(rows)), names, along="x")


def _mark(
    ax: Axes,
    rows: pd.DataFrame,
    limits: tuple[float, float],
    anchors: Mapping[str, Sequence[Anchor]],
    allowed: Mapping[str, tuple[float, float]],
    blocks: pd.DataFrame | None,
    aside: float,
) -> None:
    """Mark what is allowed, every block and what was published: `aside` from a measured value."""
    places = {name: place for place, name in enumerate(rows["name"])}
    measured = set(rows.loc[rows["ratio"].notna(), "name"])
    for name, (least, most) in allowed.items():
        ends = np.clip((least, most), *limits)
        band = {"color": style.SERVER, "alpha": 0.22, "zorder": 0.6}
        ax.barh(places[name], ends[1] - ends[0], 0.56, ends[0], **band)
    if blocks is not None:
        shown = blocks[blocks["ratio"].between(*limits)]
        y = shown["name"].map(places) + 0.26
        look = {"mfc": "none", "mec": style.QUIET, "mew": 0.6, "ms": 2.6, "zorder": 2}
        ax.plot(shown["ratio"], y, "o", clip_on=False, **look)
        if beyond := len(blocks) - len(shown):
            sheet.remark(ax, f"Circles beyond the axis: {beyond}.")
    for name, group in anchors.items():
        y = places[name] + (aside if name in measured else 0)
        for anchor in group:
            published.mark(ax, anchor, anchor.value, y, along="x")


def _on_one_line(name: str) -> str:
    name = name.strip("\N{ZERO WIDTH SPACE}").replace("\n(", " (").replace(",\n", ", ")
    name = re.sub(r"over\n|\n(?=over |from |than )", lambda fold: fold[0].replace("\n", " "), name)
    return name.replace("\n", ": ")


def _above(names: pd.Series) -> list[str]:
    """Return the names of rows as they stand above them on a tall sheet; none if all are short."""
    if names.map(len).max() <= _SHORT_NAME:
        return []
    return [_within(name) for name in names]


def _within(name: str) -> str:
    """Fold a name into lines of a tall sheet: where it is folded already, if it needs two."""
    line = _on_one_line(name)
    parts = [line] if len(line) <= _TALL_NAME else name.split("\n")
    return "\n".join(textwrap.fill(part, _TALL_NAME) for part in parts)


def _write_above(ax: Axes, names: Sequence[str]) -> None:
    if not names:
        return
    ax.tick_params(labelleft=False)
    ax.set_ylim(len(names) - 0.45, -0.95)
    for place, name in enumerate(names):
        ax.annotate(
            name, (0, place), (2, 8), xycoords=("axes fraction", "data"), fontsize=9,
            textcoords="offset points", color=style.QUIET, annotation_clip=False, zorder=2,
            bbox={"fc": "white", "ec": "none", "alpha": 0.85, "pad": 0.3},
        ).set_in_layout(False)  # fmt: skip


def leading(
    figure: Figure, rows: pd.DataFrame, label: str, below_in: float = 2.1, **given
) -> SubFigure:
    """Draw a forest in the upper part of a sheet, as high as its rows; return the lower part.

    Parameters
    ----------
    below_in : height of the lower part, before title and notes take theirs.
    given : as for `draw`.
    """
    upper, lower = figure.subfigures(2, height_ratios=(0.6 + 0.2 * len(rows), below_in))
    if len(rows):
        draw(upper.subplots(), rows, label, **given)
    else:
        sheet.nothing(upper.subplots(), "no contrast was measured")
    return lower


def notes(ratios: pd.DataFrame) -> list[str]:
    """Explain ratios of contrasts shown above the runs of a sweep; empty without any."""
    if ratios.empty:
        return []
    whiskers = [REPEATED] if ratios["low"].notna().any() else []
    return [
        "Ratios: both sides measured close together.", *whiskers,
        "Below: separate runs, between which the host may drift.",
    ]  # fmt: skip


def of_contrasts(slices: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the ratios of these contrasts, in this order, each with the name of its row."""
    rows = ratio_tables.of_contrasts(slices)
    rows = rows[rows["contrast"].isin(list(names))]
    rows = rows.sort_values("contrast", key=lambda column: column.map(list(names).index))
    return rows.assign(name=rows["contrast"].map(names)).reset_index(drop=True)


def words(row: object) -> str:
    """Write a ratio with its interval: "-6 % (-9 to -3 %)", or "2.4 times (2.1 to 2.8)"."""
    return "unknown" if row.ratio != row.ratio else formatting.change(row.ratio, row.low, row.high)


def clients(row: object, named: bool = True) -> str:
    """Write the clients of both sides: "64 clients", "64 clients over 32"; or without the noun."""
    mine, other = int(row.clients), int(row.clients_other)
    words = formatting.count(mine, "client") if named else str(mine)
    return words if mine == other else f"{words} over {other}"


def _beside(row: object) -> str:
    """Return what stands beside a row: its text if it has one, else its numbers."""
    text = getattr(row, "text", None)
    return text if isinstance(text, str) else words(row)


def is_clear(row: object) -> bool:
    """Return whether the interval of a ratio excludes 1."""
    return bool(row.low > 1 or row.high < 1)


def change(ratio: float, more: str = "more", less: str = "less") -> str:
    """Write a ratio as a change: "11 % less", "1 % or less apart", or "2.4 times"."""
    if ratio >= 1.95:
        return f"{ratio:.3g} times"
    percent = round(100 * (ratio - 1))
    return f"{abs(percent)} % {more if percent > 0 else less}" if percent else "1 % or less apart"


def compared(ratio: float, of: str, than: str, more: str = "more", less: str = "less") -> str:
    """Write a ratio with both sides: "11 % less CPU than send", "2.1 times the CPU of send"."""
    if ratio >= 1.95:
        return f"{ratio:.3g} times the {of} of {than}"
    apart = round(100 * (ratio - 1))
    return f"{change(ratio, more, less)} {of} than {than}" if apart else f"about the {of} of {than}"


def gain(row: object, more: str = "more", less: str = "less") -> str:
    """Write a ratio as a change, and whether its interval includes 1 or is not known."""
    doubt = " (no interval)" if math.isnan(row.low) else " (within the error)"
    return change(row.ratio, more, less) + ("" if is_clear(row) else doubt)


def sentence(rows: pd.DataFrame) -> list[str]:
    """Describe the rows of a forest; nothing if there are none."""
    parts = [f"{_on_one_line(row.name)} {words(row)}" for row in rows.itertuples()]
    return formatting.in_sentences("Compared", parts)


def _finish(ax: Axes, rows: pd.DataFrame, low: float, high: float, part: float | None) -> None:
    """Scale the axis, write the numbers at the right, and mark whiskers that reach further.

    `part` is as for `ratio_axis.in_numbers`; None for an axis that is not logarithmic.
    """
    if part:
        ax.set_xscale("log")
    ax.set_xlim(low, high)
    if part and high / low > 3:
        ratio_axis.in_numbers(ax, part)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.set_ylim(len(rows) - 0.45, -0.6)
    # An arrow at the lower end has its place beside the names.
    arrows = (rows["low"] < low).any()
    ax.tick_params(axis="y", length=0, pad=9 if arrows else 3.5)
    for place, row in enumerate(rows.itertuples()):
        for end, beyond, mark in ((low, row.low < low, "<"), (high, row.high > high, ">")):
            if beyond:
                ax.plot(end, place, mark, color=style.INK, ms=6, clip_on=False, zorder=5)
        ax.annotate(
            _beside(row), (1, place), (7, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=8.6, annotation_clip=False,
        )  # fmt: skip
