"""Comparisons whose truth is known: how often the lab's judgement of them is right.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab.benchmarks.row import Row
from ndblab.comparing.judged import EQUIVALENT, FASTER, SLOWER, UNDECIDED
from ndblab.formatting import count

if TYPE_CHECKING:
    import pandas as pd

EQUAL = 1.0
RIGHT, WRONG, OPEN = "right", "wrong", "open"
MOST_WRONG_PCT = 5.0
"""Of equal sides, the share that may be called faster or slower: what 95 % promise."""


def mark(truth: float, outcome: str) -> str:
    """Say whether an outcome is right for a true ratio of B over A.

    >>> mark(1.05, "faster"), mark(1.0, "slower"), mark(0.95, "undecided")
    ('right', 'wrong', 'open')
    """
    if outcome == UNDECIDED:
        return OPEN
    expected = EQUIVALENT if truth == EQUAL else FASTER if truth > EQUAL else SLOWER
    return RIGHT if outcome == expected else WRONG


def rows(
    what: str, trials: pd.DataFrame, limit_min: float, goals_pct: Mapping[float, float]
) -> list[Row]:
    """Return a row for equal sides, and one for each size of a planted difference.

    Parameters
    ----------
    trials : one comparison each: its `truth` and measured `ratio` (B over A), `outcome`, `minutes`.
    limit_min : minutes after which a comparison was left open.
    goals_pct : per cent of comparisons that must be right, by per cent of difference.
    """
    marks = [mark(*pair) for pair in zip(trials["truth"], trials["outcome"], strict=True)]
    sizes_pct = (100 * (trials["truth"].astype(float) - 1)).abs().round(1)
    found = []
    for size_pct, mine in trials.assign(mark=marks).groupby(sizes_pct):
        shares = {name: 100 * float((mine["mark"] == name).mean()) for name in (RIGHT, WRONG, OPEN)}
        minutes = mine["minutes"].median()
        note = f"{count(len(mine), 'comparison')} of at most {limit_min:g} min: "
        if size_pct:
            title, value = f"{what}, {size_pct:g} %: told right", shares[RIGHT]
            goal = {"at_least": goals_pct.get(size_pct)}
            note += f"wrong {shares[WRONG]:.1f} %, "
        else:
            title, value = f"{what}, equal: told apart", shares[WRONG]
            goal = {"at_most": MOST_WRONG_PCT}
            note += f"equivalent {shares[RIGHT]:.1f} %, "
        note += f"open {shares[OPEN]:.1f} %; half within {minutes:.1f} min"
        found.append(Row(title, (value,), "%", note=note, **goal))
    return found
