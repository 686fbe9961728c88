"""Contrasts: the ratio of each with its repeated interval, every block, and what is allowed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.figures import forest
from ndblab.figures.entry import Anchors, Caption, Figure, Head, Tables
from ndblab.formatting import count, listed
from ndblab.statistics import contrasts
from ndblab.statistics.sequential import LOOKS

MOST = 10
"""Contrasts that one figure shows, the first ones of a dataset."""
_WORDS = 46
_ROW_IN, _AROUND_IN, _AXIS_IN = 0.42, 1.7, 0.85
_COLUMNS = ["servers", "clients", "transporter", "workload", "variant"]
ALIKE = "identical sides"
GOAL = "goal"
"""Value in the column `of` for bounds that sides which should be equal must keep."""
_EQUAL, _OTHERS = "Sides that should be equal", "Sides that may differ"


@dataclass(frozen=True)
class Shown:
    """A contrast with two sides: in words how they differ, and the logarithms of its ratios."""

    contrast: str
    words: str
    logs: np.ndarray

    @property
    def name(self) -> str:
        """Return the name of its row, with the number of its blocks."""
        words = textwrap.shorten(self.words, _WORDS, placeholder=" ...")
        words = words[0].upper() + words[1:]
        return f"{words}\n{self.contrast}, {count(len(self.logs), 'block')}"


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw a row for each contrast."""
    shown, left_out = _shown(tables)
    rows, names = _rows(shown), {one.contrast: one.name for one in shown}
    blocks = pd.concat(
        pd.DataFrame({"name": one.name, "ratio": np.exp(contrasts.of_blocks(one.logs))})
        for one in shown
    )
    bounds = tables.get("bounds", pd.DataFrame(columns=["contrast", "of", "low", "high"]))
    allowed = {
        names[row.contrast]: (row.low, row.high)
        for row in bounds.itertuples()
        if row.contrast in names
    }
    goals = set(bounds.loc[bounds["of"] == GOAL, "contrast"])
    equal = rows["contrast"].isin(goals) | (rows["words"] == ALIKE)
    parts = {title: rows[part] for title, part in ((_EQUAL, equal), (_OTHERS, ~equal))}
    parts = {title: part for title, part in parts.items() if len(part)}
    heights = [_AXIS_IN + _ROW_IN * len(part) for part in parts.values()]
    figure.set_figheight(_AROUND_IN - _AXIS_IN + sum(heights))
    within = np.ravel(figure.subfigures(len(parts), height_ratios=heights))
    for (title, part), place in zip(parts.items(), within, strict=True):
        ax, here = place.subplots(), set(part["name"])
        forest.draw(
            ax, part, "Throughput, A over B, ratio", each=blocks[blocks["name"].isin(here)],
            allowed={name: ends for name, ends in allowed.items() if name in here},
        )  # fmt: skip
        if len(parts) > 1:
            ax.set_title(title)
    notes = ["Circles: blocks, each of both sides."]
    notes += [forest.REPEATED] if rows["low"].notna().any() else []
    notes += ["Yellow: allowed by a claim or goal."] if allowed else []
    notes += [f"Not shown: {listed(left_out)}."] if left_out else []
    return Head(_title(rows), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the result of each contrast, and how its interval narrowed."""
    shown, _ = _shown(tables)
    words = [f"{_title(_rows(shown))}."]
    for one, row in zip(shown, _rows(shown).itertuples(), strict=True):
        text = f"{one.contrast} ({one.words}): {forest.words(row)}, "
        text += count(len(one.logs), "block")
        looks = [(n, contrasts.ratio(one.logs[:n])) for n in LOOKS if n <= len(one.logs)]
        if len(looks) > 1:
            (n, first), (_, last) = looks[0], looks[-1]
            widths = [100 * math.log(x.high / x.low) / 2 for x in (first, last)]
            text += (
                f"; to either side {widths[0]:.1f} % after {n} blocks, {widths[1]:.1f} % at last"
            )
        words.append(f"{text}.")
    return words


def _shown(tables: Tables) -> tuple[list[Shown], list[str]]:
    """Return the contrasts to show, and the names of those with one side only or beyond `MOST`."""
    slices, words = tables["slices"], tables.get("sides", pd.Series(dtype=str))
    shown, left_out = [], []
    for name in dict.fromkeys(slices["contrast"].astype(str)):
        try:
            whole = contrasts.whole(slices, name)
            logs = contrasts.log_ratios(slices, name)
        except MissingData:
            left_out.append(name)
            continue
        shown.append(Shown(name, words.get(name) or _in_words(whole), logs))
    if not shown:
        raise MissingData("no whole block of a contrast")
    return shown[:MOST], [*left_out, *(one.contrast for one in shown[MOST:])]


def _rows(shown: Sequence[Shown]) -> pd.DataFrame:
    rows = [(one.contrast, one.words, one.name, *contrasts.ratio(one.logs)) for one in shown]
    columns = ["contrast", "words", "name", "ratio", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _in_words(whole: pd.DataFrame) -> str:
    """Say how the sides differ."""
    points = whole.groupby("side")[_COLUMNS].first().astype(str)
    a, b = points.loc[contrasts.A], points.loc[contrasts.B]
    differ = [f"{key} {a[key]} over {b[key]}" for key in _COLUMNS if a[key] != b[key]]
    return ", ".join(differ) or ALIKE


def _title(rows: pd.DataFrame) -> str:
    """Say how close identical sides came, and how many other contrasts show a difference.

    For a single contrast, say how much its sides differ.
    """
    if len(rows) == 1:
        row = next(rows.itertuples())
        words = row.words[0].upper() + row.words[1:]
        if forest.is_clear(row):
            return f"{words}: {forest.change(row.ratio)} throughput"
        if math.isnan(row.low):
            return f"{words}: throughput {forest.words(row)}, without an interval yet"
        if row.high / row.low > formatting.OPEN:
            return f"{words}: throughput {forest.words(row)}, too uncertain to tell"
        return f"{words}: throughput {forest.words(row)}, within the error"
    alike = rows[rows["words"] == ALIKE]
    clear = [row for row in rows.itertuples() if forest.is_clear(row) and row.words != ALIKE]
    number = len(rows) - len(alike)
    said = f"{len(clear)} of {number} contrasts show a clear difference of throughput"
    ends = alike[["low", "high"]].to_numpy(float)
    if not len(alike) or np.isnan(ends).any():
        return said
    apart = formatting.percent(100 * np.abs(ends - 1).max())
    others = f"{len(clear)} of {number} others differ"
    return f"Identical sides came out within {apart} % of equal; {others}"
