"""The slices of blocks that several contrasts share, and the servers that slices leave to others.

Pure.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ndblab.design.contrast import ALTERNATION, DUET, TURN_ORDERS, A, B, Contrast, Slice

if TYPE_CHECKING:
    from ndblab.planning.deployment import Node
    from ndblab.planning.point import Point


class Block(NamedTuple):
    """A block of a contrast, by its number, counted from 1."""

    contrast: Contrast
    number: int


def joint(blocks: Sequence[Block], seed: int) -> tuple[tuple[Slice, ...], ...]:
    """Return the turns of blocks of several contrasts that share side A.

    All sides take turns in a drawn order, then in the reverse one, and so on.

    Returns
    -------
    For each turn, the slices that it is: one of each contrast if it is A's, else one.
    """
    names = " ".join(f"{contrast.name} {number}" for contrast, number in blocks)
    rng, slots = random.Random(f"{seed} {names}"), Counter[str]()
    sides = [(A, blocks), *((B, [block]) for block in blocks)]
    turns = []
    for _ in range(TURN_ORDERS):
        drawn = rng.sample(sides, len(sides))
        for side, mine in (*drawn, *reversed(drawn)):
            slots.update(contrast.name for contrast, _ in mine)
            turns.append(
                tuple(
                    Slice(own.name, number, slots[own.name], side, 4 * TURN_ORDERS)
                    for own, number in mine
                )
            )
    return tuple(turns)


def skipped(
    contrast: Contrast, slice_: Slice, usable: Callable[[Point], Sequence[Node]], fixed: bool
) -> int:
    """Return how many of its usable servers a slice skips.

    Servers with equal settings may still differ within one cluster start. So the sides of a duet
    swap servers within the block. In an alternation, the two slices of the side with fewer servers
    use the first and the last of the other side's servers (with turns, one in this block and one in
    the next). Which servers these are is drawn for each block.
    Servers stay fixed if a variant sets the quota of a server by name (`fixed`).
    """
    if contrast.b is None or fixed:
        return 0
    mine = contrast.side(slice_.side).point
    other = contrast.side(A if slice_.side == B else B).point
    there, others = usable(mine), usable(other)
    if contrast.design == DUET:
        # Another transporter or pool means other servers anyway; cluster starts swap them.
        if there != others:
            if not set(there).isdisjoint(others):
                raise ValueError(f"sides of {contrast.name} would load a server together")
            return 0
        return other.servers if (slice_.side == B) != slice_.swapped else 0
    if contrast.design != ALTERNATION:
        return 0
    most = max(mine.servers, other.servers)
    first = random.Random(f"{contrast.name} {slice_.block}").randint(0, max(0, len(there) - most))
    last = slice_.block % 2 == 0 if contrast.turns else slice_.slot > slice_.of // 2
    return first + (most - mine.servers if last else 0)
