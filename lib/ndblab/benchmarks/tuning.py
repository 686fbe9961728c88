"""Searches of `./lab tune` on simulated hosts, and of plain Optuna beside them.

The search is the lab's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ndblab.benchmarks import plain_optuna, worlds
from ndblab.benchmarks.row import Row, in_processes
from ndblab.benchmarks.worlds import HANDICAPS, World
from ndblab.experiments.tuned import searched
from ndblab.tuning import outcome
from ndblab.tuning.history import History, Record
from ndblab.tuning.outcome import Outcome
from ndblab.tuning.search import Search
from ndblab.tuning.space import BASELINE

HOUR_S, INTERACTING_S, SHORT_S = 3600.0, 2700.0, 1200.0
RUN_S = 20.0
"""Length of a single run with its start, as recorded: 84 in 30 minutes."""
PART = 0.90
"""Part of a planted loss that a search should win back."""


def search(world: World, budget_s: float = HOUR_S) -> tuple[Outcome, History]:
    """Carry out a search in a world; return its outcome and its history."""
    wanted = Search(world.space, budget_s, world.seed)
    records: list[Record] = []
    while trials := wanted.together(records):
        records += world.carry_out(trials)
    history = History(records)
    return wanted.stands(history), history


@dataclass(frozen=True)
class Achieved:
    """What searches achieved: losses won back, and intervals and exclusions that hold the truth.

    Each is a mean over searches, of one search 0 or 1; NaN where there are none. `limited` is how
    often the best configuration tried is below its own limit, which is at most the highest one.
    `excludes` is the median excluded gain.
    """

    winners: float
    recovered: float
    regret: float
    held: float
    excluded: float
    limited: float
    excludes: float
    trials: float


def simulate(kind: Callable[[int], World], number: int, budget_s: float = HOUR_S) -> Achieved:
    """Search in so many worlds of a kind, and return how often a search kept its promises."""
    calls = [(kind, seed, budget_s) for seed in range(number)]
    each = pd.DataFrame(list(in_processes(_achieved, calls, "tune"))).astype(float)
    return Achieved(**{**each.mean(), "excludes": each["excludes"].dropna().median()})


def _achieved(kind: Callable[[int], World], seed: int, budget_s: float) -> Achieved:
    """Return what one search achieved."""
    world = kind(seed)
    result, history = search(world, budget_s)
    own = world.gain(result.configuration)
    held = excluded = limited = excludes = math.nan
    if result.winner:
        held = float(result.winner.log_low <= own <= result.winner.log_high)
    elif not math.isnan(result.excluded):
        limits = outcome.upper_limits(history, result.finalists)
        best = max(limits, key=world.gain, default=BASELINE)
        excludes = result.excluded
        excluded = float(math.expm1(world.gain(best)) <= excludes)
        limited = float(world.gain(best) <= limits[best]) if limits else math.nan
    is_won_back = bool(result.winner) and own >= PART * world.best
    return Achieved(
        float(result.winner is not None), float(is_won_back), world.best - own, held, excluded,
        limited, excludes, len(history.records),
    )  # fmt: skip


def tuned(number: int = 1000, planted: int = 200, compared: int = 40) -> list[Row]:
    """Simulate searches of an hour over twelve knobs, and plain Optuna beside them."""
    none = simulate(worlds.placebos, number)
    rows = [
        Row("tune, placebos only: a winner", (100 * none.winners,), "%", at_most=5),
        *_exclusions("placebos only", none),
        *_exclusions("effects too small to find", simulate(worlds.faint, planted, SHORT_S)),
    ]
    for kind, loss in HANDICAPS.items():
        achieved = simulate(partial(worlds.handicap, kind), planted)
        what = f"tune, {1 - math.exp(-loss):.0%} lost by a {kind} knob"
        rows.append(Row(f"{what}: won back", (100 * achieved.recovered,), "%", at_least=80))
        rows.append(Row(f"{what}: interval holds", (100 * achieved.held,), "%", at_least=95))
    achieved = simulate(worlds.interacting, planted, INTERACTING_S)
    what = "tune, two settings that gain together"
    rows.append(Row(f"{what}: won back", (100 * achieved.recovered,), "%", at_least=80))
    rows.append(Row(f"{what}: interval holds", (100 * achieved.held,), "%", at_least=95))
    achieved = simulate(worlds.several, planted)
    rows.append(Row("tune, several effects: interval holds", (100 * achieved.held,), "%",
                    at_least=95))  # fmt: skip
    return [*rows, *_regrets(compared)]


def _exclusions(kind: str, achieved: Achieved) -> list[Row]:
    """Return how often the excluded gain holds, and the limit of the best one tried."""
    note = f"median of the excluded gains: {achieved.excludes:.1%}"
    return [
        Row(f"tune, {kind}: the excluded gain holds", (100 * achieved.excluded,), "%",
            at_least=95, note=note),
        Row(f"tune, {kind}: the limit of the best one tried holds", (100 * achieved.limited,),
            "%", at_least=95),
    ]  # fmt: skip


def _regrets(compared: int) -> list[Row]:
    """Compare regrets with those of plain Optuna in the same worlds."""
    rows = []
    recorded = searched.obtain(host=searched.RECORDED)
    kinds = {
        "a cheap handicap": partial(worlds.handicap, "cheap"),
        "several effects": worlds.several,
        "most changes harm": worlds.harmful,
        "a setting that gains only beside another": worlds.reversing,
        "the effects that the recorded search found": partial(worlds.of_a_search, recorded),
    }
    for name, kind in kinds.items():
        ours = simulate(kind, compared)
        calls = [(kind, seed) for seed in range(compared)]
        plain = list(in_processes(_plain_regret, calls, "optuna"))
        note = (
            f"mean regret: {ours.regret:.3f}; plain Optuna on single runs {np.mean(plain):.3f}; "
            f"{ours.trials:.0f} trials a search"
        )
        part = ours.regret / float(np.mean(plain))
        rows.append(Row(f"tune, {name}: regret, of plain Optuna's", (part,), at_most=0.5,
                        note=note))  # fmt: skip
    return rows


def _plain_regret(kind: Callable[[int], World], seed: int) -> float:
    """Return the regret of plain Optuna in a world of a kind."""
    world = kind(seed)
    enough = int(HOUR_S / RUN_S)
    best, _ = plain_optuna.search(
        world.space, world.seed, world.single_run, lambda runs: runs == enough
    )
    return world.best - world.gain(best)
