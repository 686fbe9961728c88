"""What the slices of a contrast say: one value per unit of analysis.

In: the table `slices` of a dataset, and a quantity of each slice. Out: one number per block. A
block is the unit whatever the design: A B B A in short slices, both sides at once with their
servers swapped half-way, or a pair of cluster starts. Neighbouring seconds, or the slices of one
block, are never counted as independent. A block with a disturbed or failed slice is left out whole.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.analysis import sequential
from ndblab.analysis.estimate import CONFIDENCE, Estimate
from ndblab.dataset.schema import OK
from ndblab.error import MissingData

A, B = "a", "b"
APART_S = 300
"""Blocks this far apart are independent enough for an absolute value, which the host's drift does
not spare as it spares a ratio: in the recorded hour, minutes correlate up to six apart."""


def whole(slices: pd.DataFrame, contrast: str) -> pd.DataFrame:
    """Return the slices of the whole blocks of a contrast, in the order of measurement.

    Raises
    ------
    MissingData
        If there is no whole block.
    """
    mine = slices[slices["contrast"] == contrast]
    good = mine[(mine["status"] == OK) & (mine["qps"] > 0)]
    counted = good.groupby("block")["run_id"].transform("count")
    found = good[counted == good["of"]]
    if found.empty:
        raise MissingData(f"no whole block of the contrast {contrast}")
    return found.sort_values(["block", "slot", "side"])


def log_ratios(
    slices: pd.DataFrame, contrast: str, quantity: str | pd.Series = "qps"
) -> np.ndarray:
    """Return the logarithm of A over B, block by block.

    Parameters
    ----------
    quantity : a column of `slices`, or any positive quantity of slices by run id.

    Raises
    ------
    MissingData
        If no whole block has it.
    """
    sides = _by_block(slices, contrast, quantity, np.log)
    if not {A, B} <= set(sides):
        raise MissingData(f"the contrast {contrast} has only one side")
    return (sides[A] - sides[B]).dropna().to_numpy()


def levels(
    slices: pd.DataFrame,
    contrast: str,
    quantity: str | pd.Series,
    side: str = A,
    log: bool = True,
    apart_s: float = 0.0,
) -> np.ndarray:
    """Return the mean of a quantity (of its logarithm, with `log`) on one side, block by block.

    Parameters
    ----------
    apart_s : leave out blocks that began sooner after the last one kept; `APART_S` for throughput,
        latency and whatever follows them, 0 for parts compared within slices.
    """
    sides = _by_block(slices, contrast, quantity, np.log if log else lambda values: values)
    found = sides[side].dropna()
    if apart_s:
        mine = slices[slices["contrast"] == contrast]
        began = pd.to_datetime(mine["started_utc"]).groupby(mine["block"]).min()
        kept: list[int] = []
        for block in found.index:
            if not kept or (began[block] - began[kept[-1]]).total_seconds() >= apart_s:
                kept.append(block)
        found = found[kept]
    return found.to_numpy()


def ratio(logs: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Return the ratio that logarithms stand for, with the interval of `sequential`."""
    with np.errstate(over="ignore"):
        return Estimate(*(float(x) for x in np.exp(sequential.interval(logs, confidence))))


def _by_block(slices: pd.DataFrame, contrast: str, quantity: str | pd.Series, scale):
    """Return the mean of a scaled quantity: one row per block, one column per side."""
    found = whole(slices, contrast)
    named = isinstance(quantity, str)
    values = found[quantity] if named else found["run_id"].astype(str).map(quantity)
    values = values.astype(float)
    known = values.notna() & ((values > 0) | (scale is not np.log))
    table = scale(values[known]).groupby([found["block"], found["side"]]).agg(["mean", "count"])
    counts = found.groupby([found["block"], found["side"]]).size()
    means = table["mean"][table["count"] == counts.reindex(table.index)]
    if means.empty:
        raise MissingData(f"no whole block of {contrast} has this quantity")
    return means.unstack("side")
