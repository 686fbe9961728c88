"""The answer about the lab itself: which of its own goals it meets."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.the_lab_itself import goals
from ndblab.formatting import change, count, listed, percent, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Answer


@answers("the-lab-itself")
def trust(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Name the goals that are met, missed and open; `table` is that of `goals.together`."""
    said: dict[str, list[str]] = {goals.MET: [], goals.MISSED: [], goals.OPEN: []}
    for row in table.itertuples():
        said[row.met].append(_said(row))
    # What the lab decides comes before how much it measured.
    said[goals.MET].sort(key=lambda goal: not goal.endswith(")"))
    met = f"the lab meets {len(said[goals.MET])} of its {len(table)} goals"
    if earlier := len(table["earlier"].iloc[0]):
        met += f", in each of {count(1 + earlier, 'recording')}"
    missed = tuple(f"missed is the goal: {goal}" for goal in said[goals.MISSED])
    still_open = tuple(f"whether {goal}" for goal in said[goals.OPEN])
    return Answer((met, *said[goals.MET], *missed), still_open, advice=tuple(_advice(table)))


_COUNTS = {
    "blocks": "{} blocks of identical sides were measured",
    "starts": "these blocks come from {} cluster starts",
}
"""How to state a goal that a number meets, by unit."""


def _said(row) -> str:
    """Write a goal with what was measured."""
    if row.measured != row.measured:
        return f"{row.goal} (not measured)"
    if row.unit in _COUNTS and row.met == goals.MET:
        return _COUNTS[row.unit].format(plain(row.measured))
    if row.unit in _COUNTS:
        return f"{row.goal} ({plain(row.measured)})"
    if row.unit == "ratio":
        earlier = [change(one.measured, one.low, one.high) for one in row.earlier]
        words = f"{row.goal}: {change(row.measured, row.low, row.high)}"
        return f"{words}, earlier {listed(earlier)}" if earlier else words
    ends = f"{percent(row.low)} to {percent(row.high)} %; " if row.low == row.low else ""
    finds = (
        f"the lab finds a difference in {percent(row.measured)} % of resampled decisions on "
        "identical sides"
    )
    return f"{finds} ({ends}goal: {row.goal})"


_ALIKE = "identical sides "


def _advice(table: pd.DataFrame) -> Iterator[str]:
    """Say which differences are too small to act on, by design: how closely equal sides agree.

    The recording in which they agreed least counts.
    """
    alike = table[table["goal"].str.startswith(_ALIKE)].dropna(subset=["low", "high"])
    limits = []
    for row in alike.itertuples():
        bounded = (one for one in (row, *row.earlier) if one.high == one.high)
        apart = max(max(one.high - 1, 1 - one.low) for one in bounded)
        design = row.goal.removeprefix(_ALIKE).partition(" differ")[0]
        limits.append(f"below {percent(100 * apart)} % {design}")
    if limits:
        yield (
            f"Do not act on a difference {' or '.join(limits)}: identical sides are not known to "
            "agree more closely"
        )
