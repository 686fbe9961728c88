"""How a gain differs from day to day: in the recordings of this repository, and in simulations.

A contrast that two recordings of one design share was measured on two days. How far its ratios lie
apart, beyond their own errors, is `recordings.DAYS`, from which answers take the range that they
print for another day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from ndblab.benchmarks import tuning, worlds
from ndblab.benchmarks.row import Row, in_processes, shown
from ndblab.benchmarks.worlds import FREEDOM, World
from ndblab.comparing import judged
from ndblab.dataset import Dataset
from ndblab.design import catalogue
from ndblab.measuring import recorded
from ndblab.statistics import recordings, sequential
from ndblab.statistics.estimate import Estimate, from_logs
from ndblab.statistics.recordings import Apart
from ndblab.tuning.wanted import GOALS

APART_H = 6.0
"""Recordings that began this far apart count as of two days. Of those in this repository, none are
between 2 and 9 hours apart."""

_SAME_DAY = Apart(0.0, 0.0, 1)


class Pair(NamedTuple):
    """A contrast measured twice: the logarithm of its ratio each time, and its variance.

    `recordings` names the two: all their pairs share two days.
    """

    recordings: tuple[str, ...]
    hours: float
    earlier: Estimate
    later: Estimate
    variance: float


def between_days() -> list[Row]:
    """Estimate how gains differ between days, and how often a range holds what came later."""
    rows = []
    for quantity in shown([*GOALS], "days"):
        every = pairs(quantity)
        near = [pair for pair in every if pair.hours < APART_H]
        rows += _of(quantity, [pair for pair in every if pair.hours >= APART_H], near)
    return [*rows, *simulated()]


def _of(quantity: str, apart: list[Pair], near: list[Pair]) -> list[Row]:
    """Return the rows of a quantity."""
    known = estimated(apart)
    others = {p.recordings: estimated(apart, without=p.recordings) for p in apart}
    held = {
        "the hour's interval": [_holds(p, _SAME_DAY) for p in apart],
        "the range": [_holds(p, known) for p in apart],
        "the range, from other recordings alone,": [_holds(p, others[p.recordings]) for p in apart],
        f"closer than {APART_H:.0f} hours, the interval": [_holds(p, _SAME_DAY) for p in near],
    }
    note = f"{len(apart)} contrasts of {known.recordings} pairs of recordings, "
    note += f"{min(p.hours for p in apart):.0f} to {max(p.hours for p in apart):.0f} hours apart"
    return [
        Row(f"{quantity}: deviation between days, of any effect", (100 * known.floor,), "%",
            note=note),
        Row(f"{quantity}: and in proportion to the effect", (100 * known.share,), "%"),
        *(Row(f"{quantity}: {what} holds what came later", (100 * float(np.mean(which)),), "%",
              note=f"{sum(which)} of {len(which)}")
          for what, which in held.items()),
    ]  # fmt: skip


def estimated(pairs: Collection[Pair], without: tuple[str, ...] = ()) -> Apart:
    """Return how far effects differ between days, without the pairs of one pair of recordings."""
    mine = [pair for pair in pairs if pair.recordings != without]
    columns = ([p.earlier.value for p in mine], [p.later.value for p in mine],
               [p.variance for p in mine])  # fmt: skip
    parts = recordings.between_days(*map(np.array, columns))
    return Apart(*parts, len({pair.recordings for pair in mine}))


def pairs(quantity: str) -> list[Pair]:
    """Return what was measured twice on hosts with the same CPU, of a goal of searches.

    Whatever has no interval in both recordings is left out. Three recordings make two pairs.
    """
    found = []
    for name, experiment in catalogue.every().items():
        if recorded.has(experiment):
            newest = recorded.obtain(name)
            for earlier, later in pairwise([*newest.earlier, newest]):
                if earlier.host["cpu_model"] == later.host["cpu_model"]:
                    found += _shared(earlier, later, quantity)
    return found


def _shared(earlier: Dataset, later: Dataset, quantity: str) -> Iterator[Pair]:
    """Return the contrasts that two recordings share: of one name, between sides of one kind."""
    began = [pd.Timestamp(data.manifest["started_utc"]) for data in (earlier, later)]
    hours = (began[1] - began[0]).total_seconds() / 3600
    mine, theirs = _compared(earlier), _compared(later)
    for contrast in sorted(name for name in mine if mine[name] == theirs.get(name)):
        first, second = (_logs(data, contrast, quantity) for data in (earlier, later))
        if min(len(first), len(second)) >= sequential.LOOKS[0]:
            variance = sum(sequential.deviation(x) ** 2 / len(x) for x in (first, second))
            both = sequential.interval(first), sequential.interval(second)
            yield Pair((earlier.id, later.id), hours, *both, variance)


def _compared(data: Dataset) -> dict[str, object]:
    """Return what each contrast of a recording compares, without numbers that its sweep chose."""
    return {
        contrast["name"]: [
            contrast["design"],
            *(side and [{**side["point"], "clients": 0}, side["condition"], [*side["options"]]]
              for side in (contrast["a"], contrast["b"])),
        ]
        for contrast in data.manifest.get("contrasts", ())
    }  # fmt: skip


def _logs(data: Dataset, contrast: str, quantity: str) -> np.ndarray:
    """Return the logarithms of a contrast's blocks."""
    column = judged.quantities(data, contrast)[GOALS[quantity]]
    return judged.block_logs(data.slices, column, contrast)


def _holds(pair: Pair, apart: Apart) -> bool:
    """Return whether the later ratio lies in the range that the earlier one gives."""
    expected = recordings.another_day(from_logs(pair.earlier), "", {"": apart})
    return expected.low <= math.exp(pair.later.value) <= expected.high


def simulated(number: int = 40) -> list[Row]:
    """Search in simulated hours, and return how often the next day's gain is in the range."""
    rows = []
    kinds = {"a cheap handicap": partial(worlds.handicap, "cheap"),
             "a small handicap": partial(worlds.handicap, "small"),
             "several effects": worlds.several}  # fmt: skip
    for name, kind in kinds.items():
        for alike in (True, False):
            interval, range_ = next_days(kind, number, alike)
            how = "all alike" if alike else "each by itself"
            note = f"it lies in the hour's interval in {100 * np.mean(interval):.0f} %; "
            note += f"{len(range_)} gains confirmed in {number} searches"
            what = f"{name}, {how}: the range holds the next day's gain"
            held = (100 * float(np.mean(range_)),)
            rows.append(Row(what, held, "%", at_least=95, note=note))
    return rows


def next_days(
    kind: Callable[[int], World], number: int, alike: bool
) -> tuple[list[bool], list[bool]]:
    """Search in an hour of so many worlds of a kind; return whether what is told holds another day.

    The first list is about the confirmed interval, the second about the range for another day. They
    have the searches that confirmed a gain.
    """
    calls = [(kind, seed, alike) for seed in range(number)]
    held = [*filter(None, in_processes(_next_day, calls, "another day"))]
    return [interval for interval, _ in held], [range_ for _, range_ in held]


def _next_day(kind: Callable[[int], World], seed: int, alike: bool) -> tuple[bool, bool] | None:
    """Return whether the next day's gain is in the interval and in the range; None for no gain."""
    today, then = (on_a_day(kind(seed), day, alike) for day in (0, 1))
    result, _ = tuning.search(today)
    if result.winner is None:
        return None
    gain, told = math.exp(then.gain(result.configuration)), result.winner.ratio
    range_ = recordings.another_day(told)
    return told.low <= gain <= told.high, range_.low <= gain <= range_.high


def on_a_day(world: World, day: int, alike: bool) -> World:
    """Return a world as it is on one day: its effects deviate as recorded.

    Parameters
    ----------
    alike : whether all effects deviate by the same part of themselves, or each by one of its own.
    """
    rng, number = np.random.default_rng([world.seed, 11, day]), len(world.effects)
    draws = rng.standard_t(FREEDOM, (2, number)) / math.sqrt(FREEDOM / (FREEDOM - 2))
    draws = np.repeat(draws[:, :1], number, axis=1) if alike else draws
    apart = recordings.DAYS["throughput"]
    # The floor is that of a whole configuration.
    floor = apart.floor / max(1, number) ** (1.0 if alike else 0.5)
    changed = zip(world.effects.items(), *draws.tolist(), strict=True)
    effects = {of: effect * (1 + apart.share * x) + floor * y for (of, effect), x, y in changed}
    return replace(world, effects=effects)
