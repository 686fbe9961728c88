"""Searches of `./lab tune` on simulated hosts, whose best configuration is known.

Everything is drawn at random with fixed seeds. The noise of a block is as recorded for its design:
a deviation drawn between the smallest and the largest one, with tails heavier than normal. Trials
take as long as their designs take on 2 CPUs. The search itself is the lab's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ndblab.benchmarks.row import Row, shown
from ndblab.comparing import choice, knobs
from ndblab.comparing.knobs import Knob
from ndblab.design.contrast import ALTERNATION, RESTARTS, TAKE_TURNS, TWINS
from ndblab.tuning import outcome
from ndblab.tuning.history import OK, History, Record, Trial
from ndblab.tuning.outcome import Outcome
from ndblab.tuning.search import Search
from ndblab.tuning.space import BASELINE, Configuration, Space, Tunable, Value, made

HOUR_S, SHORT_S = 3600.0, 1200.0
BLOCK_S = {ALTERNATION: 29.0, RESTARTS: 41.0, TWINS: 59.0}
DEVIATIONS = {ALTERNATION: (0.006, 0.028), RESTARTS: (0.006, 0.029), TWINS: (0.008, 0.038)}
"""Deviation of a block's log ratio where clients take turns, measured on 2 virtual CPUs: smallest
and largest, each of 4 to 20 blocks (data/planted, and `comparing.choice`)."""
FREEDOM = 6
"""Degrees of freedom of the t distribution that noise is drawn from."""
RUN_S, RUN_DEVIATION = 30.0, 0.126 / math.sqrt(2)
"""Length of a single run with its start, and its deviation: two separate runs within 240 s differed
by 0.126."""
HANDICAPS = {"cheap": math.log(1.87), "dear": -math.log(0.69), "small": -math.log(0.82)}
"""What a planted handicap costs, as recorded: half the servers needed, 8 connections, TLS."""
PART = 0.90
"""Part of a planted loss that a search should win back."""
_CHEAP, _MYSQLD, _DEAR = 5, 2, 7
"""Knobs that change live, those that need a restart of mysqld, and all that need any restart."""


@dataclass
class World:
    """A host on which values have these effects, as logarithms; others have none."""

    effects: Mapping[tuple[str, Value], float]
    seed: int
    _gains: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self.deviation = {name: self._rng.uniform(*ends) for name, ends in DEVIATIONS.items()}

    @property
    def best(self) -> float:
        """Return the gain of the best configuration."""
        most: dict[str, float] = {}
        for (word, _), effect in self.effects.items():
            most[word] = max(most.get(word, 0.0), effect)
        return sum(most.values())

    def gain(self, configuration: Configuration) -> float:
        """Return the true gain of a configuration over the baseline."""
        return sum(self.effects.get(pair, 0.0) for pair in configuration)

    def carry_out(self, trial: Trial) -> Record:
        """Return what a trial finds here."""
        gains = self._gains.setdefault(trial.contrast, [])
        missing = trial.blocks - len(gains)
        truth = self.gain(trial.configuration) - self.gain(trial.against)
        gains += [truth + self._noise(self.deviation[trial.design]) for _ in range(missing)]
        return Record(trial, tuple(gains), missing * BLOCK_S[trial.design], OK)

    def single_run(self, configuration: Configuration) -> float:
        """Return the logarithm of a single run's throughput over the usual."""
        return self.gain(configuration) + self._noise(RUN_DEVIATION)

    def _noise(self, deviation: float) -> float:
        scale = deviation / math.sqrt(FREEDOM / (FREEDOM - 2))
        return float(scale * self._rng.standard_t(FREEDOM))


def space() -> Space:
    """Return twelve knobs as `tuning/knobs.csv` has them: values 1 to 3 or 1 to 4, now 1."""
    return Space(
        tuple(
            Tunable(_knob(number), 1, (2, 3, 4)[: 2 + number % 2])
            for number in range(_CHEAP + _DEAR)
        ),
        BLOCK_S,
        sd=choice.TURNS_DEVIATION,
        turns=TAKE_TURNS,
    )


def placebos(seed: int) -> World:
    """Return a world in which no knob does anything."""
    return World({}, seed)


def handicap(kind: str, seed: int) -> World:
    """Return a world whose baseline has one bad value: each other value of that knob is better."""
    rng = np.random.default_rng([seed, 1])
    cheap = kind == "cheap" or (kind == "small" and rng.random() < 0.5)
    number = int(rng.integers(0, _CHEAP) if cheap else rng.integers(_CHEAP, _CHEAP + _DEAR))
    knob = space().tunables[number]
    # One of the values is best, the others win back most of it.
    best = rng.integers(len(knob.values))
    loss = HANDICAPS[kind]
    return World(
        {(knob.word, v): loss * (1.0 if n == best else 0.95) for n, v in enumerate(knob.values)},
        seed,
    )


def several(seed: int) -> World:
    """Return a world of many small effects of either sign, and three large enough to find."""
    rng = np.random.default_rng([seed, 2])
    effects = _drawn(lambda: float(rng.normal(0, 0.02)))
    for place in rng.choice(_CHEAP + _DEAR, 3, replace=False):
        knob = space().tunables[place]
        effects[knob.word, knob.values[0]] = float(rng.uniform(0.05, 0.20))
    return World(effects, seed)


def harmful(seed: int) -> World:
    """Return a world in which nearly every change harms, but one value each of two knobs gains."""
    rng = np.random.default_rng([seed, 5])
    effects = _drawn(lambda: -abs(float(rng.normal(0, 0.08))))
    for place in rng.choice(_CHEAP + _DEAR, 2, replace=False):
        knob = space().tunables[place]
        effects[knob.word, knob.values[-1]] = float(rng.uniform(0.05, 0.15))
    return World(effects, seed)


def faint(seed: int) -> World:
    """Return a world of effects too small to be confirmed in a short search."""
    rng = np.random.default_rng([seed, 7])
    return World(_drawn(lambda: float(rng.normal(0, 0.01))), seed)


def _drawn(effect: Callable[[], float]) -> dict[tuple[str, Value], float]:
    """Draw an effect for each value of each knob."""
    return {(t.word, value): effect() for t in space().tunables for value in t.values}


def search(world: World, budget_s: float = HOUR_S) -> tuple[Outcome, History]:
    """Carry out a search in a world; return its outcome and its history."""
    wanted = Search(space(), budget_s, world.seed)
    records: list[Record] = []
    while trial := wanted.next(records):
        records.append(world.carry_out(trial))
    history = History(records)
    return wanted.stands(history), history


def chosen(result: Outcome) -> Configuration:
    """Return the configuration that a search ends with."""
    return result.winner.configuration if result.winner else BASELINE


def on_single_runs(world: World) -> Configuration:
    """Return what plain Optuna finds in an hour: the best single observation of all its trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    now, tunables = 1, space().tunables
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=world.seed)
    )
    study.enqueue_trial({tunable.word: now for tunable in tunables})
    for _ in range(int(HOUR_S / RUN_S)):
        trial = study.ask()
        picked = {t.word: trial.suggest_categorical(t.word, [now, *t.values]) for t in tunables}
        own = made({word: value for word, value in picked.items() if value != now})
        study.tell(trial, world.single_run(own))
    return made({w: value for w, value in study.best_params.items() if value != now})


@dataclass(frozen=True)
class Achieved:
    """What searches achieved: losses won back, and intervals and exclusions that hold the truth.

    A value is NaN where there are none. `limited` is how often the best configuration tried is
    below its own limit, which is at most the highest one. `excludes` is the median excluded gain.
    """

    winners: float
    recovered: float
    regret: float
    held: float
    excluded: float
    limited: float
    excludes: float
    trials: float


def simulate(worlds: Callable[[int], World], number: int, budget_s: float = HOUR_S) -> Achieved:
    """Search in so many worlds, and return how often a search kept its promises."""
    winners, recovered, regret, held, trials = [], [], [], [], []
    excluded, limited, excludes = [], [], []
    for seed in shown(range(number), "tune"):
        world = worlds(seed)
        result, history = search(world, budget_s)
        own = world.gain(chosen(result))
        winners.append(result.winner is not None)
        recovered.append(bool(result.winner) and own >= PART * world.best)
        regret.append(world.best - own)
        trials.append(len(history.records))
        if result.winner:
            held.append(result.winner.log_low <= own <= result.winner.log_high)
        elif not math.isnan(result.excluded):
            limits = outcome.upper_limits(history, result.finalists)
            best = max(limits, key=world.gain, default=BASELINE)
            excludes.append(result.excluded)
            excluded.append(math.expm1(world.gain(best)) <= result.excluded)
            limited += [world.gain(best) <= limits[best]] if limits else []
    typical = [float(np.median(excludes))] if excludes else []
    return Achieved(*(float(np.mean(values)) if values else math.nan for values in (
        winners, recovered, regret, held, excluded, limited, typical, trials)))  # fmt: skip


def tuned(number: int = 1000, planted: int = 200, compared: int = 40) -> list[Row]:
    """Simulate searches of an hour over twelve knobs, and plain Optuna beside them."""
    none = simulate(placebos, number)
    rows = [
        Row("tune, placebos only: a winner", (100 * none.winners,), "%", at_most=5),
        *_exclusions("placebos only", none),
        *_exclusions("effects too small to find", simulate(faint, planted, SHORT_S)),
    ]
    for kind, loss in HANDICAPS.items():
        achieved = simulate(partial(handicap, kind), planted)
        what = f"tune, {1 - math.exp(-loss):.0%} lost by a {kind} knob"
        rows.append(Row(f"{what}: won back", (100 * achieved.recovered,), "%", at_least=80))
        rows.append(Row(f"{what}: interval holds", (100 * achieved.held,), "%", at_least=95))
    achieved = simulate(several, planted)
    rows.append(Row("tune, several effects: interval holds", (100 * achieved.held,), "%",
                    at_least=95))  # fmt: skip
    return [*rows, *_regrets(compared)]


def _exclusions(worlds: str, achieved: Achieved) -> list[Row]:
    """Return how often the excluded gain holds, and the limit of the best one tried."""
    note = f"median of the excluded gains: {achieved.excludes:.1%}"
    return [
        Row(f"tune, {worlds}: the excluded gain holds", (100 * achieved.excluded,), "%",
            at_least=95, note=note),
        Row(f"tune, {worlds}: the limit of the best one tried holds", (100 * achieved.limited,),
            "%", at_least=95),
    ]  # fmt: skip


def _regrets(compared: int) -> list[Row]:
    """Compare regrets with those of plain Optuna in the same worlds."""
    rows = []
    worlds = {
        "a cheap handicap": partial(handicap, "cheap"),
        "several effects": several,
        "most changes harm": harmful,
    }
    for name, world in worlds.items():
        ours = simulate(world, compared)
        plain = [
            (planted := world(seed)).best - planted.gain(on_single_runs(planted))
            for seed in shown(range(compared), "optuna")
        ]
        note = (
            f"mean regret: {ours.regret:.3f}; plain Optuna on single runs {np.mean(plain):.3f}; "
            f"{ours.trials:.0f} trials a search"
        )
        part = ours.regret / float(np.mean(plain))
        rows.append(Row(f"tune, {name}: regret, of plain Optuna's", (part,), at_most=0.5,
                        note=note))  # fmt: skip
    return rows


def _knob(number: int) -> Knob:
    change = (
        knobs.SESSION if number < _CHEAP
        else knobs.MYSQLD if number < _CHEAP + _MYSQLD
        else knobs.ROLLING
    )  # fmt: skip
    return Knob(f"knob_{number:02d}", knobs.MY_CNF, "mysqld", "1..4", change, "")
