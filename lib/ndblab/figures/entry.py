"""A figure as an entry: what it asks, how it is drawn, and what it needs.

The entries are in the experiments' modules `figure`, by key: the number of the brief's figure, or
the name of one of the lab's own. This module has all that those need to declare one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ndblab import discovery
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import HEIGHT_IN, Caption, Head
from ndblab.judging.publication import Anchor

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

__all__ = ["DATASET", "FORECAST", "PLAN", "Anchors", "Caption", "Entry", "Figure", "Head", "Tables"]

DATASET, FORECAST, PLAN = "dataset", "forecast", "plan"
Anchors = Sequence[Anchor]
"""The published numbers of a figure."""


@dataclass(frozen=True)
class Entry:
    """A figure: its question, how it is painted and described, and what it is drawn from.

    `paint` draws panels on an empty sheet and returns the answer as its title, with notes on how to
    read it; `describe` returns sentences, the answer first. Both may raise MissingData.
    `tables` are those it needs of its `source`; `computed` adds some that follow from a dataset,
    and `recorded` gives what it shows if that is not a dataset of its own experiment.
    With `one_workload`, it shows runs of a single workload. `published` gives the numbers to
    compare with if they are not those of its key; with `of_the_brief`, the lab measured nothing
    in it. With `under_quotas`, its title says so where quotas divide the CPUs.
    """

    question: str
    paint: Callable[..., Head]
    describe: Callable[..., list[str]]
    tables: tuple[str, ...] = ("runs",)
    source: str = DATASET
    height_in: float = HEIGHT_IN
    one_workload: bool = False
    computed: Callable[[Dataset], Mapping[str, pd.DataFrame]] | None = None
    recorded: Callable[[], object] | None = None
    published: Callable[[], Anchors] | None = None
    of_the_brief: bool = False
    under_quotas: bool = False


@functools.cache
def entries() -> dict[str, Entry]:
    """Return every figure by its key."""
    return {
        key: entry
        for module in discovery.modules("figure")
        for key, entry in module.FIGURES.items()
    }
