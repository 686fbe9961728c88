"""What a figure is: its question, what it is drawn from, and what draws and describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ndblab.figures.sheet import HEIGHT_IN, Head

DATASET, FORECAST, PLAN = "dataset", "forecast", "plan"


@dataclass(frozen=True)
class Entry:
    """A figure: its question, how it is painted and described, and what it is drawn from.

    `paint` draws panels on an empty sheet and returns the answer as its title, with notes on how to
    read it; `describe` returns sentences, the answer first. `tables` are those it needs of its
    `source`. With `one_workload` it shows the runs of only one.
    """

    question: str
    paint: Callable[..., Head]
    describe: Callable[..., list[str]]
    tables: tuple[str, ...] = ("runs",)
    source: str = DATASET
    height_in: float = HEIGHT_IN
    one_workload: bool = False
    old: bool = False
