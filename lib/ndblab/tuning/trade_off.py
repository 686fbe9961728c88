"""What a search's finalists change besides its goal: throughput, p95, CPU per query and memory.

Ratios are of a finalist over the baseline, from the blocks of its confirmation alone. For each
quantity, the intervals of all finalists hold together with 95 %.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ndblab.comparing import figure as comparing
from ndblab.comparing import judged
from ndblab.error import MissingData
from ndblab.figures import forest, sheet, style
from ndblab.figures.sheet import Head
from ndblab.formatting import listed
from ndblab.planning.workload import CLIENT_ROLES
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate
from ndblab.tuning.answer import retold
from ndblab.tuning.history import CONFIRM, contrast
from ndblab.tuning.outcome import ERROR
from ndblab.tuning.wanted import GOALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ndblab.dataset import Dataset
    from ndblab.tuning.outcome import Outcome
    from ndblab.tuning.space import Configuration

MEMORY = "memory"
HEIGHT_IN = 2.6
"""Height of the sheet without its finalists."""
PER_FINALIST_IN = 0.5
_NOTED = 300
"""Characters of settings that are legible above the panels."""
_SERVERS = "servers"
_STAR = "\N{BLACK STAR}"
_COLUMNS = 42
"""Characters per line of settings in their own panel."""
_WORSE = 0.06
"""Opacity of the shading on the worse side of the baseline."""


class _Quantity(NamedTuple):
    name: str
    more_is_better: bool
    colour: str


_QUANTITIES = {
    "throughput": _Quantity("queries/s", True, style.THROUGHPUT),
    "p95": _Quantity("p95", False, style.LATENCY),
    "cpu": _Quantity("CPU per query", False, style.VIOLET),
    MEMORY: _Quantity("memory of the nodes", False, style.DATA_NODE),
}


def of(data: Dataset, outcome: Outcome) -> dict[Configuration, dict[str, Estimate]]:
    """Return how each finalist with a block changed all quantities, by name.

    A finalist that sets the number of MySQL servers has no memory: the first recorded searches
    started both clusters with the larger number, so the side with fewer servers also had idle ones.
    """
    confidence = 1 - ERROR / max(1, len(outcome.finalists))
    changes = {
        finalist.configuration: _of(data, contrast(CONFIRM, finalist.configuration), confidence)
        for finalist in outcome.finalists
        if finalist.blocks
    }
    for configuration, quantities in changes.items():
        if _SERVERS in dict(configuration):
            del quantities[MEMORY]
    return changes


def _of(data: Dataset, name: str, confidence: float) -> dict[str, Estimate]:
    logs = judged.blocks(data, name)
    ratios = {goal: contrasts.ratio(logs[place], confidence) for goal, place in GOALS.items()}
    return ratios | {MEMORY: _memory(data, name, confidence)}


def _memory(data: Dataset, name: str, confidence: float) -> Estimate:
    """Return the memory held by a tried configuration's nodes, over that of the other's nodes."""
    processes = data.tables["processes"]
    nodes = processes[~processes["role"].isin(CLIENT_ROLES)]
    held = nodes.groupby(nodes["run_id"].astype(str))["rss_bytes"].sum()
    return contrasts.ratio(judged.block_logs(data.slices, held, name), confidence)


def table(answer: Mapping[str, Any]) -> pd.DataFrame:
    """Return the ratios of a search's plain answer, for a figure.

    Returns
    -------
    A row for each finalist and quantity: `number` and `settings` of the finalist, whether it is the
    `winner`, `quantity`, `ratio`, `low` and `high`. The answer in a sentence is in `attrs`.
    """
    chosen = next((e for e in answer["finalists"] if e["configuration"] == answer["winner"]), None)
    rows = [
        (number, listed(own), finalist is chosen, quantity, *map(ratio.get, Estimate._fields))
        for number, finalist in enumerate(answer["finalists"], 1)
        for own in [finalist["configuration"]]
        for quantity, ratio in finalist["beside"].items()
        if not (quantity == MEMORY and any(w.startswith(f"{_SERVERS}=") for w in own))
    ]
    columns = ["number", "settings", "winner", "quantity", "ratio", "low", "high"]
    ratios = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[-3:], float))
    ratios = ratios.dropna(subset="ratio").reset_index(drop=True)
    ratios.attrs["headline"] = retold(answer)
    ratios.attrs["goal"] = answer["goal"]
    return ratios


def paint(figure: Figure, rows: pd.DataFrame) -> Head:
    """Draw a small forest for each quantity; the baseline is the line at no change.

    MissingData if no finalist has a block.
    """
    if rows.empty:
        raise MissingData("no finalist of the search has a whole block")
    shown = [name for name in _QUANTITIES if name in set(rows["quantity"])]
    across = 1 if sheet.is_tall(figure) else 2
    down = math.ceil(len(shown) / across)
    sheet.grow(figure, max(0.0, height_in(rows) - figure.get_figheight()))
    sheet.grow(figure, (down - 2) * figure.get_figheight() / 2)
    panels = figure.subplots(down, across, squeeze=False)
    for ax, name in zip(panels.flat, shown, strict=False):
        _draw(ax, rows[rows["quantity"] == name], _QUANTITIES[name])
    empty = list(panels.flat)[len(shown) :]
    for ax in empty:
        ax.set_axis_off()
    numbered = rows.drop_duplicates("number")
    named = [f"Finalist {row.number}: {row.settings}." for row in numbered.itertuples()]
    if sum(map(len, named)) > _NOTED:
        named = ["Finalists are numbered as in the answer, which names their settings."]
        if empty:
            _write_settings(empty[0], rows)
    notes = [
        "Dark line: the baseline. Shaded: worse than it.",
        "Bars: 95 % intervals, of each quantity for all finalists together, from new starts."
        if rows["low"].notna().any() else "Too few blocks for intervals.",
    ]  # fmt: skip
    if 0 < rows["low"].isna().sum() < len(rows):
        notes.append("Without a bar: too few blocks for an interval.")
    notes += [f"{_STAR}: confirmed."] if rows["winner"].any() else []
    return Head(title(rows), notes + named)


def _draw(ax, mine: pd.DataFrame, quantity: _Quantity) -> None:
    stars = mine["winner"].map({True: f" {_STAR}", False: ""})
    named = mine.assign(name=mine["number"].astype(str) + stars)
    forest.draw(
        ax, named[["name", "ratio", "low", "high"]], "over the baseline, ratio",
        colour=quantity.colour,
    )  # fmt: skip
    better = "more" if quantity.more_is_better else "less"
    ax.set_title(f"{quantity.name} ({better} is better)")
    low, high = ax.get_xlim()
    ends = (low, 1.0) if quantity.more_is_better else (1.0, high)
    ax.axvspan(*ends, color=style.INK, alpha=_WORSE, lw=0, zorder=0)
    ax.set_xlim(low, high)


def _write_settings(ax: Axes, rows: pd.DataFrame) -> None:
    """Write the settings of the confirmed finalist, or of the first one if none is."""
    row = next(rows.sort_values("winner", ascending=False, kind="stable").itertuples())
    ax.set_title(f"Settings of finalist {row.number}")
    # A panel is as high as it has finalists.
    lines = 2 + rows["number"].nunique()
    filled = textwrap.fill(f"{row.settings}.", _COLUMNS, max_lines=lines, placeholder=" ...")
    text = ax.text(
        0, 0.97, filled, transform=ax.transAxes, va="top",
        fontsize=8.6, color=style.INK, linespacing=1.5,
    )  # fmt: skip
    text.set_in_layout(False)


def title(rows: pd.DataFrame) -> str:
    """Return the answer with what else the winner changes for certain."""
    headline = str(rows.attrs["headline"])
    mine = rows[rows["winner"] & (rows["quantity"] != rows.attrs["goal"])]
    if mine.empty:
        return headline
    clear = [row for row in mine.itertuples() if forest.is_clear(row)]
    changes = [f"{_QUANTITIES[row.quantity].name} {forest.change(row.ratio)}" for row in clear]
    return f"{headline}; {listed(changes) if changes else 'nothing else changes for certain'}"


def describe(rows: pd.DataFrame) -> list[str]:
    """Describe each finalist's changes, the answer first."""
    said = [f"{title(rows)}."]
    for number, mine in rows.groupby("number"):
        changes = [f"{_QUANTITIES[r.quantity].name} {forest.words(r)}" for r in mine.itertuples()]
        said.append(f"Finalist {number}, {mine['settings'].iloc[0]}: {'; '.join(changes[:2])}.")
        said += [f"Finalist {number} also: {'; '.join(changes[2:])}."] if changes[2:] else []
    return said


def save(data: Dataset, rows: pd.DataFrame, workload: str, folder: Path) -> Path | None:
    """Write the figure as a picture, and return its file; None if no finalist has a block."""
    if rows.empty:
        return None
    with sheet.page(height_in(rows)) as figure:
        sheet.sign(figure, paint(figure, rows), comparing.source(data, workload))
    return comparing.write(figure, folder / f"{data.id}-trade-off.png")


def height_in(rows: pd.DataFrame) -> float:
    """Return the height of a sheet with so many finalists."""
    return HEIGHT_IN + PER_FINALIST_IN * rows["number"].nunique()
