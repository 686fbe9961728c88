"""Screening: which knobs may matter, from few trials that change many of them at once. Pure.

Knobs are screened together, by Plackett-Burman designs: one for the knobs that change while a
cluster runs, one for those that need a start, then the mirror image (foldover) of the first, which
keeps pairs of knobs from looking like single ones. The time left goes to single values of knobs
that need a start: a value that does not start spoils every trial that has it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ndblab.tuning.history import History
from ndblab.tuning.space import Configuration, Space, Tunable, Value

EFFECT = 0.10
"""Prior standard deviation of effects, as logarithms."""
WORTH = 0.01
"""Gains below this are not worth a setting."""
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
    """Return the configurations of the screening, in the order in which they are tried."""
    cheap = [tunable for tunable in space.tunables if space.cheap(tunable)]
    dear = [tunable for tunable in space.tunables if not space.cheap(tunable)]
    rng = random.Random(seed)
    first, mirrored = (_together(space, cheap, sign) if len(cheap) > 2 else () for sign in (1, -1))
    starts = _together(space, dear, 1) if len(dear) > 2 else ()
    groups = first or _alone(space, cheap), starts or _alone(space, dear), mirrored
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        rng.shuffle(group)
    # Consecutive trials of one design share a cluster start.
    alone = sorted(_alone(space, dear), key=space.design)
    return tuple(dict.fromkeys([*itertools.chain(*shuffled), *alone]))


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
    configurations = [set(record.trial.configuration) for record in tried]
    x = np.array([[pair in own for pair in names] for own in configurations], float)
    x = x.reshape(len(tried), len(names))
    y = np.array([np.mean(record.gains) for record in tried])
    sd = {d: history.pooled(d, space.sd[d])[0] for d in {r.trial.design for r in tried}}
    weight = np.array([len(r.gains) / sd[r.trial.design] ** 2 for r in tried])
    information = (x.T * weight) @ x
    covariance = np.linalg.inv(np.eye(len(names)) / EFFECT**2 + information)
    means = covariance @ (x.T @ (weight * y))
    chi2 = float(weight @ (y - x @ means) ** 2)
    freedom = max(1.0, len(tried) - float(np.trace(covariance @ information)))
    return names, means, covariance, max(1.0, chi2 / freedom)


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
