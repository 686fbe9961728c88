"""How well the model predicted an earlier sweep: what its method and its intervals rest on.

In: `data/capacity_model/earlier_sweep.csv`. Out: its rows, and the deviation of each method. The
corrections in it were all tried on that sweep, so only another one can test the choice.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd

FILE = Path(__file__).resolve().parents[4] / "data" / "capacity_model" / "earlier_sweep.csv"


@functools.cache
def table() -> pd.DataFrame:
    """Return the errors of throughput on that sweep: a row for each method that was tried.

    Returns
    -------
    `name`, `points`, `median_pct`, `p90_pct`, `bias_pct` as in `errors.verdicts`, `deviation` (root
    mean square of the logarithm of measured over predicted), `fitted` and `tested` (dataset ids).
    """
    return pd.read_csv(FILE)


def deviation(name: str) -> float:
    """Return by how much the mean of a point deviates from a method's prediction, in logarithms.

    It holds the drift of the host between two sweeps, the difference between two clusters, and what
    the model itself gets wrong.
    """
    return float(table().set_index("name").loc[name, "deviation"])
