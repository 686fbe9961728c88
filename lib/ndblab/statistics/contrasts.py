"""What the slices of a contrast say: one value per unit of analysis.

A block is the unit whatever the design: A B B A in short slices, both sides at once with their
servers swapped half-way, a pair of cluster starts, or two clusters started together. Neighbouring
seconds, or slices of one side, are never counted as independent. A block with a slice that failed,
or that other processes disturbed, is left out whole. One from which the hypervisor took CPU time
was measured again (`measuring.blocks`). It counts if that was its last attempt, or a duet, whose
sides lose the time alike.

Each half of A B B A compares both sides, so it has a value of its own (a column), which helps to
show how precise the mean is. Sides that ran in different cluster starts have a single value, since
the difference between the starts is common to both halves.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ndblab.dataset.schema import OK
from ndblab.error import MissingData
from ndblab.statistics import sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate, from_logs

A, B = "a", "b"


def whole(slices: pd.DataFrame, contrast: str) -> pd.DataFrame:
    """Return the slices of the whole blocks of a contrast, in the order of measurement.

    MissingData if there is no whole block.
    """
    mine = slices[slices["contrast"] == contrast]
    good = mine[(mine["status"] == OK) & (mine["qps"] > 0)]
    counted = good.groupby("block")["run_id"].transform("count")
    complete = good[counted == good["of"]]
    if complete.empty:
        raise MissingData(f"no whole block of the contrast {contrast}")
    return complete.sort_values(["block", "slot", "side"])


def log_ratios(
    slices: pd.DataFrame, contrast: str, quantity: str | pd.Series = "qps"
) -> np.ndarray:
    """Return the logarithm of A over B: one row per block, one column per half (or one in all).

    MissingData if no whole block has it.

    Parameters
    ----------
    quantity : a column of `slices`, or any positive quantity of slices by run id.
    """
    blocks = whole(slices, contrast)
    half = blocks["slot"] > blocks["of"] / 2
    apart = blocks[["block", "start"]].drop_duplicates()["block"].duplicated().any()
    sides_of_halves = blocks[["block", "side"]].assign(half=half).drop_duplicates()
    halves = sides_of_halves[["block", "half"]].drop_duplicates()
    if apart or len(sides_of_halves) < 2 * len(halves):
        half = pd.Series(0, index=blocks.index)
    sides = _means(blocks, contrast, quantity, np.log, [blocks["block"], half])
    if not {A, B} <= set(sides):
        raise MissingData(f"the contrast {contrast} has only one side")
    return (sides[A] - sides[B]).unstack().dropna().to_numpy()


def levels(
    slices: pd.DataFrame, contrast: str, quantity: str | pd.Series, side: str = A, log: bool = True
) -> np.ndarray:
    """Return the mean of a quantity (of its logarithm, with `log`) on one side, block by block."""
    blocks = whole(slices, contrast)
    scale = np.log if log else lambda values: values
    return _means(blocks, contrast, quantity, scale, [blocks["block"]])[side].dropna().to_numpy()


def of_blocks(logs: np.ndarray) -> np.ndarray:
    """Return one logarithm per block: the mean of its halves."""
    return logs if logs.ndim == 1 else logs.mean(axis=1)


def ratio(logs: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Return the ratio of a contrast from its logarithms, with the interval of `sequential`."""
    return from_logs(sequential.interval(logs, confidence))


def measured_ratio(
    slices: pd.DataFrame, contrast: str, quantity: str | pd.Series = "qps"
) -> Estimate:
    """Return the `ratio` of a contrast; NaN if no whole block has the quantity on both sides."""
    try:
        return ratio(log_ratios(slices, contrast, quantity))
    except MissingData:
        return Estimate(math.nan)


def _means(
    blocks: pd.DataFrame, contrast: str, quantity: str | pd.Series, scale, by: list[pd.Series]
) -> pd.DataFrame:
    """Return the mean of a scaled quantity: one row per group, one column per side.

    A group has no mean if one of its slices lacks the quantity.
    """
    named = isinstance(quantity, str)
    values = blocks[quantity] if named else blocks["run_id"].astype(str).map(quantity)
    values = values.astype(float)
    known = values.notna() & ((values > 0) | (scale is not np.log))
    scaled = scale(values.where(known)).groupby([*by, blocks["side"].astype(str)])
    means = scaled.mean()[scaled.count() == scaled.size()]
    if means.empty:
        raise MissingData(f"no whole block of {contrast} has this quantity")
    return means.unstack("side")
