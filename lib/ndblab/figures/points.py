"""Words for the points of a figure, for readers who ask: what each is, its interval, its rows.

A picture shows none of them. In an SVG each point has a link, whose address `read` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import CircleCollection
from matplotlib.figure import Figure

from ndblab.formatting import count, plain

_SIZE_PT2 = 220
"""Area around a point in which a pointer finds it."""
_MOST = 5
_COUNTED = {"runs": "run", "units": "block"}
_PLACES = {"id": "claim", "contrast": "contrast"}
"""What identifies the rows of a point if they are not runs, by column."""


class Point(NamedTuple):
    """The words of a point, in lines, and where its rows are, such as "run-ID" or "contrast-ID"."""

    words: str
    place: str


def add(
    ax: Axes,
    rows: pd.DataFrame,
    x: Iterable[float],
    y: Iterable[float],
    what: Iterable[object],
    along: str = "y",
) -> None:
    """Give the points of a panel their words; call it when the panel has its scales and labels.

    Parameters
    ----------
    rows : for each point, as far as it has them: `low` and `high`, or the value in words (`said`);
        `runs` or `units`; and `run_ids`, `contrast` or `id` (of a claim).
    what : names of the points.
    along : the axis that the value is on.
    """
    offsets = np.column_stack([np.asarray(list(places), float) for places in (x, y)])
    notes = []
    for place, row, name in zip(offsets, rows.to_dict("records"), what, strict=True):
        value = place[1] if along == "y" else place[0]
        interval = [row.get("low", np.nan), row.get("high", np.nan)]
        at = plain(place[0]) if along == "y" else ""
        said = row.get("said") or _value(value, *interval)
        notes.append([str(name), at, said, *_rows(row)])
    marks = CircleCollection(
        [_SIZE_PT2], offsets=offsets, offset_transform=ax.transData, facecolors=[(1, 1, 1, 0)],
        edgecolors="none", linewidths=[0, 0], zorder=9,
    )  # fmt: skip
    marks.set_urls([json.dumps(note) for note in notes])
    marks.set_gid(f"points {json.dumps([ax.get_xlabel(), ax.get_ylabel(), along])}")
    ax.add_collection(marks, autolim=False)


def finish(figure: Figure) -> None:
    """Write the words of all points, with the final labels of their axes."""
    for ax in figure.axes:
        for marks in ax.collections:
            gid = marks.get_gid() or ""
            if gid.startswith("points "):
                x, y, along = json.loads(gid.removeprefix("points "))
                labels = ax.get_xlabel() or x, ax.get_ylabel() or y
                marks.set_urls([_written(url, labels, along) for url in marks.get_urls()])
                marks.set_gid(None)


def read(url: str) -> Point:
    """Read the address of a point's link in an SVG."""
    return Point(*json.loads(url))


def _value(value: float, low: float, high: float) -> str:
    interval = f" ({plain(low)} to {plain(high)})" if low == low and high == high else ""
    return f"{plain(value)}{interval}"


def _rows(row: dict) -> tuple[str, str]:
    """Return what a point was made of, and where that is."""
    row = {key: value for key, value in row.items() if value == value and value}
    counted = [count(int(row[key]), one) for key, one in _COUNTED.items() if key in row]
    ids = str(row.get("run_ids", "")).split()
    if ids:
        more = ["..."] if len(ids) > _MOST else []
        return f"{', '.join(counted)}: {', '.join([*ids[:_MOST], *more])}", f"run-{ids[0]}"
    place = next((f"{kind}-{row[key]}" for key, kind in _PLACES.items() if key in row), "")
    return ", ".join(counted), place


def _written(url: str, labels: tuple[str, str], along: str) -> str:
    name, at, value, made_of, place = json.loads(url)
    quantity = labels[1] if along == "y" else labels[0]
    lines = [name, f"{labels[0]}: {at}" if at else "", f"{quantity}: {value}", made_of]
    return json.dumps(Point("\n".join(filter(None, lines)), place))
