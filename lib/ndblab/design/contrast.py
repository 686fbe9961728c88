"""A contrast: configuration A against configuration B, and the slices that compare them.

Blocks are the unit of analysis (`statistics.contrasts`). The designs:

- alternation: A B B A or B A A B, drawn at random, one slice at a time (randomized multiple
  interleaved trials: Abedi and Brecht 2017);
- switched: one load, under which the sides' difference is switched every second, in several drawn
  orders A B B A or B A A B: the lab's monitor, or what a variant changes while a cluster runs;
- duet: both sides at once, then once more with their servers swapped (Bulej et al. 2020);
- restarts: a MySQL server of A and one of B in one cluster, loaded in turn, A B B A or B A A B,
  while the other is idle; both are restarted for each block, and the sides exchange their places;
- starts: slices of A in one cluster start and of B in the next, in random order;
- twins: a cluster of A and one of B, started at the same moment on one host and loaded in turn,
  A B B A or B A A B, while the other waits; the next block's sides exchange their places;
- level: one side only, for a claim that compares parts of one configuration.

Alternations, restarts and twins may take turns of a second instead of slices with a load of their
own: the clients of both sides stay connected, and those of one wait while the other's work. Then
twins may have several sides B beside one A (`block.joint`), whose slices count in each contrast.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ndblab.error import LabError
from ndblab.planning.point import CONDITIONS, NO_MONITOR, Point
from ndblab.statistics.sequential import LOOKS


class Length(NamedTuple):
    """Seconds of a slice."""

    warmup_s: float
    duration_s: float


ALTERNATION, SWITCHED, DUET = "alternation", "switched", "duet"
RESTARTS, STARTS, TWINS, LEVEL = "restarts", "starts", "twins", "level"
A, B = "a", "b"
DESIGNS = (ALTERNATION, SWITCHED, DUET, RESTARTS, STARTS, TWINS, LEVEL)
TAKE_TURNS = (ALTERNATION, RESTARTS, TWINS)
PER_START = 3
"""Slices of each side in a pair of cluster starts."""
PER_TWINS = 2
"""Orders of four slices in a block of twins. The start is the unit of analysis: more starts help,
longer blocks hardly."""
ENOUGH = LOOKS[0]
"""Blocks of a contrast that no claim waits for: enough for an interval."""
FIRST_HALF = LOOKS[0] // 2
"""Blocks of a contrast in the first cluster start; the others are in the second."""
PER_LEVEL = 2
"""Slices in a block of a level, or durations of its one long slice."""
TURN_ORDERS = 6
"""Orders of four slices in a block of turns: an even number, so that each half has whole ones."""
TURN_S = 1
"""Seconds of a turn, or of a switched slice: as long as sysbench's intervals. Shorter slices are
more precise per minute: cut into A B B A, loads of 110 s deviated by 1.7 % in a minute with slices
of 1 s, by 2.3 % with 2 s and by 2.6 % with 3 s (4 servers, 32 clients, 2 CPUs)."""
LENGTHS = {"smoke": Length(1, 2), "quick": Length(1, 3), "brief": Length(5, 30)}
"""How long slices are, by profile."""


@dataclass(frozen=True)
class Side:
    """One configuration: a point, options of the load generator, and a condition of the host.

    The condition is one of `CONDITIONS`; the lab's own experiment compares conditions with none.
    The sides of a duet have the same condition. Switched sides differ in the monitor or the
    variant.
    """

    point: Point
    options: Mapping[str, object] = field(default_factory=dict)
    condition: str = ""

    def __post_init__(self) -> None:
        if self.condition not in CONDITIONS:
            raise ValueError(f"unknown condition {self.condition}")


@dataclass(frozen=True)
class Slice:
    """A short measured run of one side. `of` is the number of slices in its block.

    Slices of one `slot` run at the same time. `swapped` sides of a duet use each other's servers;
    those of restarts and twins use each other's places.
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

    A level has no side B. `blocks` are measured even if no claim waits. With `blocks_per_start`, at
    most so many of its blocks share a cluster start, so that starts are part of the result; other
    contrasts may use the same start. Without it, blocks use two starts (`half_way`), or one with
    `one_start`. With `one_slice`, a block of a level is one slice, as long as two: for what needs
    seconds in a row, and where CPUs are so busy that sysbench reports a second late. With `turns`,
    a block has slices of a second, in which the connected clients of both sides work in turn; where
    the side changes, no client works for `pause_s`. `first_look` is the chance that the first
    interval decides a claim; it only determines what to measure next.
    """

    name: str
    design: str
    a: Side
    b: Side | None
    claims: tuple[str, ...]
    blocks: int = 0
    blocks_per_start: int = 0
    one_start: bool = False
    one_slice: bool = False
    turns: bool = False
    pause_s: int = 0
    first_look: float = 0.5

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise LabError(
                f"The contrast {self.name} has an unknown design",
                found=self.design,
                expected=", ".join(DESIGNS),
                next_step="Change it in experiment.py.",
            )
        if self.one_slice and self.design != LEVEL:
            raise ValueError(f"a block of {self.name} has more than one slice")
        if self.design == SWITCHED and not (self.by_monitor or self._by_variant):
            raise ValueError(f"the sides of {self.name} differ in more than monitor or variant")
        if self.turns and self.design not in TAKE_TURNS:
            raise ValueError(f"the sides of {self.name} cannot take turns")
        if self.design in (RESTARTS, TWINS) and self.b is None:
            raise ValueError(f"{self.name} has no second side")

    def begins_start(self, block: int) -> bool:
        """Return whether a block, counted from 1, needs a start that no block before it had."""
        if self.blocks_per_start:
            return (block - 1) % self.blocks_per_start == 0
        return block == self.half_way + 1 > 1

    @property
    def by_monitor(self) -> bool:
        """Return whether its sides differ in the monitor alone."""
        return self.b == replace(self.a, condition=NO_MONITOR)

    @property
    def _by_variant(self) -> bool:
        if self.b is None or self.b.point.variant == self.a.point.variant:
            return False
        return self.b == replace(self.a, point=replace(self.a.point, variant=self.b.point.variant))

    @property
    def half_way(self) -> int:
        """Return after how many blocks another cluster start is used; 0 if all may share one.

        A verdict needs two starts, so each supplies half of the blocks of the first interval.
        """
        own = self.one_start or self.blocks_per_start or self.design in (RESTARTS, STARTS, TWINS)
        return FIRST_HALF if not own and (self.claims or self.blocks > FIRST_HALF) else 0

    def block(self, number: int, seed: int) -> tuple[tuple[Slice, ...], ...]:
        """Return the slices of a block in order, grouped by the executions of a load they share.

        A group has the slices of one slot; in a switched block or with turns, it has all slices.
        """
        rng = random.Random(f"{seed} {self.name} {number}")
        if self.design == DUET:
            first = rng.random() < 0.5
            return tuple(
                tuple(self._slice(number, slot, side, 4, (slot == 1) == first) for side in (A, B))
                for slot in (1, 2)
            )
        orders = ((A, B, B, A), (B, A, A, B))
        swapped = self.design in (RESTARTS, TWINS) and number % 2 == 0
        together = self.design == SWITCHED or self.turns
        order: Sequence[str]
        if together:
            order = [side for _ in range(TURN_ORDERS) for side in rng.choice(orders)]
        elif self.design == TWINS:
            turns = itertools.cycle(rng.sample(orders, 2))
            order = [side for _ in range(PER_TWINS) for side in next(turns)]
        else:
            order = {
                **dict.fromkeys((ALTERNATION, RESTARTS), rng.choice(orders)),
                STARTS: rng.choice(((A,) * PER_START + (B,) * PER_START,
                                    (B,) * PER_START + (A,) * PER_START)),
                LEVEL: (A,) * (1 if self.one_slice else PER_LEVEL),
            }[self.design]  # fmt: skip
        slices = tuple(
            self._slice(number, slot, side, len(order), swapped)
            for slot, side in enumerate(order, 1)
        )
        return (slices,) if together else tuple((slice_,) for slice_ in slices)

    def length(self, usual: Length) -> Length:
        """Return how long its slices are; `usual` is the experiment's slice length."""
        if self.design == SWITCHED or self.turns:
            return usual._replace(duration_s=TURN_S)
        return usual._replace(duration_s=(PER_LEVEL if self.one_slice else 1) * usual.duration_s)

    def side(self, name: str) -> Side:
        """Return side "a" or "b"."""
        side = self.a if name == A else self.b
        if side is None:
            raise ValueError(f"the contrast {self.name} has no side {name}")
        return side

    @property
    def sides(self) -> list[Side]:
        """Its sides: one of a level, two of any other contrast."""
        return [side for side in (self.a, self.b) if side]

    def to_dict(self) -> dict[str, Any]:
        """Return the contrast as plain data, for the manifest of its dataset."""
        fields = asdict(self)
        return {name: v for name, v in fields.items() if v or name not in ("turns", "pause_s")}

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> Contrast:
        """Return the contrast of a manifest's entry."""
        a, b = (
            side and Side(**{**side, "point": Point(**side["point"])})
            for side in (known["a"], known["b"])
        )
        return cls(**{**known, "a": a, "b": b, "claims": tuple(known["claims"])})

    def _slice(self, block: int, slot: int, side: str, of: int, swapped: bool = False) -> Slice:
        return Slice(self.name, block, slot, side, of, swapped)
