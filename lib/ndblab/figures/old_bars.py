"""Horizontal bars with numbers beside them, whole or in parts.

In: axes, lengths. Out: painted bars, the first one on top. It knows no quantity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ndblab.figures import old_sheet as sheet
from ndblab.formatting import plain

_ROOM = 1.5
"""Length of an axis over its longest bar, for the number beside it."""


def stacked(ax: Axes, table: pd.DataFrame, parts: Mapping[str, str], total: str) -> None:
    """Draw a bar for each row, a part for each of these columns, and its total beside it.

    Parameters
    ----------
    parts : colours by column.
    total : the column of the whole; a row without one is named as not measured.
    """
    left = np.zeros(len(table))
    places = np.arange(len(table))
    for column, colour in parts.items():
        length = table[column].fillna(0).to_numpy()
        ax.barh(places, length, left=left, height=0.6, color=colour)
        left += length
    for place, value in zip(places, table[total], strict=True):
        known = math.isfinite(value)
        beside(ax, left[place], place, plain(value) if known else "not measured")


def beside(ax: Axes, x: float, y: float, text: str) -> None:
    """Write a number to the right of the end of a bar."""
    ax.annotate(text, (x, y), (6, 0), textcoords="offset points", va="center", fontsize=8.5)


def finish(ax: Axes, longest: float, label: str) -> None:
    """Leave room for the numbers, put the first bar on top, and name the axis."""
    ax.set_xlim(0, longest * _ROOM)
    ax.invert_yaxis()
    sheet.trim_ticks(ax)
    ax.set_xlabel(label)
    ax.grid(False, axis="y")
