"""Comparisons of planted truths, resampled from recorded slices.

Measured blocks are drawn again, with the whole difference of their sides removed and a known one
planted. Noise, drift and stragglers are thus the recorded ones, and the truth is known; the
judgement is the lab's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ndblab.benchmarks import trials as judgements
from ndblab.benchmarks.row import Row, shown
from ndblab.comparing import judged, made
from ndblab.comparing.request import MINUTES
from ndblab.design.contrast import ALTERNATION, SWITCHED
from ndblab.error import MissingData
from ndblab.judging.verdict import INCONCLUSIVE
from ndblab.measuring import recorded
from ndblab.statistics import contrasts
from ndblab.statistics.sequential import LOOKS

EQUAL_TRIALS, PLANTED_TRIALS = 1000, 100
PLANTED = (1.02, 0.98, 1.05, 0.95, 1.10, 0.90)
TOGETHER = 4
"""Consecutive blocks that are drawn together, to keep what neighbours have in common."""
LEAST_BLOCKS = 6
"""Fewest blocks of a recorded contrast: with fewer, its noise is not known."""
BLOCK_S = {ALTERNATION: 20.0, SWITCHED: 27.0}
"""Seconds of a block (docs/compare.md)."""


@dataclass(frozen=True)
class Pool:
    """The whole blocks of a recorded contrast, without the difference of its sides.

    `slices` has the same number of rows for each block, in order.
    """

    slices: pd.DataFrame
    blocks: int

    def drawn(self, blocks: int, truth: float, rng: np.random.Generator) -> pd.DataFrame:
        """Draw blocks, a few neighbours at a time, in which B has `truth` times the queries/s of A.

        Which recorded side becomes A is drawn, too.
        """
        firsts = rng.integers(self.blocks, size=-(-blocks // TOGETHER))
        chosen = (firsts[:, None] + np.arange(TOGETHER)).ravel()[:blocks] % self.blocks
        of = len(self.slices) // self.blocks
        found = self.slices.iloc[(chosen[:, None] * of + np.arange(of)).ravel()]
        side = found["side"].to_numpy()
        if rng.random() < 0.5:
            side = np.where(side == "a", "b", "a")
        qps = found["qps"].to_numpy() * np.where(side == "b", truth, 1.0)
        return found.assign(side=side, qps=qps, block=np.repeat(np.arange(1, blocks + 1), of))


def compare() -> list[Row]:
    """Judge resampled comparisons of equal sides, and of planted 2, 5 and 10 %."""
    truths, rows = [judgements.SAME] * EQUAL_TRIALS + [*PLANTED] * PLANTED_TRIALS, []
    for design, name in ((ALTERNATION, "slices in turn"), (SWITCHED, "under one load")):
        block_s = BLOCK_S[design]
        most = max(look for look in LOOKS if look * block_s <= 60 * MINUTES)
        drawn = shown(truths, f"compare, {name}")
        trials = judge(pools(design), drawn, most, block_s, np.random.default_rng(1))
        trials["limit_min"] = most * block_s / 60
        rows += judgements.rows(f"{name}, resampled", trials, {})
    return rows


def pools(design: str) -> list[Pool]:
    """Return the recorded contrasts of a design that have enough whole blocks."""
    return [
        pool
        for data in recorded.every()
        for contrast in data.manifest.get("contrasts", ())
        if contrast["design"] == design
        for pool in _pool(data.slices, contrast["name"])
    ]


def judge(
    pools: Sequence[Pool],
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
        slices = pools[rng.integers(len(pools))].drawn(most, truth, rng)
        look = _deciding_look(slices, most)
        part = SimpleNamespace(slices=slices[slices["block"] <= look])
        found = judged.findings(part)[made.THROUGHPUT]
        outcome = judged.UNDECIDED if found.verdict == INCONCLUSIVE else found.verdict
        trials.append((truth, outcome, found.measured.value, look * block_s / 60))
    return pd.DataFrame(trials, columns=["truth", "outcome", "ratio", "minutes"])


def _deciding_look(slices: pd.DataFrame, most: int) -> int:
    """Return the look at which measuring would end: the first that decides, or the last."""
    logs = -contrasts.log_ratios(slices, made.CONTRAST)
    looks = [look for look in LOOKS if look <= most]
    decided = (
        look for look in looks
        if judged.outcome(contrasts.ratio(logs[:look])) != judged.UNDECIDED
    )  # fmt: skip
    return next(decided, looks[-1])


def _pool(slices: pd.DataFrame, name: str) -> list[Pool]:
    """Return the blocks of a contrast with equally many slices; none if there are too few."""
    try:
        whole = contrasts.whole(slices, name)
        mean = contrasts.of_blocks(contrasts.log_ratios(slices, name)).mean()
    except MissingData:
        return []
    whole = whole[whole["of"] == whole["of"].mode()[0]]
    blocks = whole["block"].nunique()
    if blocks < LEAST_BLOCKS:
        return []
    qps = whole["qps"] * np.where(whole["side"] == "b", np.exp(mean), 1.0)
    kept = ["run_id", "block", "slot", "side", "of", "start", "status"]
    return [Pool(whole[kept].assign(qps=qps, contrast=made.CONTRAST), blocks)]
