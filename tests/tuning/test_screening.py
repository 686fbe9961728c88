"""What a search reports of single settings: it tries many at once."""

from __future__ import annotations

import math
import random

import pytest

from ndblab.benchmarks import worlds
from ndblab.comparing import made
from ndblab.design.contrast import TWINS
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


def test_single_values_are_added_to_the_best_so_far():
    """Some settings gain or harm only beside others, so they are tried beside the best ones."""
    dear = [tunable for tunable in SPACE.tunables if not SPACE.cheap(tunable)]
    leader = space.made({FIRST: 2, dear[0].word: 3})
    configurations = [*screening.added(SPACE, leader, ())]
    changes = [dict(set(own) - set(leader)) for own in configurations]
    assert all(len(change) == 1 for change in changes)
    assert sorted(pair for change in changes for pair in change.items()) == sorted(
        (tunable.word, value)
        for tunable in dear
        for value in tunable.values
        if (tunable.word, value) not in leader
    )
    # A value of a knob that the leader changes takes the place of the leader's.
    assert space.made({FIRST: 2, dear[0].word: 2}) in configurations
    assert configurations[1:] == [*screening.added(SPACE, leader, configurations[:1])]
    # Once tried beside one leader, a value is not tried beside the next.
    other = space.made({SECOND: 2})
    assert len([*screening.added(SPACE, other, configurations)]) == 0


def test_a_good_fit_leaves_the_intervals_as_they_are():
    """The noise of blocks is then all that there is."""
    history = tried(0.0)
    assert screening.reported(SPACE, history) == screening.effects(SPACE, history)
    assert screening.reported(SPACE, History()) == screening.effects(SPACE, History())


@pytest.mark.parametrize("together", [0.3, -0.3])
def test_settings_that_act_together_widen_the_intervals(together: float):
    """Their effects do not add up, and no single block shows it."""
    straight, history = tried(0.0), tried(together)
    told, usual = screening.reported(SPACE, history), screening.reported(SPACE, straight)
    assert min(told[pair].deviation / usual[pair].deviation for pair in told) > 1.5
    searched = screening.effects(SPACE, history)
    assert all(told[pair].mean == searched[pair].mean for pair in told)
    assert all(told[pair].deviation >= searched[pair].deviation for pair in told)


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


def test_trials_unlike_the_best_one_count_less_where_effects_depend_on_each_other():
    """A value that loses alone may gain beside others, and the best one already has these."""
    split, threads, servers = [t for t in SPACE.tunables if not SPACE.cheap(t)][-3:]
    loses, first, second = ((t.word, t.values[0]) for t in (split, threads, servers))

    def effect(*more: tuple[dict[str, int], float]) -> float:
        gains = (
            ({}, 0.0), (dict([first]), 0.2), (dict([second]), 0.2), (dict([first, second]), 0.4),
            (dict([loses]), -0.3), (dict([first, second, loses]), 0.5), *more,
        )  # fmt: skip
        records = (
            Record(Trial(RACE, own, 1, SPACE.design(own)), (gain,), 60.0)
            for own, gain in ((space.made(values), gain) for values, gain in gains)
            if own
        )
        return screening.effects(SPACE, History(records))[loses].mean

    assert effect() > 0.02
    # Where it gains nothing beside them, it is what it is alone.
    assert effect((dict([first, second, loses]), 0.1)) < -0.1


def test_a_standing_baseline_that_is_slower_than_a_new_one_credits_no_setting():
    """What all such trials have in common is no effect of a setting."""
    dear = [tunable for tunable in SPACE.tunables if not SPACE.cheap(tunable)]
    values = [(tunable.word, value) for tunable in dear for value in tunable.values]
    records = [
        Record(Trial(RACE, (pair,), 1, SPACE.design((pair,))), (0.05,), 60.0) for pair in values
    ]
    assert {record.trial.design for record in records} >= {TWINS}
    known = screening.effects(SPACE, History(records))
    standing = [r.trial.configuration[0] for r in records if r.trial.standing]
    assert all(known[pair].mean < 0.02 for pair in standing)
    assert not any(known[pair].worth for pair in standing)
