"""Proposals by Optuna (ask and tell): it says what to try, and decides nothing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ndblab.tuning.history import History
from ndblab.tuning.space import Configuration, Space, Value, made

_FIRST = 5
"""Trials after which proposals follow from what was found, and are not drawn at random."""


def batch(
    space: Space,
    history: History,
    values: Mapping[str, Sequence[Value]],
    number: int,
    seed: int,
) -> list[Configuration]:
    """Return configurations to try, from those tried so far, by a tree of Parzen estimators.

    Parameters
    ----------
    values : what may be chosen besides the baseline's own, by knob.
    """
    if not values or not number:
        return []
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    now = {word: space.tunable(word).current for word in values}
    # Choices by place: values of one knob may be of several types.
    choices = {word: [now[word], *values[word]] for word in values}
    places = {
        word: optuna.distributions.CategoricalDistribution(list(range(len(each))))
        for word, each in choices.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=_FIRST, multivariate=True, constant_liar=True
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for record in history.contrasts:
            chosen = dict(record.trial.configuration)
            if not record.gains or record.trial.against:
                continue
            picked = {word: chosen.get(word, now[word]) for word in values}
            if all(value in choices[word] for word, value in picked.items()):
                study.add_trial(
                    optuna.trial.create_trial(
                        params={w: choices[w].index(v) for w, v in picked.items()},
                        distributions=places,
                        value=float(np.mean(record.gains)),
                    )
                )
        asked = [study.ask(places) for _ in range(number)]
    return [
        made({w: choices[w][place] for w, place in each.params.items() if place}) for each in asked
    ]
