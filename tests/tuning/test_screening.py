"""What a search reports of single settings: it tries many at once."""

from __future__ import annotations

import dataclasses
import json
import math
import random

import pytest

from ndblab.benchmarks import worlds
from ndblab.comparing import made
from ndblab.design.contrast import TWINS
from ndblab.tuning import figure, screening, space
from ndblab.tuning.history import RACE, SCREEN, History, Record, Trial
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


def journalled(record: Record) -> Record:
    """Return a record as a resumed search reads it."""
    return Record.from_dict(json.loads(json.dumps(record.to_dict())))


def test_knobs_are_changed_singly_beside_the_best_so_far():
    """Some settings gain or harm only beside others, so they are tried beside the best ones."""
    third = SPACE.tunables[-1].word
    leader = space.made({FIRST: 2, third: 3})

    def near(*gains: tuple[space.Configuration, float]) -> list[space.Configuration]:
        records = (
            Record(Trial(SCREEN, own, 1, SPACE.design(own)), (gain,), 60.0) for own, gain in gains
        )
        return screening.changed(SPACE, History(records), ())

    *configurations, back, without_third = near((leader, 0.3))
    # The baseline's value is one like any other, but was already tried, with the baseline.
    assert {back, without_third} == {space.made({FIRST: 2}), space.made({third: 3})}
    changes = [dict(set(own) - set(leader)) for own in configurations]
    assert all(len(change) == 1 for change in changes)
    assert sorted(pair for change in changes for pair in change.items()) == sorted(
        (tunable.word, value)
        for tunable in SPACE.tunables
        for value in tunable.values
        if (tunable.word, value) not in leader
    )
    # Those of knobs that need a start come first.
    assert [SPACE.cheap(SPACE.tunable(*change)) for change in changes] == sorted(
        SPACE.cheap(SPACE.tunable(*change)) for change in changes
    )
    # A value of a knob that the leader changes takes the place of the leader's.
    assert space.made({FIRST: 2, third: 2}) in configurations
    # What was tried beside the leader is not tried again; what was tried beside others comes last.
    first, second, *others = configurations
    elsewhere = tuple(set(second) - set(leader))
    tried = (leader, 0.3), (first, -0.1), (elsewhere, -0.2)
    assert near(*tried) == [*others, second, back, without_third]


def test_a_value_without_effect_beside_the_best_is_not_tried_there():
    """So it is with `ShmSpintime` once `UseShm` is off."""
    first, second, *others = SPACE.tunables
    idle = dataclasses.replace(second, needs=(FIRST, first.current))
    own = dataclasses.replace(SPACE, tunables=(first, idle, *others))
    leader = space.made({FIRST: 2})
    records = [Record(Trial(SCREEN, leader, 1, own.design(leader)), (0.3,), 60.0)]
    near = screening.changed(own, History(records), ())
    assert leader not in near
    assert not any(SECOND in dict(configuration) for configuration in near)


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


def test_what_trials_of_one_baseline_have_in_common_counts_less():
    """Settings that gain as much in one cluster start may only have met a slow baseline."""
    dear = [tunable for tunable in SPACE.tunables if not SPACE.cheap(tunable)][-3:]
    pairs = [(tunable.word, tunable.values[0]) for tunable in dear]

    def means(gains: list[float], *starts: int) -> list[float]:
        numbers = [(start,) for start in starts] or [()] * 3
        records = [
            Record(Trial(RACE, (pair,), 1, TWINS), (gain,), 60.0, starts=own)
            for pair, gain, own in zip(pairs, gains, numbers, strict=True)
        ]
        known = screening.effects(SPACE, History(map(journalled, records)))
        return [known[pair].mean for pair in pairs]

    alike, unlike = [0.03] * 3, [0.0, 0.0, 0.15]
    assert max(means(alike, 1, 1, 1)) < min(means(alike, 1, 2, 3))
    # One that stands out is not the baseline's.
    assert means(unlike, 1, 1, 1)[2] > 0.9 * means(unlike, 1, 2, 3)[2]
    # Records of older searches do not tell.
    assert means(unlike) == means(unlike, 1, 2, 3)


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
