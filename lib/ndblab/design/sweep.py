"""A sweep: which points are measured, how often and in which order."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.planning.point import DEFAULT_VARIANT, Point


@dataclass(frozen=True)
class Sweep:
    """Points, how often and how long each is measured, and the seed of their order.

    `clusters` has, for each cluster, a tuple of the variants that can share it.
    """

    points: tuple[Point, ...]
    repeats: int
    warmup_s: float
    duration_s: float
    seed: int = 1
    clusters: tuple[tuple[str, ...], ...] = ((DEFAULT_VARIANT,),)

    def __post_init__(self) -> None:
        if not self.points or len(set(self.points)) < len(self.points):
            raise LabError(
                "A sweep needs points, each only once",
                found=f"{len(self.points)} points, {len(set(self.points))} of them distinct",
                next_step="Give each number of servers and of clients once.",
            )
        if strange := {p.variant for p in self.points} - {v for c in self.clusters for v in c}:
            raise LabError(
                "A sweep needs a cluster for each of its variants",
                found=", ".join(sorted(strange)),
                expected=", ".join(v for c in self.clusters for v in c) or "one of its variants",
                next_step="Change the grid in experiment.py.",
            )
        if self.repeats < 1 or self.duration_s <= 0 or self.warmup_s < 0:
            raise LabError(
                "A sweep needs runs that last longer than 0 s",
                found=f"{self.repeats} runs per point of {self.duration_s:g} s "
                f"after {self.warmup_s:g} s",
                expected="at least one run of more than 0 s",
                next_step="Change repeats, duration or warm-up.",
            )

    def __len__(self) -> int:
        return len(self.points) * self.repeats

    def order(self) -> list[tuple[Point, int]]:
        """Return every run as (point, repeat), the same for the same seed.

        Each repeat is a shuffled pass over all points, so that drift of the machine does not look
        like an effect of clients, and an interrupted sweep has measured every point about equally
        often. Points that differ only in transporter or variant are neighbours, in random order. A
        pass begins with the cluster that the previous one ended with.
        """
        rng = random.Random(self.seed)
        order: list[tuple[Point, int]] = []
        clusters = list(self.clusters)
        for repeat in range(1, self.repeats + 1):
            first, rest = clusters[-1:], clusters[:-1]
            rng.shuffle(rest)
            clusters = first + rest
            for variants in clusters:
                together: dict[tuple, list[Point]] = {}
                for point in (p for p in self.points if p.variant in variants):
                    key = (point.servers, point.clients, point.workload)
                    together.setdefault(key, []).append(point)
                groups = list(together.values())
                rng.shuffle(groups)
                for group in groups:
                    rng.shuffle(group)
                    order += [(point, repeat) for point in group]
        return order
