"""Screening: which knobs may matter, from few trials that change many of them at once. Pure.

Knobs are screened together, by Plackett-Burman designs: one for the knobs that change while a
cluster runs, one for those that need a start, then the mirror image (foldover) of the first, which
keeps pairs of knobs from looking like single ones. The time left goes to single changes of the
best configuration so far: some values gain, or harm, only beside others, and one that does not
start spoils every trial that has it.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ndblab.tuning.history import RACE, History, Record
from ndblab.tuning.space import BASELINE, Configuration, Space, Tunable, Value

EFFECT = 0.10
"""Prior standard deviation of effects, as logarithms."""
UNLIKE = (0.0, 0.02, 0.04, 0.08, 0.16)
"""Deviations that a trial may have for each knob in which it differs from the best one."""
WORTH = 0.01
"""Gains below this are not worth a setting."""
CLEAR = 2.0
"""Standard errors by which a configuration falls short of another."""
DOUBT = 0.75
"""An effect enters a finalist if it lies so many standard deviations above half of `WORTH`."""


@dataclass(frozen=True)
class Effect:
    """What a value of a knob does to the goal: mean and standard deviation of the logarithm."""

    mean: float
    deviation: float

    @property
    def worth(self) -> bool:
        """Return whether a setting with it is likely enough to pay.

        In simulated searches of an hour (`benchmarks.tuning`), answers have a quarter of the
        idle settings that they have without the deviation.
        """
        return self.mean - DOUBT * self.deviation > WORTH / 2


def rows(space: Space, seed: int) -> tuple[Configuration, ...]:
    """Return the configurations that change many knobs, in the order in which they are tried."""
    cheap = [tunable for tunable in space.tunables if space.cheap(tunable)]
    dear = [tunable for tunable in space.tunables if not space.cheap(tunable)]
    rng = random.Random(seed)
    first, mirrored = (_together(space, cheap, sign) if len(cheap) > 2 else () for sign in (1, -1))
    starts = _together(space, dear, 1) if len(dear) > 2 else ()
    groups = first or _alone(space, cheap), starts or _alone(space, dear), mirrored
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        rng.shuffle(group)
    return tuple(dict.fromkeys(itertools.chain(*shuffled)))


def changed(
    space: Space, history: History, failed: Collection[Configuration]
) -> list[Configuration]:
    """Return the best configuration so far with one knob changed: set, to another value, or back.

    First come those whose change was only tried in configurations that differ from them in most
    knobs. What was tried itself is left out.
    """
    tried = [BASELINE]
    tried += [r.trial.configuration for r in history.contrasts if r.gains or r.infeasible]
    leader = dict(next((r.trial.configuration for r in gaining(space, history, failed)), BASELINE))
    changes: list[tuple[str, Value | None]] = [(word, None) for word in leader]
    changes += [pair for [pair] in singles(space) if pair not in leader.items()]
    remote: dict[Configuration, float] = {}
    for word, value in changes:
        others = {w: v for w, v in leader.items() if w != word}
        own = space.effective(others if value is None else others | {word: value})
        # Beside the best ones, a value may have no effect.
        if own and dict(own).get(word) == value:
            beside = (len(unlike(own, other)) for other in tried if dict(other).get(word) == value)
            remote[own] = min(beside, default=math.inf)
    return sorted(filter(remote.get, remote), key=remote.__getitem__, reverse=True)


def singles(space: Space) -> list[Configuration]:
    """Return the single values of all knobs, first of those that need a start."""
    cheap = [tunable for tunable in space.tunables if space.cheap(tunable)]
    dear = [tunable for tunable in space.tunables if not space.cheap(tunable)]
    # Consecutive trials of one design share a cluster start.
    return [*sorted(_alone(space, dear), key=space.design), *_alone(space, cheap)]


def effects(space: Space, history: History) -> dict[tuple[str, Value], Effect]:
    """Estimate the effect of each value of each knob, as if effects added up.

    The estimate is a regression on all contrasts of the search with the baseline, shrunk towards
    zero. It guides the search, and is no finding.
    """
    names, means, covariance, _ = _posterior(space, history)
    deviations = np.sqrt(np.diag(covariance))
    return {
        pair: Effect(float(mean), float(deviation))
        for pair, mean, deviation in zip(names, means, deviations, strict=True)
    }


def reported(space: Space, history: History) -> dict[tuple[str, Value], Effect]:
    """Estimate effects for readers: as `effects`, but less certain if the regression fits badly.

    Nearly all contrasts of a search have one block, so nothing but the fit shows whether effects
    add up. The search itself is tuned without this: its choices depend on the deviations.
    """
    wider = _posterior(space, history)[3] ** 0.5
    known = effects(space, history)
    return {pair: Effect(own.mean, wider * own.deviation) for pair, own in known.items()}


def drawn(
    space: Space, history: History, failed: Collection[Configuration], rng: np.random.Generator
) -> Configuration:
    """Return the configuration that is best under effects drawn from their posterior.

    It leaves out values that occur in configurations that failed and in none that ran.
    """
    names, means, covariance, _ = _posterior(space, history)
    effects = dict(
        zip(names, rng.multivariate_normal(means, covariance, method="cholesky"), strict=True)
    )
    ran = {r.trial.configuration for r in history.contrasts if r.gains} - set(failed)
    suspect = set(itertools.chain(*failed)) - set(itertools.chain(*ran))
    chosen = {}
    for tunable in space.tunables:
        sound = [v for v in tunable.values if (tunable.word, v) not in suspect]
        value = max(sound, key=lambda v, word=tunable.word: effects[word, v], default=None)
        if value is not None and effects[tunable.word, value] > 0:
            chosen[tunable.word] = value
    return space.effective(chosen)


def _posterior(
    space: Space, history: History
) -> tuple[list[tuple[str, Value]], np.ndarray, np.ndarray, float]:
    """Return values of knobs, the means and covariance of their effects, and the misfit.

    The misfit is the residual chi-square over its degrees of freedom, and at least 1. Their number
    is that of the contrasts without the effective number of effects (the trace of the hat matrix).
    """
    names = [(tunable.word, value) for tunable in space.tunables for value in tunable.values]
    tried = [record for record in history.contrasts if record.gains and not record.trial.against]
    x = np.array([[p in r.trial.configuration for p in names] for r in tried], float).reshape(
        len(tried), len(names)
    )
    y = np.array([np.mean(record.gains) for record in tried])
    sd = {d: history.pooled(d, space.sd[d])[0] for d in {r.trial.design for r in tried}}
    noise = _noise(tried, sd)
    if tried:
        noise = noise + np.diag(_unlike_the_best(tried, x, y, noise))
    weighted = np.linalg.solve(noise, x).T
    information = weighted @ x
    covariance = np.linalg.inv(np.eye(len(names)) / EFFECT**2 + information)
    means = covariance @ (weighted @ y)
    left = y - x @ means
    chi2 = float(left @ np.linalg.solve(noise, left))
    freedom = max(1.0, len(tried) - float(np.trace(covariance @ information)))
    return names, means, covariance, max(1.0, chi2 / freedom)


def _noise(tried: Sequence[Record], sd: Mapping[str, float]) -> np.ndarray:
    """Return the covariance of the mean gains of trials.

    Half the variance of a block is the baseline's, which trials in one cluster start share.
    """
    noise = np.diag([sd[record.trial.design] ** 2 / len(record.gains) for record in tried])
    for (row, one), (column, other) in itertools.permutations(enumerate(tried), 2):
        shared = len(set(one.starts) & set(other.starts))
        if shared:
            blocks = len(one.gains) * len(other.gains)
            noise[row, column] = shared * sd[one.trial.design] ** 2 / 2 / blocks
    return noise


def _unlike_the_best(
    tried: Sequence[Record], x: np.ndarray, y: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """Return what to add to the variance of trials, so that those unlike the best one count less.

    What a setting does may depend on others, and effects beside the best ones matter. Each knob in
    which a trial differs from the best one adds the same, one of `UNLIKE`: that with which the
    trials are most likely. It is nothing where effects add up.
    """
    shrunk = y / (1 + np.diag(noise) / EFFECT**2)
    best = tried[int(np.argmax(shrunk))].trial.configuration
    knobs = np.array([len(unlike(best, r.trial.configuration)) for r in tried], float)

    def log_likelihood(each: float) -> float:
        covariance = EFFECT**2 * x @ x.T + noise + np.diag(each**2 * knobs)
        return float(-np.linalg.slogdet(covariance)[1] - y @ np.linalg.solve(covariance, y))

    return max(UNLIKE, key=log_likelihood) ** 2 * knobs


def unlike(one: Configuration, other: Configuration) -> set[str]:
    """Return the names of the knobs in which two configurations differ."""
    return {word for word, _ in set(one) ^ set(other)}


def gaining(space: Space, history: History, failed: Collection[Configuration]) -> list[Record]:
    """Return the trials that gained, the best first.

    Their gains are compared shrunk towards zero, according to how exact their blocks are.
    """

    def shrunk(record: Record) -> float:
        own = EFFECT**2 / (EFFECT**2 + error(space, record) ** 2)
        return own * sum(record.gains) / len(record.gains)

    ran = [r for r in history.contrasts if r.gains and r.trial.configuration not in failed]
    return sorted((r for r in ran if shrunk(r) > 0), key=shrunk, reverse=True)


def error(space: Space, record: Record) -> float:
    """Return the standard error of a trial's gain."""
    return space.sd[record.trial.design] / math.sqrt(len(record.gains))


def falls_short(space: Space, history: History, own: Configuration, of: Record) -> bool:
    """Return whether a configuration is known, and clearly gains less than another one."""
    record, gain, own_error = history.find(RACE, own), 0.0, 0.0
    if own:
        if record is None or not record.gains:
            return False
        gain, own_error = float(np.mean(record.gains)), error(space, record)
    missing = float(np.mean(of.gains)) - gain
    return missing > WORTH + CLEAR * math.hypot(own_error, error(space, of))


def best(space: Space, known: Mapping[tuple[str, Value], Effect]) -> Configuration:
    """Return the values whose estimated effects are highest, where these are worth a setting."""
    chosen = {}
    for tunable in space.tunables:
        value = max(tunable.values, key=lambda v, word=tunable.word: known[word, v].mean)
        if known[tunable.word, value].worth:
            chosen[tunable.word] = value
    return space.effective(chosen)


def _together(space: Space, tunables: list[Tunable], sign: int) -> Iterator[Configuration]:
    from pydoe import pbdesign

    design = np.asarray(pbdesign(len(tunables)))[:, : len(tunables)]
    turn = dict.fromkeys(tunables, 0)
    for row in sign * design:
        chosen: dict[str, Value] = {}
        for tunable, level in zip(tunables, row, strict=True):
            if level > 0:
                # A knob with several values takes the next one in every row that changes it.
                chosen[tunable.word] = tunable.values[turn[tunable] % len(tunable.values)]
                turn[tunable] += 1
        if own := space.effective(chosen):
            yield own


def _alone(space: Space, tunables: list[Tunable]) -> Iterator[Configuration]:
    """Yield the first value of each knob (a rule of thumb's, if it has one), then the others."""
    by_knob = (
        [(t.word, v) for v in sorted(t.values, key=lambda v, rule=t.expert: v != rule)]
        for t in tunables
    )
    for word, value in filter(None, itertools.chain(*itertools.zip_longest(*by_knob))):
        if own := space.effective({word: value}):
            yield own
