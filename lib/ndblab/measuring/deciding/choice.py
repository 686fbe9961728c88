"""Which contrast to measure next, and how long its claims would still take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndblab.judging.verdict import INCONCLUSIVE, UNKNOWN
from ndblab.statistics.sequential import LOOKS, probable_look

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast
    from ndblab.judging.verdict import Finding

Waits = Mapping[str, Mapping[int, float] | None]
"""What a finding waits for (`judging.verdict.Finding`)."""
OPEN = (INCONCLUSIVE, UNKNOWN)


@dataclass(frozen=True)
class Standing:
    """Where the claims stand: findings by claim, whole blocks and seconds per block by contrast."""

    findings: Mapping[str, Finding]
    blocks: Mapping[str, int]
    block_s: Mapping[str, float]

    def waiting(self, contrast: Contrast) -> list[Waits]:
        """Return all that each undecided claim waits for which waits for a contrast.

        A claim that does not say what it waits for gets the first look of its contrasts, no more.
        """
        first = self.blocks[contrast.name] < LOOKS[0]
        return [
            finding.waits
            for claim, finding in self.findings.items()
            if finding.verdict in OPEN
            and (
                contrast.name in finding.waits
                or (not finding.waits and claim in contrast.claims and first)
            )
        ]

    def to_look_s(self, contrast: Contrast) -> float:
        """Return the seconds from now to the first look of a contrast."""
        return (LOOKS[0] - self.blocks[contrast.name]) * self.block_s[contrast.name]

    def more_s(self, waits: Waits) -> float:
        """Return the seconds to a claim's probable decision or next look; infinite if never."""
        if not waits or not waits.keys() <= self.blocks.keys():
            return math.inf
        return sum(
            _until(chances, self.blocks[name]) * self.block_s[name]
            for name, chances in waits.items()
        )


def choose(
    contrasts: Sequence[Contrast], standing: Standing, seconds_left: float, start_s: float = 0.0
) -> Contrast | None:
    """Choose the contrast with most to gain; None if all is done or no block fits the time left.

    First comes the contrast with the look that is expected to decide most claims per second until
    then. Contrasts without a look in the time left come last, nearest look first: their blocks
    still count when measuring continues another day. Contrasts that no claim waits for have their
    own number of blocks, and take turns; the time for these is reserved.

    Parameters
    ----------
    start_s : seconds of the cluster start that contrasts at half-way need.
    """
    blocks, block_s = standing.blocks, standing.block_s

    def next_s(contrast: Contrast) -> float:
        half_way = contrast.half_way and blocks[contrast.name] == contrast.half_way
        return block_s[contrast.name] + (start_s if half_way else 0.0)

    fit = [c for c in contrasts if next_look(blocks[c.name]) and next_s(c) <= seconds_left]
    wanted = [c for c in fit if blocks[c.name] < c.blocks]
    claims_s = seconds_left - _own_s(wanted, standing, start_s)
    possible = [c for c in fit if standing.waiting(c) and next_s(c) <= claims_s]
    if not possible:
        return min(wanted, key=lambda c: blocks[c.name], default=None)
    possible = _same_start(possible, standing, claims_s - start_s)

    def nearest_s(contrast: Contrast) -> float:
        name, waiting = contrast.name, standing.waiting(contrast)
        return min(_until(waits.get(name), blocks[name]) for waits in waiting) * block_s[name]

    return min(
        possible,
        key=lambda c: (-_decided_per_s(c, standing, claims_s), nearest_s(c), block_s[c.name]),
    )


def _decided_per_s(contrast: Contrast, standing: Standing, seconds_left: float) -> float:
    """Return the most claims per second that a look in the time left is expected to decide."""
    waiting, done = standing.waiting(contrast), standing.blocks[contrast.name]
    block_s = standing.block_s[contrast.name]
    looks = ((look, (look - done) * block_s) for look in LOOKS if look > done)
    return max(
        (
            sum(_share(waits, contrast, look) for waits in waiting) / seconds
            for look, seconds in looks
            if seconds <= seconds_left
        ),
        default=0.0,
    )


def _same_start(
    possible: list[Contrast], standing: Standing, seconds_left: float
) -> list[Contrast]:
    """Return the contrasts to bring to half-way before the next cluster start, or else all.

    If a contrast at half-way waits for that start, the start then serves the second half of all of
    them. A contrast is brought to half-way only if the time left allows its first look as well as
    those of the contrasts already there.
    """
    blocks, to_look_s = standing.blocks, standing.to_look_s
    waiting = [c for c in possible if c.half_way and blocks[c.name] == c.half_way]
    owed_s = sum(map(to_look_s, waiting))
    begun = [
        c for c in possible if blocks[c.name] < c.half_way and owed_s + to_look_s(c) <= seconds_left
    ]
    return begun if waiting and begun else possible


def _own_s(contrasts: Sequence[Contrast], standing: Standing, start_s: float) -> float:
    """Return the seconds of the blocks that contrasts still lack of their own number.

    Those not past half-way share one more cluster start.
    """
    blocks, block_s = standing.blocks, standing.block_s
    starts = any(0 < c.half_way < c.blocks and blocks[c.name] <= c.half_way for c in contrasts)
    missing_s = sum(max(0, c.blocks - blocks[c.name]) * block_s[c.name] for c in contrasts)
    return missing_s + (start_s if starts else 0.0)


def next_look(blocks: int) -> int | None:
    """Return the number of blocks at which intervals change next; None after the last look.

    >>> next_look(0), next_look(4), next_look(5)
    (4, 6, 6)
    """
    return next((look for look in LOOKS if look > blocks), None)


def stop_at(contrast: Contrast, standing: Standing) -> int:
    """Return the number of blocks at which to choose again.

    It is the next look, or half-way, where a cluster start's share ends. But the first block is
    enough for what is counted, and a contrast that no claim waits for is measured block by block.
    """
    blocks = standing.blocks[contrast.name]
    look = next_look(blocks)
    if not standing.waiting(contrast) or not blocks or look is None:
        return blocks + 1
    return contrast.half_way if blocks < contrast.half_way else look


def _share(waits: Waits, contrast: Contrast, look: int) -> float:
    """Return the share of a claim that a look of one of its contrasts is expected to decide."""
    chances = waits.get(contrast.name)
    chance = contrast.first_look if chances is None else chances.get(look, 0.0)
    return chance / max(1, len(waits))


def _until(chances: Mapping[int, float] | None, done: int) -> float:
    """Return the blocks until a claim is probably decided; to the next look if not known."""
    look = next_look(done) if chances is None else probable_look(chances)
    return math.inf if look is None else look - done
