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
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ndblab import formatting
from ndblab.figures import points, published, sheet, style
from ndblab.judging.clauses import in_sentences
from ndblab.judging.publication import Anchor
from ndblab.statistics import ratio_tables

REPEATED = "Whiskers: 95 % interval, corrected for repeated looks."
FEW_BLOCKS = "A contrast of fewer than 4 blocks has no interval."
WIDEST = 4.0
"""How far the axis follows a whisker, as a factor of the values' range or of the narrowest
interval; a longer whisker gets an arrow."""
_IN_TIMES_FROM = 2.5
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_TICKS, _TICK_IN = 8, 0.5
_TALL_ROW_IN, _LINE_IN, _TALL_NAME, _SHORT_NAME = 0.44, 0.14, 48, 14
"""On a tall sheet: height of a row with its name above; height of each further line of the name;
characters in a line; length up to which names stand beside their rows there, too."""
_TALL_AROUND_IN = 1.3
"""On a tall sheet: height of the axis and its label below the rows, and of the room above them."""
_CIRCLES_IN = 0.12
"""How much higher a row with circles is on a tall sheet."""
_LONG_NAME = 30
"""Length of a row's name, in characters, from which names take a third of the sheet."""


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
    theirs += [] if each is None else [*each["ratio"].quantile([0.02, 0.98])]
    low, high = _limits(rows, [*theirs, *([] if equal is None else [equal])], equal is not None)
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
    _mark(ax, rows, (low, high), anchors or {}, allowed or {}, each, 0.28 if above else -0.3)
    _finish(ax, rows, low, high, log=equal is not None)
    if equal == 1 and high < _IN_TIMES_FROM:
        longest = rows["name"].str.split("\n").explode().str.len().max()
        _in_percent(ax, label, 0.5 if above else 0.42 if longest < _LONG_NAME else 0.32)
    _write_above(ax, above)
    names = [_on_one_line(name) for name in rows["name"]]
    # A point says what the axis and the numbers beside it say.
    told = rows if equal is None else rows.assign(said=[words(row) for row in rows.itertuples()])
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
    """Mark what is allowed, every block and, `aside` from its row, what was published."""
    places = {name: place for place, name in enumerate(rows["name"])}
    for name, (least, most) in allowed.items():
        ends = np.clip((least, most), *limits)
        ax.barh(places[name], ends[1] - ends[0], 0.62, ends[0], color=style.SERVER, alpha=0.22)
    if blocks is not None:
        shown = blocks[blocks["ratio"].between(*limits)]
        y = shown["name"].map(places) + 0.26
        ax.plot(shown["ratio"], y, "o", mfc="none", mec=style.QUIET, mew=0.6, ms=2.6, zorder=2)
    for name, group in anchors.items():
        for anchor in group:
            published.mark(ax, anchor, anchor.value, places[name] + aside, along="x")


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


def of_contrasts(
    slices: pd.DataFrame, names: Mapping[str, str], quantity: str = "qps"
) -> pd.DataFrame:
    """Return the ratios of these contrasts, in this order, each with the name of its row."""
    rows = ratio_tables.of_contrasts(slices, quantity)
    rows = rows[rows["contrast"].isin(list(names))]
    rows = rows.sort_values("contrast", key=lambda column: column.map(list(names).index))
    return rows.assign(name=rows["contrast"].map(names)).reset_index(drop=True)


def words(row: object) -> str:
    """Write a ratio with its interval: "-6 % (-9 to -3 %)", or "2.4 times (2.1 to 2.8)"."""
    return "unknown" if row.ratio != row.ratio else formatting.change(row.ratio, row.low, row.high)


def is_clear(row: object) -> bool:
    """Return whether the interval of a ratio excludes 1."""
    return bool(row.low > 1 or row.high < 1)


def change(ratio: float, more: str = "more", less: str = "less") -> str:
    """Write a ratio as a change: "11 % less", "1 % or less apart", or "2.4 times"."""
    if ratio >= 1.95:
        return f"{ratio:.3g} times"
    percent = round(100 * (ratio - 1))
    return f"{abs(percent)} % {more if percent > 0 else less}" if percent else "1 % or less apart"


def gain(row: object, more: str = "more", less: str = "less") -> str:
    """Write a ratio as a change, and whether its interval includes 1: "(within the error)"."""
    return change(row.ratio, more, less) + ("" if is_clear(row) else " (within the error)")


def sentence(rows: pd.DataFrame) -> list[str]:
    """Describe the rows of a forest; nothing if there are none."""
    parts = [f"{_on_one_line(row.name)} {words(row)}" for row in rows.itertuples()]
    return in_sentences("Compared", parts)


def _limits(rows: pd.DataFrame, kept: Sequence[float], log: bool) -> tuple[float, float]:
    """Return limits that hold all values and marks.

    Whiskers are held only as far as they do not squeeze the values.
    """
    to, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    values = to(np.array([*rows["ratio"].dropna(), *kept], float))
    span = max(values.max() - values.min(), 0.06 if log else 1e-9)
    ends = to(rows[["low", "high"]].to_numpy(float))
    if not np.isnan(ends).all():
        least, most = np.nanmin(ends), np.nanmax(ends)
        widths = ends[:, 1] - ends[:, 0]
        widths = widths[np.isfinite(widths)]
        span = max(span, widths.min()) if widths.size else span
        room = WIDEST * span / 2
        least, most = max(least, values.min() - room), min(most, values.max() + room)
    else:
        least, most = values.min(), values.max()
    least, most = min(least, values.min()), max(most, values.max())
    margin = 0.06 * (most - least) or 0.05
    low = least - margin if log else max(0.0, least - margin) if values.min() >= 0 else least
    return float(back(low)), float(back(most + margin))


def _in_percent(ax: Axes, label: str, part: float) -> None:
    """Label an axis of ratios in signed percentages, with a tick where both sides are equal.

    `part` is roughly the part of its panel that the axis takes; names and numbers take the rest.
    """
    low, high = ax.get_xlim()
    step = next(s for s in _STEPS if (high - low) / s < _MOST_TICKS)
    ends = math.ceil((low - 1) / step), math.floor((high - 1) / step)
    # From zero outwards, as far as the labels leave each other room.
    apart = _TICK_IN / (part * sheet.size_in(ax)[0]) * math.log(high / low)
    ticks = [0.0] if low <= 1 <= high else []
    for number in sorted(range(ends[0], ends[1] + 1), key=abs):
        tick = step * number
        if all(abs(math.log((1 + tick) / (1 + other))) > apart for other in ticks):
            ticks.append(tick)
    ax.xaxis.set_major_locator(FixedLocator([1 + tick for tick in ticks]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    ax.set_xlabel(label.replace("ratio", "change"))


def _percent(ratio: float) -> str:
    percent = round(100 * (ratio - 1), 1)
    return f"{percent:+g} %" if percent else "0 %"


def _finish(ax: Axes, rows: pd.DataFrame, low: float, high: float, log: bool) -> None:
    """Scale the axis, write the numbers at the right, and mark whiskers that reach further."""
    if log:
        ax.set_xscale("log")
    ax.set_xlim(low, high)
    if log and high / low > 3:
        steps = (1, 1.5, 2, 3, 5, 7) if high / low < 12 else (1, 2, 5) if high / low < 300 else (1,)
        ax.xaxis.set_major_locator(LogLocator(subs=steps, numticks=20))
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
        text = getattr(row, "text", None)
        text = text if isinstance(text, str) else words(row)
        ax.annotate(
            text, (1, place), (7, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", fontsize=8.6, annotation_clip=False,
        )  # fmt: skip
