"""The first picture of the README: every effect that was judged here, beside what was published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.figures import forest, sheet
from ndblab.judging import verdict
from ndblab.judging.publication import Anchor, Claim
from ndblab.measuring import recorded
from ndblab.publishing import drawing
from ndblab.publishing.notebook import exhibit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = recorded.RECORDED / "effects.png"
_ROW_IN, _AXIS_IN, _AROUND_IN = 0.42, 0.6, 0.8
_NARROW = 0.46, 1.1, 0.1, 4.4
"""Heights and width of a narrow picture."""
_SMALL = 0.8, 1.3
"""Ratios whose intervals lie between these have a panel of their own: on the axis of the others
their intervals would be hidden by the dots."""
_ROWS = "Rows"
"""The metadata field of the picture's file that holds the rows it shows."""


def table(every: pd.DataFrame, claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the ratios of tested claims with an interval, decided or inconclusive, largest first.

    Parameters
    ----------
    every : verdicts (`verdict_tables.every`).

    Returns
    -------
    `id`, `name` (what is compared), `ratio`, `low`, `high`, `verdict`, and the range that the claim
    allows: `least`, `most`.
    """
    known = {claim.id: claim for claim in claims if claim.effect}
    tested = every["verdict"].isin(verdict.TESTED) & every["id"].isin(known.keys())
    rows = every[tested & every["measured"].notna() & every["low"].notna()].rename(
        columns={"measured": "ratio"}
    )
    bounds = [verdict.allowed(known[name]) for name in rows["id"]]
    rows = rows.assign(
        name=[known[name].effect for name in rows["id"]],
        least=[low for low, _ in bounds],
        most=[high for _, high in bounds],
    )
    columns = ["id", "name", "ratio", "low", "high", "verdict", "least", "most"]
    return rows.sort_values("ratio", ascending=False)[columns].reset_index(drop=True)


def title(rows: pd.DataFrame) -> str:
    """Say how many of the effects are decided, and how many of these as published."""
    decided = sum(rows["verdict"] != verdict.INCONCLUSIVE)
    as_published = sum(rows["verdict"] == verdict.REPRODUCED)
    of = f"{decided or 'None'} of {len(rows)} testable effects are decided"
    if not decided:
        return f"{of} yet"
    return f"{of}, {'' if as_published == decided else f'{as_published} '}as published"


def open_yet(rows: pd.DataFrame) -> str:
    """Say how many undecided effects point the published way; empty if none does."""
    allowed = (rows["low"] >= rows["least"]) & (rows["high"] <= rows["most"])
    number = int((allowed & (rows["verdict"] != verdict.REPRODUCED)).sum())
    if not number:
        return ""
    point, each = ("points", "") if number == 1 else ("point", " each")
    return f"{number} more {point} the published way, from one cluster start{each}."


def draw(rows: pd.DataFrame, claims: Sequence[Claim], narrow: bool = False) -> Figure:
    """Draw a forest: each effect with its interval, what was published, and what it allows.

    Parameters
    ----------
    narrow : whether it is for half a screen, or a phone's.
    """
    wide = _ROW_IN, _AXIS_IN, _AROUND_IN, sheet.WIDTH_IN
    row_in, axis_in, around_in, width_in = _NARROW if narrow else wide
    known = {claim.id: claim for claim in claims}
    anchors = {
        row.name: [_mark(known[row.id])]
        for row in rows.itertuples()
        if known[row.id].comparison == "equal"
    }
    parts = _parts(rows)
    heights = [axis_in + row_in * len(part) for part in parts.values()]
    with sheet.page(around_in + sum(heights), width_in) as figure:
        panels = np.ravel(figure.subplots(len(parts), height_ratios=heights))
        for (effects, part), ax in zip(parts.items(), panels, strict=True):
            allowed = {row.name: (row.least, row.most) for row in part.itertuples()}
            stars = {name: marks for name, marks in anchors.items() if name in allowed}
            forest.draw(ax, part, f"{effects}, ratio", allowed=allowed, anchors=stars)
        more = sum(bool(claim.effect) for claim in claims) - len(rows)
        notes = ["Dots: measured, with 95 % intervals.", "Yellow: what the claim allows."]
        notes += ["Star: the size that was published, of another machine."] if anchors else []
        notes += [words] if (words := open_yet(rows)) else []
        notes += [f"{more} other published effects cannot be tested here."] if more else []
        head = sheet.Head(title(rows), notes)
        sheet.sign(figure, head, "Recorded datasets of this repository: virtual machines, 2 CPUs.")
    return figure


def _parts(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Divide effects into large and small ones, each with the words below its panel."""
    ends = rows[["ratio", "low", "high"]]
    small = (ends.min(axis=1) >= _SMALL[0]) & (ends.max(axis=1) <= _SMALL[1])
    parts = {"Large effects": rows[~small], "Small effects": rows[small]}
    return {words: part for words, part in parts.items() if len(part)}


def on_site(every: pd.DataFrame, claims: Sequence[Claim]) -> str:
    """Return the picture of the site's first page, as SVG whose points link to their claims."""
    return exhibit.explorable(
        drawing.svg(draw(table(every, claims), claims, narrow=True)),
        lambda place: f"claims.html#{place.removeprefix('claim-')}",
    )


def write(every: pd.DataFrame, claims: Sequence[Claim]) -> None:
    """Draw the picture and write it, with its rows, into the folder of recorded data."""
    rows = table(every, claims)
    draw(rows, claims).savefig(PICTURE, metadata={_ROWS: _text(rows), "Software": None})


def is_current(every: pd.DataFrame, claims: Sequence[Claim]) -> bool:
    """Return whether the picture shows these verdicts."""
    from PIL import Image

    with Image.open(PICTURE) as image:
        return image.info.get(_ROWS) == _text(table(every, claims))


def _mark(claim: Claim) -> Anchor:
    return Anchor("", "", 0, 0, claim.low, claim.unit, "about", "", claim.id, claim.source)


def _text(rows: pd.DataFrame) -> str:
    shown = rows[["id", "name", "verdict"]].assign(
        numbers=[_number(row) for row in rows.itertuples()]
    )
    return json.dumps(shown.to_dict("records"))


def _number(row) -> str:
    between = f" ({row.low:.3f} to {row.high:.3f})" if row.low == row.low else ""
    return f"{row.ratio:.3f}{between}" if row.ratio == row.ratio else "unknown"
