"""A contrast: configuration A against configuration B, and the slices that compare them.

In: two sides and a design. Out: the slices of each block, in the order of measuring; the same for
the same seed. Pure.

Blocks are the unit of analysis (`analysis.contrasts`). The designs:

- alternation: A B B A or B A A B, drawn at random, one slice at a time (randomized multiple
  interleaved trials: Abedi and Brecht 2017);
- duet: both sides at once, then once more with their servers swapped (Bulej et al. 2020);
- starts: slices of A in one cluster start and of B in the next, in random order;
- level: one side only, for a claim that compares parts of one configuration.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ndblab.planning.point import Point

ALTERNATION, DUET, STARTS, LEVEL = "alternation", "duet", "starts", "level"
A, B = "a", "b"
CONDITIONS = ("", "no-monitor", "busy-neighbour", "idle-spinner")
"""Nothing special; without the lab's monitor; beside a process that uses CPU; with processes of
idle priority that keep every CPU awake."""
PER_START = 3
"""Slices of each side in a pair of cluster starts."""
PER_LEVEL = 2
"""Slices in a block of a level."""


@dataclass(frozen=True)
class Side:
    """One configuration: a point, options of the load generator, and a condition of the host.

    The condition is one of `CONDITIONS`; the lab's own experiment compares them with none.
    """

    point: Point
    options: Mapping[str, object] = field(default_factory=dict)
    condition: str = ""


@dataclass(frozen=True)
class Slice:
    """A short measured run of one side. `of` is the number of slices that its block has.

    Those of one `slot` run at the same time. `swapped` sides of a duet use each other's servers.
    """

    contrast: str
    block: int
    slot: int
    side: str
    of: int
    swapped: bool = False

    @property
    def run_id(self) -> str:
        """Identify the slice within its dataset, like the id of a run.

        >>> Slice("servers-1-2", 3, 4, "a", 4).run_id
        'servers-1-2_b003_4a'
        """
        return f"{self.contrast}_b{self.block:03d}_{self.slot}{self.side}"

    def columns(self) -> dict[str, object]:
        """Return the columns of table `slices` that place it in its contrast."""
        return {
            "run_id": self.run_id, "contrast": self.contrast, "block": self.block,
            "slot": self.slot, "side": self.side, "of": self.of,
        }  # fmt: skip


@dataclass(frozen=True)
class Contrast:
    """Two sides, the design that compares them, and the claims that wait for it.

    A level has no side B. With `blocks_per_start` a fresh cluster start comes after so many blocks
    (0: none), where what is compared also differs from start to start.
    """

    name: str
    design: str
    a: Side
    b: Side | None
    claims: tuple[str, ...]
    blocks_per_start: int = 0

    def block(self, number: int, seed: int) -> tuple[tuple[Slice, ...], ...]:
        """Return the slots of a block in order, each with the slices that run at the same time."""
        rng = random.Random(f"{seed} {self.name} {number}")
        if self.design == DUET:
            first = rng.random() < 0.5
            return tuple(
                tuple(self._slice(number, slot, side, 4, (slot == 1) == first) for side in (A, B))
                for slot in (1, 2)
            )
        order = {
            ALTERNATION: rng.choice(((A, B, B, A), (B, A, A, B))),
            STARTS: rng.choice(((A,) * PER_START + (B,) * PER_START,
                                (B,) * PER_START + (A,) * PER_START)),
            LEVEL: (A,) * PER_LEVEL,
        }[self.design]  # fmt: skip
        return tuple(
            (self._slice(number, slot, side, len(order)),) for slot, side in enumerate(order, 1)
        )

    def side(self, name: str) -> Side:
        """Return side "a" or "b"."""
        side = self.a if name == A else self.b
        if side is None:
            raise ValueError(f"the contrast {self.name} has no side {name}")
        return side

    def to_dict(self) -> dict[str, Any]:
        """Return the contrast as plain data, for the manifest of its dataset."""
        return asdict(self)

    def _slice(self, block: int, slot: int, side: str, of: int, swapped: bool = False) -> Slice:
        return Slice(self.name, block, slot, side, of, swapped)
