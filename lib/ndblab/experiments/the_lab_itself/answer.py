"""The answer about the lab itself: which of its own goals it meets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndblab.experiments.the_lab_itself import goals
from ndblab.formatting import plain
from ndblab.judging.answer import Answer
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("the-lab-itself")
def trust(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Name the goals that are met, missed and open; `table` is that of `goals`."""
    said: dict[str, list[str]] = {goals.MET: [], goals.MISSED: [], goals.OPEN: []}
    for row in table.itertuples():
        # A number of blocks or starts is its own measured value.
        numbers = "" if row.unit in ("blocks", "starts") else f" ({_numbers(row)})"
        said[row.met].append(f"{row.goal}{numbers}")
    # What it decides comes before how much it measured.
    said[goals.MET].sort(key=lambda goal: not goal.endswith(")"))
    met = f"the lab meets {len(said[goals.MET])} of its {len(table)} goals"
    missed = tuple(f"missed is the goal: {goal}" for goal in said[goals.MISSED])
    return Answer((met, *said[goals.MET], *missed), tuple(f"whether {g}" for g in said[goals.OPEN]))


def _numbers(row) -> str:
    if row.measured != row.measured:
        return "not measured"
    interval = f", {plain(row.low)} to {plain(row.high)}" if row.low == row.low else ""
    return f"{plain(row.measured)}{interval}"
