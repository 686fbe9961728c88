"""Where the variance of a slice comes from, and how much slices of identical sides differ."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.the_lab_itself import conditions, goals, variance
from ndblab.figures import contrast, forest, sheet
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import in_sentences, listed
from ndblab.judging import contrasted


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the deviation that each part adds, and that of the ratio of two slices."""
    parts, apart = (of(tables["slices"]) for of in (variance.components, variance.apart))
    left, right = sheet.panels(figure, 2)
    parts = parts.assign(name=[f"{row.part}\n({row.number})" for row in parts.itertuples()])
    apart = apart.assign(name=apart["apart"].str.replace(", ", ",\n"))
    for ax, table, title, label in (
        (left, parts, "What each part adds", "Standard deviation, % of throughput"),
        (right, apart, "Two slices of equal configuration", "Standard deviation of ratio, %"),
    ):
        rows = table.rename(columns={"sd_pct": "ratio"})
        texts = [_words(row).replace(" (", "\n(") for row in table.itertuples()]
        forest.draw(ax, rows.assign(text=texts), label, equal=None)
        ax.set_title(title)
    notes = [
        "Slice: a few seconds of load. Block: four of them in turns. Both sides are alike; in "
        "brackets how many. Whiskers: 95 % interval."
    ]
    unknown = parts.loc[parts["sd_pct"].isna(), "part"]
    notes += [f"Too few to tell: {listed(unknown)}."] if len(unknown) else []
    return Head(_title(parts, apart), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe each part and each distance with its interval."""
    parts, apart = (of(tables["slices"]) for of in (variance.components, variance.apart))
    of_parts = (f"{row.part} {_words(row)}" for row in parts.itertuples())
    of_pairs = (f"{row.apart} {_words(row)}" for row in apart.itertuples())
    return [
        f"{_title(parts, apart)}.",
        *in_sentences("Standard deviation that each part adds to a slice", of_parts),
        *in_sentences("Standard deviation of the ratio of two slices", of_pairs),
    ]


def _words(row) -> str:
    if np.isnan(row.sd_pct):
        return "unknown"
    return f"{row.sd_pct:.1f} % ({row.low:.1f} to {row.high:.1f} %)"


def _title(parts: pd.DataFrame, apart: pd.DataFrame) -> str:
    """Say how much slices differ the further apart they are, or else which part adds most."""
    known = apart[apart["sd_pct"].notna()]
    if len(known) > 1:
        deviations = [f"{row.sd_pct:.0f} % ({row.apart})" for row in known.itertuples()]
        return f"Two slices of one configuration deviate by {listed(deviations)}"
    known = parts[parts["sd_pct"].notna()].sort_values("sd_pct", ascending=False)
    if known.empty:
        return "Too few slices to say where their variance comes from"
    most, *others = known.itertuples()
    title = f"A {most.part} adds most to the variance, {most.sd_pct:.1f} %"
    return title + (f"; {listed(f'a {o.part} {o.sd_pct:.1f} %' for o in others)}" if others else "")


def _computed(data: Dataset) -> dict[str, pd.DataFrame | pd.Series]:
    """Return the bounds of each contrast, the lab's own goals included, and its sides in words."""
    goal = pd.DataFrame([(name, contrast.GOAL, *ends) for name, ends in goals.RANGES.items()])
    goal.columns = ["contrast", "of", "low", "high"]
    of_claims = contrasted.bounds_of(data)["bounds"]
    measured = {entry["name"] for entry in data.manifest.get("contrasts", ())}
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
        paint, describe, ("slices",), height_in=3.0,
    ),
}  # fmt: skip
