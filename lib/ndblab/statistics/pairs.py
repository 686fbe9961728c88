"""Two kinds of runs compared pair by pair.

The runs of a pair were measured soon after one another, in the same repeat, with the same servers,
clients and workload, so drift between repeats cancels out. It never pairs runs of two datasets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.statistics import blocks, estimate
from ndblab.statistics.estimate import CONFIDENCE, Estimate, Variability

PAIR = ["repeat", "servers", "clients", "workload"]


def log_ratios(top: pd.DataFrame, base: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithm of the throughput ratio of each pair.

    Returns
    -------
    `clients` and `log`, one row a pair; a run without its counterpart is left out.

    Raises
    ------
    MissingData
        If there is no pair.
    """
    columns = [*PAIR, "qps"]
    both = top[columns].merge(base[columns], on=PAIR, suffixes=("", "_base"))
    if both.empty:
        raise _no_pair()
    return both[["clients"]].assign(log=np.log(both["qps"] / both["qps_base"]))


def ratio(logs: pd.DataFrame, clients: Sequence[int], confidence: float = CONFIDENCE) -> Estimate:
    """Return the geometric mean of the ratios at these numbers of clients, with its t interval.

    The variability is that of pairs at equal clients: the one of all pairs takes part in that of
    those asked for, since two or three pairs alone say little about it.

    Raises
    ------
    MissingData
        If there is no pair with these clients.
    """
    asked = logs[logs["clients"].isin(clients)]
    if asked.empty:
        raise MissingData(f"no pair of runs with {', '.join(map(str, clients))} clients")
    centre = float(asked["log"].mean())
    known = _variability(logs).of_point(_variability(asked))
    if known.freedom == 0:
        return Estimate(math.exp(centre))
    half = float(estimate.t(known.freedom, confidence)) * known.deviation / math.sqrt(len(asked))
    return Estimate(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def peak_ratio(top: pd.DataFrame, base: pd.DataFrame) -> tuple[Estimate, int, int]:
    """Compare the best throughput of two kinds of runs, each at its own best number of clients.

    Only pairs count, both kinds are block-adjusted together, and the interval allows for how the
    peaks were picked (`estimate.peak_ratio`).

    Returns
    -------
    The ratio, and the clients at which `top` and `base` are best.

    Raises
    ------
    MissingData
        If there is no pair.
    """
    keys = base.set_index(PAIR).index.intersection(top.set_index(PAIR).index)
    sides = [side[side.set_index(PAIR).index.isin(keys)] for side in (top, base)]
    if not len(keys):
        raise _no_pair()
    both = pd.concat(sides)
    both = both.assign(qps=blocks.block_adjusted(both, "qps"))
    pooled = blocks.variability(both, "qps")
    values = [both.loc[side.index].groupby("clients")["qps"] for side in sides]
    runs = [[points.to_numpy() for _, points in side] for side in values]
    best = [int(side.mean().idxmax()) for side in values]
    return estimate.peak_ratio(runs[0], runs[1], pooled), best[0], best[1]


def _variability(logs: pd.DataFrame) -> Variability:
    """Return how much pairs at equal clients differ."""
    groups = logs.groupby("clients")["log"]
    squares = float(((logs["log"] - groups.transform("mean")) ** 2).sum())
    freedom = len(logs) - groups.ngroups
    return Variability(math.sqrt(squares / freedom) if freedom else math.nan, freedom)


def _no_pair() -> MissingData:
    return MissingData("no pair of runs of both kinds in one repeat with equal clients")
