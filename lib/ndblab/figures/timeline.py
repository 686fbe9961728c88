"""Time series: samples with their running median, spans that are shaded, and events with words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes

from ndblab.figures import sheet, style
from ndblab.statistics import series

IN_MINUTES_FROM_S = 600
_SMOOTHED_FROM = 10 * series.WINDOW
_LETTER_IN = 0.072
"""Width of a letter of an event's label, a little wide."""


def unit(duration_s: float) -> tuple[int, str]:
    """Return the unit of time for a run of this length, in seconds and in words."""
    return (60, "minutes") if duration_s >= IN_MINUTES_FROM_S else (1, "seconds")


def draw(ax: Axes, times: pd.Series, values: pd.Series, colour: str) -> None:
    """Draw every sample, and the running median where there are many."""
    table = pd.DataFrame({"t": times, "value": values})
    plot = style.plot(table, x="t", y="value")
    if len(values) < _SMOOTHED_FROM:
        plot = plot.add(so.Line(color=colour, linewidth=1))
    else:
        plot = plot.add(so.Line(color=colour, linewidth=0.6, alpha=0.35)).add(
            so.Line(color=colour, linewidth=1.6), data=table.assign(value=series.smooth(values))
        )
    plot.label(x="", y="").on(ax).plot()
    ax.set_xlim(0, float(times.max()))


def shade(ax: Axes, spans: Iterable[tuple[float, float]]) -> None:
    """Shade spans of time behind the samples."""
    for begin, end in spans:
        ax.axvspan(begin, end, facecolor=style.PALE, edgecolor="none", alpha=0.7, zorder=0)


def label(ax: Axes, events: Sequence[tuple[float, str]], dashes: str = ":") -> None:
    """Mark events with a line each, and write their words above the panel, none over another.

    Parameters
    ----------
    dashes : style of the lines; if empty, none is drawn.
    """
    low, high = ax.get_xlim()
    width_in = 0.8 * sheet.size_in(ax)[0]
    free_from: list[float] = []
    for time, words in sorted(events):
        if dashes:
            ax.axvline(time, color=style.INK, lw=0.9, ls=dashes, zorder=3)
        begin_in = (time - low) / (high - low) * width_in
        length_in = _LETTER_IN * len(words)
        # Words that would leave the panel at the right stand at the left of their line.
        right = begin_in + length_in > width_in
        begin_in = begin_in - length_in if right else begin_in
        row = next((i for i, end in enumerate(free_from) if end <= begin_in), len(free_from))
        free_from[row:] = [begin_in + length_in, *free_from[row + 1 :]]
        ax.annotate(
            words, (time, 1), (-2 if right else 2, 1 + 9 * row),
            xycoords=ax.get_xaxis_transform(), textcoords="offset points",
            ha="right" if right else "left", va="bottom", fontsize=7.2, color=style.INK,
            annotation_clip=False,
        )  # fmt: skip
