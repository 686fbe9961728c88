"""Two kinds of runs compared pair by pair.

The runs of a pair were measured soon after one another, in the same repeat, with the same servers,
clients and workload, so drift between repeats cancels out. Runs of two datasets are never paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.statistics import estimate
from ndblab.statistics.estimate import Estimate, Variability

PAIR = ["repeat", "servers", "clients", "workload"]


def log_ratios(top: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of the throughput ratio of each pair; MissingData if there is no pair.

    Returns
    -------
    `clients` and `log`, one row a pair; a run without its counterpart is left out.
    """
    columns = [*PAIR, "qps"]
    both = top[columns].merge(base[columns], on=PAIR, suffixes=("", "_base"))
    if both.empty:
        raise MissingData("no pair of runs of both kinds in one repeat with equal clients")
    return both[["clients"]].assign(log=np.log(both["qps"] / both["qps_base"]))


def ratio(logs: pd.DataFrame, clients: Sequence[int]) -> Estimate:
    """Return the geometric mean of the ratios at these numbers of clients, with its t interval.

    The variability is that of pairs at equal clients. That of the pairs asked for is shrunk towards
    that of all pairs, since two or three pairs alone say little about it. MissingData if there is
    no pair with these clients.
    """
    asked = logs[logs["clients"].isin(clients)]
    if asked.empty:
        raise MissingData(f"no pair of runs with {', '.join(map(str, clients))} clients")
    centre = float(asked["log"].mean())
    known = _variability(logs).of_point(_variability(asked))
    if known.freedom == 0:
        return Estimate(math.exp(centre))
    half = float(estimate.t(known.freedom)) * known.deviation / math.sqrt(len(asked))
    return Estimate(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def _variability(logs: pd.DataFrame) -> Variability:
    """Return how much pairs at equal clients differ."""
    groups = logs.groupby("clients")["log"]
    squares = float(((logs["log"] - groups.transform("mean")) ** 2).sum())
    freedom = len(logs) - groups.ngroups
    return Variability(math.sqrt(squares / freedom) if freedom else math.nan, freedom)
