"""Axes of ratios: how far they reach, and ticks whose labels leave each other room."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from ndblab.figures import sheet

WIDEST = 4.0
"""How far the axis follows a whisker, as a factor of the values' range or of the narrowest
interval; a longer whisker gets an arrow."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_TICKS, _TICK_IN = 8, 0.6
_IN_DECADE = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Ticks of a decade, most first."""
_NUMBER_IN = 0.3
"""Least distance between ticks that are numbers, in inches."""


def limits(rows: pd.DataFrame, kept: Sequence[float], log: bool) -> tuple[float, float]:
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


def in_numbers(ax: Axes, part: float) -> None:
    """Label a logarithmic axis with as many numbers as it has room for.

    `part` is roughly the part of its panel that the axis takes; names and numbers take the rest.
    """
    low, high = ax.get_xlim()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inch = math.log(high / low) / (part * sheet.size_in(ax)[0])
    for steps in _IN_DECADE:
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if (np.diff(np.log(ticks)) > _NUMBER_IN * inch).all():
            break
    ax.xaxis.set_major_locator(FixedLocator(ticks))


def in_percent(ax: Axes, label: str, part: float) -> None:
    """Label an axis of ratios in signed percentages, with a tick where both sides are equal.

    `part` is as for `in_numbers`.
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
