"""What a search reports of single settings: it tries many at once."""

from __future__ import annotations

import math
import random

import pytest

from ndblab.benchmarks import worlds
from ndblab.comparing import made
from ndblab.tuning import figure, screening, space
from ndblab.tuning.history import RACE, History, Record, Trial
from ndblab.tuning.wanted import Request, Wanted

SPACE = worlds.twelve_knobs()
FIRST, SECOND = (tunable.word for tunable in SPACE.tunables[:2])


def tried(together: float) -> History:
    """Return 60 trials of one block, each with about half of the knobs changed at random.

    Of two knobs, any change gains 5 %; trials that change both have `together` more.
    """
    rng = random.Random(1)

    def record() -> Record:
        changes = {t.word: rng.choice(t.values) for t in SPACE.tunables if rng.random() < 0.5}
        own = space.made(changes)
        changed = {FIRST, SECOND} & changes.keys()
        gain = 0.05 * len(changed) + together * (len(changed) == 2)
        return Record(Trial(RACE, own, 1, SPACE.design(own)), (gain,), 60.0)

    return History(record() for _ in range(60))


def test_a_good_fit_leaves_the_intervals_as_they_are():
    """The noise of blocks is then all that there is."""
    history = tried(0.0)
    assert screening.reported(SPACE, history) == screening.effects(SPACE, history)
    assert screening.reported(SPACE, History()) == screening.effects(SPACE, History())


@pytest.mark.parametrize("together", [0.3, -0.3])
def test_settings_that_act_together_widen_the_intervals(together: float):
    """Their effects do not add up, and no single block shows it. The estimates stay."""
    history = tried(together)
    searched, told = (of(SPACE, history) for of in (screening.effects, screening.reported))
    wider = {pair: told[pair].deviation / searched[pair].deviation for pair in told}
    assert min(wider.values()) > 1.5
    assert max(wider.values()) == pytest.approx(min(wider.values()))
    assert all(told[pair].mean == searched[pair].mean for pair in told)


def test_the_figure_and_the_answer_have_the_wider_intervals():
    """Half of an interval of 95 % is 1.96 standard deviations."""
    history = tried(0.3)
    wanted = Wanted((), SPACE, made.Load("oltp_point_select", 1, 16), Request())
    told = screening.reported(SPACE, history)
    deviations = sorted(
        math.log(row["high"] / row["low"]) / 2 / 1.96 for row in figure.effects(history, wanted)
    )
    known = [effect.deviation for effect in told.values()]
    assert all(any(math.isclose(one, other) for other in known) for one in deviations)


def test_what_the_search_itself_believes_does_not_depend_on_the_fit():
    """Its rules were tuned by simulations without this."""
    straight, crooked = tried(0.0), tried(0.3)
    deviations = [
        [effect.deviation for effect in screening.effects(SPACE, history).values()]
        for history in (straight, crooked)
    ]
    assert deviations[0] == deviations[1]
