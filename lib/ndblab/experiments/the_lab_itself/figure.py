"""Where the variance of a slice comes from, and how much slices far apart differ.

In: slices of identical sides. Out: a painted figure and its description.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.the_lab_itself import conditions, goals, variance
from ndblab.figures import contrast, selection
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.judging import bounds
from ndblab.judging.publication import Anchor

_WIDEST = 3.0
"""Longest whisker that the axis makes room for, over the largest value."""


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the deviation that each part adds, and that of the ratio of two slices."""
    parts, apart = _tables(tables["slices"])
    [[left, right]] = sheet.panels(figure, columns=(1, 1), wspace=0.5, left=0.14)
    labels = [f"{row.part}\n({row.number})" for row in parts.itertuples()]
    cut = _panel(left, parts, labels)
    left.set_title(f"What each part adds; CPU budget {caption.budget}")
    left.set_xlabel("Standard deviation, percent of throughput")
    cut |= _panel(right, apart, [name.replace(", ", ",\n") for name in apart["apart"]])
    right.set_title("Two slices of equal configuration")
    right.set_xlabel("Standard deviation of ratio, percent")
    notes = ["From slices of identical sides; in brackets how many. Whiskers: 95 % interval."]
    notes += ["Arrows: it reaches further."] if cut else []
    unknown = parts.loc[parts["sd_pct"].isna(), "part"]
    notes += [f"Too few to tell: {formatting.listed(unknown)}."] if len(unknown) else []
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each part and each distance with its interval."""
    parts, apart = _tables(tables["slices"])
    of_parts = (f"{row.part} {_words(row)}" for row in parts.itertuples())
    of_pairs = (f"{row.apart} {_words(row)}" for row in apart.itertuples())
    return [
        f"Standard deviation that each part adds to a slice: {formatting.listed(of_parts)}.",
        f"Standard deviation of the ratio of two slices: {'; '.join(of_pairs)}.",
    ]


def _tables(slices: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    try:
        return variance.components(slices), variance.apart(slices)
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None


def _words(row) -> str:
    if np.isnan(row.sd_pct):
        return "unknown"
    return f"{row.sd_pct:.1f} % ({row.low:.1f} to {row.high:.1f} %)"


def _panel(ax: Axes, table: pd.DataFrame, labels: list[str]) -> bool:
    """Draw values with whiskers, one below the other; return whether a whisker is cut."""
    y = pd.Series(np.arange(len(table), dtype=float))
    most = min(table["high"].max(), _WIDEST * table["sd_pct"].max())
    most = 1.0 if np.isnan(most) or most == 0 else most
    for place, row in zip(y, table.itertuples(), strict=True):
        if np.isnan(row.sd_pct):
            ax.text(0.02 * most, place, "unknown", va="center", fontsize=8.5, color=style.QUIET)
            continue
        ax.plot([row.low, min(row.high, most)], [place] * 2, color=style.INK, lw=1.4)
        ax.plot(row.low, place, "|", color=style.INK, ms=9)
        ax.plot(min(row.high, most), place, ">" if row.high > most else "|", color=style.INK, ms=7)
        ax.plot(row.sd_pct, place, "o", color=style.THROUGHPUT, ms=7, zorder=4)
        ax.annotate(f"{row.sd_pct:.1f} %", (row.sd_pct, place), (0, 8),
                    textcoords="offset points", ha="center", fontsize=8.5)  # fmt: skip
    ax.set_ylim(len(table) - 0.5, -0.6)
    ax.set_xlim(-0.02 * most, most * 1.08)
    sheet.trim_ticks(ax)
    ax.set_yticks(y, labels)
    ax.grid(False, axis="y")
    return bool((table["high"] > most).any())


def _computed(data: Dataset) -> dict[str, pd.DataFrame | pd.Series]:
    """Return the bounds of each contrast, the lab's own goals included, and its sides in words."""
    goal = pd.DataFrame([(name, "goal", *ends) for name, ends in goals.RANGES.items()])
    goal.columns = ["contrast", "of", "low", "high"]
    of_claims = bounds.of_dataset(data)["bounds"]
    measured = {each["name"] for each in data.manifest.get("contrasts", ())}
    mine = goal["contrast"].isin(measured - set(of_claims["contrast"]))
    together = goal[mine] if of_claims.empty else pd.concat([of_claims, goal[mine]])
    words = {name: " over ".join(sides) for name, sides in conditions.SIDES.items()}
    return {"bounds": together, "sides": pd.Series(words)}


FIGURES = {
    "contrast": Entry(
        "What does each contrast show, and after how many blocks?",
        contrast.paint, contrast.describe, ("slices",),
        computed=_computed,
    ),
    "variance": Entry(
        "Where does the variance of a measurement come from?",
        paint, describe, ("slices",), height_in=4.6,
    ),
}  # fmt: skip
