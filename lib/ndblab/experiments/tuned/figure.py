"""What the finalists of a search change: throughput, p95, CPU per query and memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.tuned import searched
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.tuning import trade_off

_TABLE = "trade_off"


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw each quantity of each finalist over the baseline."""
    return trade_off.paint(figure, tables[_TABLE])


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe what each finalist changes."""
    return trade_off.describe(tables[_TABLE])


def _computed(data: Dataset) -> Mapping[str, pd.DataFrame]:
    return {_TABLE: trade_off.table(data.manifest["answer"])}


FIGURES = {
    "trade-off": Entry(
        "What do the best configurations of a search cost besides what they gain?",
        paint,
        describe,
        tables=(_TABLE,),
        height_in=trade_off.HEIGHT_IN + 3 * trade_off.PER_FINALIST_IN,
        computed=_computed,
        recorded=partial(searched.obtain, host=searched.RECORDED),
    ),
}
