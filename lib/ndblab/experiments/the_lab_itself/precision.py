"""How precise a design is, and what that costs: identical sides in alternation and in duet."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import chdtri

from ndblab.error import MissingData
from ndblab.experiments import the_lab_itself as trust
from ndblab.statistics import contrasts, sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate

WANTED = 0.02
"""Half-width of the interval until which minutes are counted: a ratio within 2 %."""


def designs(slices: pd.DataFrame) -> pd.DataFrame:
    """Compare the contrasts of identical sides.

    Returns
    -------
    `contrast`, `blocks`, `ratio` with its interval `ratio_low` and `ratio_high`, `block_s` (seconds
    from block to block), `sd_pct` of a block's ratio with its 95 % interval `low` and `high`,
    `minutes` until an interval probably reaches 2 % to either side (NaN: at no look).
    """
    rows = []
    for name in (trust.A_A, trust.A_A_DUET):
        try:
            logs = contrasts.log_ratios(slices, name)
        except MissingData:
            continue
        spread, seconds = deviation(logs), block_s(slices, name)
        parts = logs.shape[1]
        widths = [(n, sequential.half_width(spread.value, n, parts)) for n in sequential.LOOKS]
        units = next((n for n, half in widths if half <= WANTED), math.nan)
        rows.append(
            (name, len(logs), *contrasts.ratio(logs), seconds, *(100 * x for x in spread),
             units * seconds / 60)
        )  # fmt: skip
    columns = ["contrast", "blocks", "ratio", "ratio_low", "ratio_high", "block_s", "sd_pct",
               "low", "high", "minutes"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def deviation(values: np.ndarray) -> Estimate:
    """Return the standard deviation of a block with the interval of normal values.

    NaN for one block.
    """
    freedom = values.size - values[:1].size
    if freedom < 1:
        return Estimate(math.nan)
    tail = (1 - CONFIDENCE) / 2
    value = sequential.deviation(values)
    low, high = (value * math.sqrt(freedom / chdtri(freedom, p)) for p in (tail, 1 - tail))
    return Estimate(value, low, high)


def block_s(slices: pd.DataFrame, contrast: str) -> float:
    """Return the median seconds of a block: until the next block begins, whatever its contrast.

    If no block has a next one in the same cluster start, only the slots count.
    """
    whole = contrasts.whole(slices, contrast)
    began = pd.to_datetime(slices["started_utc"])
    keys = [slices["start"], slices["contrast"].astype(str), slices["block"]]
    begun = began.groupby(keys).min().sort_values(kind="stable")
    lasted = -begun.groupby("start").diff(-1).dt.total_seconds()
    mine = lasted[lasted.index.get_level_values("contrast") == contrast].dropna()
    slots = whole.groupby(["block", "slot"])[["warmup_s", "duration_s"]].max().sum(axis=1)
    seconds = mine if len(mine) else slots.groupby("block").sum()
    return float(seconds.median())
