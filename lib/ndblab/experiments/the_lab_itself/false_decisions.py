"""How often the lab would find a difference between identical sides.

Which of two identical sides is called A is arbitrary, and the design draws it anew in every block.
So each block's value may change its sign, and blocks their order: an analysis of such a sequence
might have been the real one. With 60 normal blocks, 4 % of these analyses decide falsely: 2.7 to
5.4 %, from one set of blocks to the next. Resampling hides whether neighbouring blocks are alike;
their correlation shows it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri

from ndblab.experiments import the_lab_itself as trust
from ndblab.statistics import contrasts, sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate

DRAWS = 5000
_SEED = 7742


def counted(slices: pd.DataFrame) -> pd.DataFrame:
    """Count the analyses that find a difference at any look.

    MissingData if the contrast has no whole block.

    Returns
    -------
    `analyses` (as recorded: all blocks as one sequence; each start: its blocks alone; resampled),
    `number` of them, `blocks` of each (the most), `false`, `false_pct` with its 95 % interval `low`
    and `high`. The interval treats analyses as independent: it says how exact the count is.
    """
    logs, start = contrasts.log_ratios(slices, trust.A_A), _start_of_block(slices)
    starts = [logs[start == number] for number in dict.fromkeys(start)]
    kinds = {
        "as recorded": _differs(logs[None]),
        "each start": np.concatenate([_differs(part[None]) for part in starts]),
        "resampled": _differs(_resampled(logs)),
    }
    rows = []
    for name, differs in kinds.items():
        most = max(map(len, starts)) if name == "each start" else len(logs)
        share = _share(int(differs.sum()), differs.size)
        rows.append((name, differs.size, most, int(differs.sum()), *(100 * x for x in share)))
    columns = ["analyses", "number", "blocks", "false", "false_pct", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def correlation(slices: pd.DataFrame) -> Estimate:
    """Return the correlation of neighbouring blocks of one start, with its 95 % interval (Fisher).

    NaN for fewer than 5 pairs of neighbours. MissingData if the contrast has no whole block.
    """
    logs = contrasts.of_blocks(contrasts.log_ratios(slices, trust.A_A))
    start = _start_of_block(slices)
    same = start[1:] == start[:-1]
    if same.sum() < 5:
        return Estimate(np.nan)
    value = float(np.corrcoef(logs[:-1][same], logs[1:][same])[0, 1])
    half = ndtri((1 + CONFIDENCE) / 2) / np.sqrt(same.sum() - 3)
    return Estimate(value, *(float(np.tanh(np.arctanh(value) + x)) for x in (-half, half)))


def _start_of_block(slices: pd.DataFrame) -> np.ndarray:
    return contrasts.whole(slices, trust.A_A).groupby("block")["start"].first().to_numpy()


def _resampled(logs: np.ndarray) -> np.ndarray:
    """Return sequences of blocks: draws, blocks, halves."""
    rng = np.random.default_rng(_SEED)
    order = rng.permuted(np.tile(np.arange(len(logs)), (DRAWS, 1)), axis=1)
    return logs[order] * rng.choice((-1, 1), order.shape)[..., None]


def _differs(logs: np.ndarray) -> np.ndarray:
    """Return, for each sequence, whether the interval excludes equality at any look."""
    differ, parts = np.zeros(len(logs), bool), logs.shape[2]
    for look in (n for n in sequential.LOOKS if n <= logs.shape[1]):
        seen = logs[:, :look]
        deviations = sequential.of_mean(parts) * np.sqrt(seen.var(axis=1, ddof=1).mean(axis=1))
        half = sequential.half_width(1.0, look, parts) * deviations
        differ |= np.abs(seen.mean(axis=(1, 2))) > half
    return differ


def _share(hits: int, number: int) -> Estimate:
    """Return a share with its exact interval (Clopper and Pearson 1934)."""
    tail = (1 - CONFIDENCE) / 2
    low = betaincinv(hits, number - hits + 1, tail) if hits else 0.0
    high = betaincinv(hits + 1, number - hits, 1 - tail) if hits < number else 1.0
    return Estimate(hits / number, float(low), float(high))
