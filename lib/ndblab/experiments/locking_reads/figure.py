"""Locks of reads: a cell for each statement and isolation level, with the record locks it holds.

Every cell says in words what its colour means, so that it can be read in grey.
"""

from __future__ import annotations

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from ndblab.error import MissingData
from ndblab.experiments.locking_reads import HELD, ISOLATIONS, RUNNING
from ndblab.experiments.locking_reads import analysis as locks
from ndblab.figures import sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import count, in_sentences, listed

# Of Okabe and Ito's palette, which the colour-blind can tell apart.
_NONE, _SHARED, _EXCLUSIVE = "white", "#9fd3f2", "#f2c067"
_EDGE = "#bbbbbb"
_LINE, _TALL_LINE = 34, 19
"""Characters in a line of a cell, and of one on a tall sheet."""
_TALL_ROW_IN, _HEAD = 0.42, 0.24
"""Extra height of a row on a tall sheet, and the share of a row that its statement takes."""


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the statements below each other, the isolation levels side by side."""
    kinds, statements = _kinds(tables)
    panel = figure.subfigures()
    ax = panel.subplots()
    tall = sheet.is_tall(figure)
    if tall:
        sheet.grow(panel, _TALL_ROW_IN * len(statements))
    colours = {"no record lock": _NONE, "shared (S)": _SHARED, "exclusive (X)": _EXCLUSIVE}
    keys = [Patch(fc=colour, ec=_EDGE, label=name) for name, colour in colours.items()]
    panel.legend(handles=keys, loc="outside upper left", ncols=len(keys))
    for y, statement in enumerate(statements):
        for x, isolation in enumerate(ISOLATIONS):
            locked = (locks.in_words(kinds, statement, isolation, m) for m in (RUNNING, HELD))
            _cell(ax, x, y, *locked, _TALL_LINE if tall else _LINE)
    ax.set_xlim(0, len(ISOLATIONS))
    ax.set_ylim(len(statements), 0)
    ax.set_xticks([x + 0.5 for x in range(len(ISOLATIONS))], ISOLATIONS)
    if tall:
        # Over its cells, a statement takes no width from them.
        for y, statement in enumerate(statements):
            ax.text(0, y + _HEAD / 2, statement, va="center", fontsize=8, color=style.INK)
        ax.set_yticks([])
    else:
        ax.set_yticks([y + 0.5 for y in range(len(statements))], statements)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=8.2)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    runs = tables["locks"]["run_id"].nunique()
    notes = [
        f"{count(runs, 'run')}. Record locks on the table that is read, at its last row, as in "
        "performance_schema.data_locks, and whether they stay until the transaction ends. S or "
        "X: the record and the gap before it; REC_NOT_GAP: the record alone."
    ]
    return Head(_title(kinds, statements), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe every cell."""
    kinds, statements = _kinds(tables)
    sentences = [f"{_title(kinds, statements)}."]
    for isolation in ISOLATIONS:
        cells = []
        for statement in statements:
            running, held = (
                locks.in_words(kinds, statement, isolation, at) for at in (RUNNING, HELD)
            )
            kept = f", {_kept(running, held)}" if running else ""
            cells.append(f"{statement}: {' and '.join(running) or 'none'}{kept}")
        sentences += in_sentences(f"Record locks in {isolation}", cells)
    return sentences


def _title(kinds: pd.DataFrame, statements: list[str]) -> str:
    """Say how many statements lock records, by isolation level."""
    running = kinds[kinds["moment"] == RUNNING]
    locking = running.groupby("isolation", observed=True)["statement"].nunique()
    numbers = [f"{locking.get(isolation, 0)} in {isolation}" for isolation in ISOLATIONS]
    return f"Of {count(len(statements), 'statement')}, {listed(numbers)} lock records they read"


def _kinds(tables: Tables) -> tuple[pd.DataFrame, list[str]]:
    table = tables["locks"]
    if table.empty:
        raise MissingData("no lock was read")
    return locks.kinds(table), list(dict.fromkeys(table["statement"].astype(str)))


def _kept(running: list[str], held: list[str]) -> str:
    """Say what becomes of locks after the statement."""
    if not held:
        return "released with the statement"
    if held == running:
        return "kept"
    return f"then {listed([words for words in held if words not in running] or held)}"


def _cell(ax: Axes, x: int, y: int, running: list[str], held: list[str], line: int) -> None:
    exclusive = any(" X" in words for words in running)
    colour = _EXCLUSIVE if exclusive else _SHARED if running else _NONE
    head = _HEAD if line == _TALL_LINE else 0
    box = Rectangle((x, y + head), 1, 1 - head, fc=colour, ec=_EDGE, lw=1, clip_on=False)
    ax.add_patch(box)
    kept = [_kept(running, held)] if running else []
    text = "\n".join(textwrap.fill(words, line) for words in [*running, *kept]) or "none"
    middle = y + (1 + head) / 2
    ax.text(x + 0.5, middle, text, ha="center", va="center", fontsize=7, color=style.INK)


FIGURES = {
    "locks": Entry(
        "Which record locks does a statement take on the table it reads?",
        paint, describe, ("locks",), height_in=5.2,
    ),
}  # fmt: skip
