"""Where the variance of a slice comes from: the slice itself, its block, its cluster start.

The model is nested: the logarithm of a slice's throughput is a mean plus an effect of the start, of
the block within it, and of the slice. Components come from the mean squares; their intervals are
generalised confidence intervals (Tsui and Weerahandi 1989), which hold for few starts as well.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ndblab.experiments import the_lab_itself as trust
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import CONFIDENCE

PARTS = ("slice", "block", "cluster start")
DISTANCES = ("same block", "another block, same start", "another start")
_DRAWS = 20_000
_SEED = 7742


def components(slices: pd.DataFrame) -> pd.DataFrame:
    """Return the standard deviation that each part adds to a slice's throughput.

    MissingData if the contrast has no whole block.

    Returns
    -------
    `part`, `number` of them, `sd_pct` with its 95 % interval `low` and `high` (NaN where there are
    too few). Percent of throughput.
    """
    point, drawn, numbers = _variances(slices)
    table = _table("part", PARTS, np.sqrt(point), np.sqrt(drawn))
    table.insert(1, "number", numbers)
    return table


def apart(slices: pd.DataFrame) -> pd.DataFrame:
    """Return how much two slices of the same configuration differ, by how far apart they are.

    MissingData if the contrast has no whole block.

    Returns
    -------
    `apart`, `sd_pct` of the logarithm of their ratio with its 95 % interval `low` and `high`, and
    `times` that of slices of one block, with `times_low` and `times_high`.
    """
    point, drawn, _ = _variances(slices)
    together, of_draws = (np.sqrt(2 * np.cumsum(x, axis=0)) for x in (point, drawn))
    table = _table("apart", DISTANCES, together, of_draws)
    times = _table("apart", DISTANCES, together / together[0], of_draws / of_draws[0], 1)
    names = {"sd_pct": "times", "low": "times_low", "high": "times_high"}
    return table.join(times.rename(columns=names).drop(columns="apart"))


def _variances(slices: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int]]:
    """Return the three variances, draws of each for its interval, and how many parts there are."""
    whole = contrasts.whole(slices, trust.A_A)
    logs = np.log(whole["qps"].astype(float))
    block, start = (logs.groupby(whole[key]).transform("mean") for key in ("block", "start"))
    squares = np.array(
        [((logs - block) ** 2).sum(), ((block - start) ** 2).sum(),
         ((start - logs.mean()) ** 2).sum()]
    )  # fmt: skip
    blocks = whole.groupby("start")["block"].nunique()
    numbers = (len(whole), int(blocks.sum()), len(blocks))
    freedom = np.array([numbers[0] - numbers[1], numbers[1] - numbers[2], numbers[2] - 1])
    of_block = len(whole) / numbers[1]
    # Blocks of a start, where starts have different numbers of them.
    of_start = (numbers[1] - (blocks**2).sum() / numbers[1]) / max(1, numbers[2] - 1)
    known = np.where(freedom > 0, freedom, math.nan)
    rng = np.random.default_rng(_SEED)
    drawn = squares[:, None] / rng.chisquare(np.maximum(freedom, 1)[:, None], (3, _DRAWS))
    drawn[freedom == 0] = math.nan
    return (
        _split(squares / known, of_block, of_start), _split(drawn, of_block, of_start), numbers
    )  # fmt: skip


def _split(means: np.ndarray, of_block: float, of_start: float) -> np.ndarray:
    """Return the variance of each part from the mean squares; none is negative."""
    return np.array(
        [means[0], np.maximum(0, (means[1] - means[0]) / of_block),
         np.maximum(0, (means[2] - means[1]) / (of_block * of_start))]
    )  # fmt: skip


def _table(
    key: str, names: tuple[str, ...], point: np.ndarray, drawn: np.ndarray, unit: float = 100
) -> pd.DataFrame:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail), axis=1)
    columns = {"sd_pct": unit * point, "low": unit * low, "high": unit * high}
    return pd.DataFrame({key: names, **columns})
