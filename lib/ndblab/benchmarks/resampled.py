"""Comparisons of planted truths, resampled from measured blocks.

Blocks are drawn again, with the whole difference of their sides removed and a known one planted.
Noise, drift and stragglers are thus the measured ones, and the truth is known; the judgement is the
lab's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ndblab.benchmarks import trials as judgements
from ndblab.benchmarks.row import Row, shown
from ndblab.benchmarks.worlds import BLOCK_S
from ndblab.comparing import judged
from ndblab.comparing.request import MINUTES
from ndblab.design.contrast import ALTERNATION, RESTARTS, SWITCHED
from ndblab.measuring import recorded
from ndblab.statistics import contrasts
from ndblab.statistics.sequential import LOOKS

EQUAL_TRIALS, PLANTED_TRIALS = 1000, 100
PLANTED = (1.02, 0.98, 1.05, 0.95, 1.10, 0.90)
TOGETHER = 4
"""Consecutive blocks that are drawn together, to keep what neighbours have in common."""
LEAST_BLOCKS = 6
"""Fewest blocks of a measured contrast: with fewer, its noise is not known."""


def redrawn(pool: np.ndarray, blocks: int, truth: float, rng: np.random.Generator) -> np.ndarray:
    """Draw blocks, a few neighbours at a time, in which B has `truth` times the queries/s of A.

    Which measured side becomes A is drawn, too.
    """
    firsts = rng.integers(len(pool), size=-(-blocks // TOGETHER))
    chosen = (firsts[:, None] + np.arange(TOGETHER)).ravel()[:blocks] % len(pool)
    sign = rng.choice((-1.0, 1.0))
    return sign * pool[chosen] + math.log(truth)


def compare() -> list[Row]:
    """Judge resampled comparisons of equal sides, and of planted 2, 5 and 10 %."""
    truths, rows = [judgements.SAME] * EQUAL_TRIALS + [*PLANTED] * PLANTED_TRIALS, []
    # The seconds of a block are those on two CPUs (docs/compare.md).
    for name, measured, block_s in (
        ("slices in turn", pools(ALTERNATION), 20.0),
        ("under one load", pools(SWITCHED), 27.0),
        ("clients in turn", pools_of_file(ALTERNATION, halves=2), BLOCK_S[ALTERNATION]),
        ("restarts, clients in turn", pools_of_file(RESTARTS, halves=1), BLOCK_S[RESTARTS]),
    ):
        most = max(look for look in LOOKS if look * block_s <= 60 * MINUTES)
        drawn = shown(truths, f"compare, {name}")
        trials = judge(measured, drawn, most, block_s, np.random.default_rng(1))
        trials["limit_min"] = most * block_s / 60
        rows += judgements.rows(f"{name}, resampled", trials, {})
    return rows


def pools(design: str) -> list[np.ndarray]:
    """Return the recorded contrasts of a design that have enough whole blocks: logs of B over A.

    Each has a row per block, and a column per half (or one in all), without the sides' difference.
    """
    return [
        pool
        for data in recorded.every()
        for contrast in data.manifest.get("contrasts", ())
        if contrast["design"] == design
        for pool in _pool(judged.block_logs(data.slices, "qps", contrast["name"]))
    ]


def pools_of_file(design: str, halves: int) -> list[np.ndarray]:
    """Return the comparisons of `trials.FILE`, in which the clients of the sides took turns.

    Lines whose blocks do not have so many values are left out: older ones have means of halves.
    """
    known = pd.read_csv(judgements.FILE)
    every = map(judgements.halves, known.loc[known["design"] == design, "logs"])
    return [pool for logs in every if logs.shape[1] == halves for pool in _pool(logs)]


def judge(
    pools: Sequence[np.ndarray],
    truths: Iterable[float],
    most: int,
    block_s: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Make a comparison of each truth, and judge it at the first look that decides it.

    Parameters
    ----------
    most : blocks after which it is left open.
    block_s : seconds of a block.

    Returns
    -------
    `truth`, `outcome`, `ratio`, `minutes` of each comparison.
    """
    trials = []
    for truth in truths:
        logs = redrawn(pools[rng.integers(len(pools))], most, truth, rng)
        for look in (look for look in LOOKS if look <= most):
            ratio = contrasts.ratio(logs[:look])
            outcome = judged.outcome(ratio)
            if outcome != judged.UNDECIDED:
                break
        trials.append((truth, outcome, ratio.value, look * block_s / 60))
    return pd.DataFrame(trials, columns=["truth", "outcome", "ratio", "minutes"])


def _pool(logs: np.ndarray) -> list[np.ndarray]:
    """Return blocks without the difference of their sides; none if there are too few."""
    return [logs - logs.mean()] if len(logs) >= LEAST_BLOCKS else []
