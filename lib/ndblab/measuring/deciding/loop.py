"""The loop that measures contrasts until every claim is decided or the time is over."""

from __future__ import annotations

import itertools
import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndblab.error import MissingData
from ndblab.measuring.deciding import choice, disturbed
from ndblab.measuring.deciding.choice import Standing
from ndblab.statistics import contrasts as analysis

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset, Writer
    from ndblab.design.contrast import Contrast
    from ndblab.judging.verdict import Finding
    from ndblab.measuring.deciding.board import Board

FAILURES = 2
"""Incomplete blocks in a row after which their contrast is put off; `measure_block` has by then
measured each disturbed one three times. The contrast is tried again after another one has reached a
look, as the disturbance may be over, and once more when the others are done; then it is given up.
"""
_SOON, _LAST = 1, 2
"""How often, at most, a contrast has been tried again after each of these chances."""


@dataclass
class Loop:
    """Contrasts and what measures and judges them.

    `measure_block` measures the block with a number, and returns "ok" or why it is not whole.
    `expected_s` has seconds per block by contrast, used until one has been measured; `start_s` are
    the seconds of a cluster start.
    """

    contrasts: Sequence[Contrast]
    writer: Writer
    measure_block: Callable[[Contrast, int], str]
    judge: Callable[[Dataset], Mapping[str, Finding]]
    expected_s: Mapping[str, float]
    board: Board
    now_s: Callable[[], float] = time.monotonic
    start_s: float = 0.0
    _took_s: dict[str, list[float]] = field(default_factory=dict)
    _failed: dict[str, int] = field(default_factory=dict)
    _tried_again: Counter[str] = field(default_factory=Counter)

    def decide(self, until_s: float) -> Standing:
        """Measure what gains most until every claim is decided, or `now_s` would pass `until_s`.

        Blocks that others on the host have already disturbed come first; nothing else selects them,
        so intervals keep their coverage. Intervals change only at looks, so it judges only there,
        and after a contrast's first block, which is enough for what is counted.
        """
        self._repeat_disturbed(until_s)
        while True:
            standing = self.standing()
            left_s = until_s - self.now_s()
            chosen = choice.choose(self._usable(), standing, left_s, self.start_s)
            self.board.show(standing, left_s)
            if chosen is None:
                if self._try_again(_LAST):
                    continue
                return standing
            done = standing.blocks[chosen.name]
            stop = choice.stop_at(chosen, standing)
            while done < stop and chosen in self._usable():
                left_s = until_s - self.now_s()
                if left_s < self._block_s(chosen):
                    break
                number = next_block(self.writer.snapshot().slices, chosen)
                self.board.measuring(chosen, number, left_s)
                done += self._measure(chosen, number)
            if done > standing.blocks[chosen.name]:
                self._try_again(_SOON)

    def once(self) -> Standing:
        """Measure one block of each contrast that has none, and judge."""
        while True:
            blocks = self.standing().blocks
            for contrast in self.contrasts:
                while not blocks[contrast.name] and contrast in self._usable():
                    self.board.measuring(contrast, 1)
                    if self._measure(contrast, 1):
                        break
            if not self._try_again(_LAST):
                break
        standing = self.standing()
        self.board.show(standing, 0)
        return standing

    def standing(self) -> Standing:
        """Judge what has been measured so far."""
        data = self.writer.snapshot()
        return Standing(
            self.judge(data),
            {c.name: len(whole_blocks(data.slices, c.name)) for c in self.contrasts},
            {contrast.name: self._block_s(contrast) for contrast in self.contrasts},
        )

    def _repeat_disturbed(self, until_s: float) -> None:
        slices = self.writer.snapshot().slices
        for contrast in self.contrasts:
            for number in disturbed.blocks(slices, contrast):
                left_s = until_s - self.now_s()
                if left_s >= self._block_s(contrast):
                    self.board.measuring(contrast, number, left_s)
                    self._measure(contrast, number)

    def _measure(self, contrast: Contrast, number: int) -> bool:
        began_s = self.now_s()
        status = self.measure_block(contrast, number)
        if status == "ok":
            self._took_s.setdefault(contrast.name, []).append(self.now_s() - began_s)
            self._failed[contrast.name] = 0
            return True
        self._failed[contrast.name] = self._failed.get(contrast.name, 0) + 1
        if contrast not in self._usable():
            fate = "given up for now" if self._tried_again[contrast.name] == _LAST else "put off"
            self.board.say(f"{contrast.name} is {fate}, block {number}: {status}")
        return False

    def _try_again(self, at_most: int) -> bool:
        """Make contrasts put off usable that were retried less often; return if there are any."""
        names = [
            name
            for name, failed in self._failed.items()
            if failed >= FAILURES and self._tried_again[name] < at_most
        ]
        self._tried_again.update(names)
        self._failed |= dict.fromkeys(names, 0)
        return bool(names)

    def _usable(self) -> list[Contrast]:
        return [c for c in self.contrasts if self._failed.get(c.name, 0) < FAILURES]

    def _block_s(self, contrast: Contrast) -> float:
        """Return the seconds of a block: the median so far, which a cluster start does not move."""
        took_s = self._took_s.get(contrast.name)
        return statistics.median(took_s) if took_s else self.expected_s[contrast.name]


def whole_blocks(slices: pd.DataFrame, contrast: str) -> set[int]:
    """Return the numbers of the whole blocks of a contrast, by its name."""
    try:
        return set(analysis.whole(slices, contrast)["block"])
    except MissingData:
        return set()


def next_block(slices: pd.DataFrame, contrast: Contrast) -> int:
    """Return the first number without a whole block: one whose repetition failed comes first."""
    whole = whole_blocks(slices, contrast.name)
    return next(number for number in itertools.count(1) if number not in whole)
