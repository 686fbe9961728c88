"""How well the model predicted earlier sweeps: what its method and its intervals rest on.

In: `data/capacity_model/earlier_sweeps.csv`. Out: its rows, and the deviation of each method. The
corrections in it were all tried on the same sweep, so only another one can test the choice.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pandas as pd

FILE = Path(__file__).resolve().parents[4] / "data" / "capacity_model" / "earlier_sweeps.csv"


@functools.cache
def table() -> pd.DataFrame:
    """Return the errors of throughput: a row for each method that was tried on a sweep.

    Returns
    -------
    `name`, `points`, `median_pct`, `p90_pct`, `bias_pct` as in `errors.verdicts`, `deviation` (root
    mean square of the logarithm of measured over predicted), `fitted` and `tested` (dataset ids).
    """
    return pd.read_csv(FILE)


def deviation(name: str) -> float:
    """Return by how much the mean of a point deviates from a method's prediction, in logarithms.

    It is the root mean square over all points of all sweeps. It holds the drift of the host between
    two sweeps, the difference between two clusters, and what the model itself gets wrong.
    """
    rows = table()[table()["name"] == name]
    return float(np.sqrt(np.average(rows["deviation"] ** 2, weights=rows["points"])))
