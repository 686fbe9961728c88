"""Which contrast to measure next, and how long its claims would still take.

In: contrasts, findings, whole blocks and seconds per block by contrast, the time left. Out: a
contrast, or None. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ndblab.analysis.sequential import LOOKS
from ndblab.claims.verdict import INCONCLUSIVE, UNKNOWN

if TYPE_CHECKING:
    from ndblab.claims.verdict import Finding
    from ndblab.experiments.designs.contrast import Contrast

OPEN = (INCONCLUSIVE, UNKNOWN)
UNSURE = 0.5
"""Chance that a claim is decided at its first look, or by a look after the next that is forecast.

In three measurements of multi-server-scaling it was 21 of 42 and 7 of 15; of claims whose forecast
was the next look, 31 of 36 were decided there.
"""


def choose(
    contrasts: Sequence[Contrast],
    findings: Mapping[str, Finding],
    blocks: Mapping[str, int],
    seconds_left: float,
    block_s: Mapping[str, float],
) -> Contrast | None:
    """Choose the contrast with most to gain; None if all is done or no block fits the time left.

    The one that probably decides most claims per second goes first; a claim counts half before its
    first look, and if its decision is forecast for a look after the next. Those that cannot be
    decided in the time left come last, nearest first: their blocks count when measuring goes on
    another day. Those that no claim waits for have their own number of blocks, and take turns; the
    time for these is kept back.

    Parameters
    ----------
    findings : by claim.
    blocks : whole blocks so far, by contrast.
    block_s : seconds that one block takes, by contrast.
    """
    fit = [
        each
        for each in contrasts
        if block_s[each.name] <= seconds_left and next_look(blocks[each.name])
    ]
    wanted = [each for each in fit if blocks[each.name] < each.blocks]
    claims_s = seconds_left - own_s(wanted, blocks, block_s)
    possible = [
        each
        for each in fit
        if open_claims(each, findings, blocks[each.name]) and block_s[each.name] <= claims_s
    ]
    if not possible:
        return min(wanted, key=lambda each: blocks[each.name], default=None)
    seconds_left = claims_s
    needed = {each.name: sorted(_needed(each, findings, blocks, block_s)) for each in possible}

    def gained_per_s(each: Contrast) -> float:
        in_time = [(s, share) for s, share in needed[each.name] if s <= seconds_left]
        rates = (sum(share for _, share in in_time[:i]) / in_time[i - 1][0]
                 for i in range(1, len(in_time) + 1))  # fmt: skip
        return max(rates, default=0.0)

    return min(
        possible,
        key=lambda each: (-gained_per_s(each), needed[each.name][0], block_s[each.name]),
    )


def own_s(
    contrasts: Sequence[Contrast], blocks: Mapping[str, int], block_s: Mapping[str, float]
) -> float:
    """Return the seconds of the blocks that these have of their own and that are missing."""
    return sum(max(0, c.blocks - blocks[c.name]) * block_s[c.name] for c in contrasts)


def open_claims(contrast: Contrast, findings: Mapping[str, Finding], blocks: int) -> list[str]:
    """Return the undecided claims that wait for a contrast with this number of whole blocks.

    A claim that names nothing it waits for is given the first look of its contrasts, no more.
    """
    return [
        claim
        for claim, finding in findings.items()
        if finding.verdict in OPEN
        and (
            contrast.name in finding.waits
            or (not finding.waits and claim in contrast.claims and blocks < LOOKS[0])
        )
    ]


def next_look(blocks: int) -> int | None:
    """Return the number of blocks at which intervals change next; None after the last look.

    >>> next_look(0), next_look(4), next_look(5)
    (4, 6, 6)
    """
    return next((look for look in LOOKS if look > blocks), None)


def stop_at(contrast: Contrast, blocks: int, findings: Mapping[str, Finding]) -> int:
    """Return the number of blocks at which to choose again.

    It is the next look; but the first block is enough for what is counted, and what no claim waits
    for is measured block by block.
    """
    look = next_look(blocks)
    waited_for = open_claims(contrast, findings, blocks)
    return blocks + 1 if not waited_for or not blocks or look is None else look


def more_s(
    waits: Mapping[str, float | None], blocks: Mapping[str, int], block_s: Mapping[str, float]
) -> float:
    """Return the seconds that would probably decide a claim, or tell more; infinite if never."""
    if not waits or not waits.keys() <= blocks.keys():
        return math.inf
    return sum(_until(units, blocks[name]) * block_s[name] for name, units in waits.items())


def _needed(
    contrast: Contrast,
    findings: Mapping[str, Finding],
    blocks: Mapping[str, int],
    block_s: Mapping[str, float],
) -> Iterator[tuple[float, float]]:
    """Return for each open claim the seconds on this contrast, and the share of it thus decided."""
    done, each_s = blocks[contrast.name], block_s[contrast.name]
    for claim in open_claims(contrast, findings, done):
        waits = findings[claim].waits
        units = waits.get(contrast.name)
        chance = UNSURE if units is None or units > (next_look(done) or 0) else 1.0
        yield _until(units, done) * each_s, chance / max(1, len(waits))


def _until(units: float | None, done: int) -> float:
    """Return the blocks that are missing, at least to the next look, which is all if not known."""
    look = next_look(done)
    return math.inf if look is None else max(units or look, look) - done
