"""What can be left out of a confirmed configuration, and in which order that is tried."""

from __future__ import annotations

import dataclasses

import numpy as np

from ndblab.benchmarks import worlds
from ndblab.tuning import ablation
from ndblab.tuning.history import ABLATE, OK, History, Record, Trial
from ndblab.tuning.space import Configuration, without

SPACE = worlds.twelve_knobs()
LIVE, ALSO_LIVE, OF_MYSQLD, OF_START = "knob_00", "knob_01", "knob_05", "knob_11"
"""Knobs that change live, by a restart of mysqld, and by a cluster start."""
WHOLE: Configuration = tuple((word, 2) for word in (LIVE, ALSO_LIVE, OF_MYSQLD, OF_START))
DOUBTFUL = (OF_START, LIVE, OF_MYSQLD, ALSO_LIVE)


def left_out(
    *words: str, mean: float = 0.0, status: str = OK, whole: Configuration = WHOLE
) -> Record:
    """A trial of the whole without some knobs: exact unless it failed."""
    gains = np.random.default_rng(2).normal(mean, 0.003, 9) if status == OK else ()
    trial = Trial(ABLATE, without(whole, *words), 9, "twins", whole)
    return Record(trial, tuple(map(float, gains)), 60.0, status)


def next_left_out(
    *records: Record, doubtful: tuple[str, ...] = DOUBTFUL, whole: Configuration = WHOLE
) -> set[str] | None:
    """The knobs that are left out next, after these trials."""
    fewer = ablation.reduced(SPACE, History(records), whole, doubtful)
    return None if fewer is None else {word for word, _ in whole if word not in dict(fewer)}


def test_what_is_in_doubt_is_left_out_together_cheapest_design_first():
    """One contrast then answers for all; knobs of a dearer design join those of the cheaper."""
    assert next_left_out() == {LIVE, ALSO_LIVE}
    live = left_out(LIVE, ALSO_LIVE)
    assert next_left_out(live) == {LIVE, ALSO_LIVE, OF_MYSQLD}
    mysqld = left_out(LIVE, ALSO_LIVE, OF_MYSQLD)
    # Without all of them it would be the baseline, which is known to be worse.
    assert next_left_out(live, mysqld) is None


def test_no_group_is_tried_that_holds_a_needed_one():
    """Its knobs are then left out one by one, beside those that are known to be needless."""
    needed = left_out(LIVE, ALSO_LIVE, mean=-0.1)
    assert next_left_out(needed) == {OF_START}
    start = left_out(OF_START)
    assert next_left_out(needed, start) == {OF_START, LIVE}
    both = left_out(OF_START, LIVE)
    assert next_left_out(needed, start, both) == {OF_START, LIVE, OF_MYSQLD}
    assert ablation.needless(History((needed, start, both)), WHOLE) == (LIVE, OF_START)


def test_once_one_is_known_to_be_needed_the_others_are_left_out_together_again():
    """They may all be needless: one contrast answers for them, instead of one for each."""
    third = "knob_02"
    whole, live = tuple(sorted((*WHOLE, (third, 2)))), (LIVE, ALSO_LIVE, third)
    together = left_out(*live, mean=-0.1, whole=whole)
    assert next_left_out(together, doubtful=live, whole=whole) == {LIVE}
    alone = left_out(LIVE, mean=-0.1, whole=whole)
    assert next_left_out(together, alone, doubtful=live, whole=whole) == {ALSO_LIVE, third}


def test_a_knob_that_is_known_to_be_needed_is_in_doubt_no_longer():
    """The answer does not say that it may be left out, though the search saw no clear gain."""
    assert set(ablation.unsettled(SPACE, History(), WHOLE)) == {*DOUBTFUL}
    records = left_out(OF_START), left_out(OF_START, LIVE, mean=-0.1)
    assert LIVE not in ablation.unsettled(SPACE, History(records), WHOLE)
    undecided = dataclasses.replace(records[1], gains=(-0.1, 0.1))
    assert LIVE in ablation.unsettled(SPACE, History((records[0], undecided)), WHOLE)


def test_what_does_not_start_without_a_knob_keeps_it():
    """The next group is tried."""
    failed = left_out(LIVE, ALSO_LIVE, status="ndbd refuses it")
    assert next_left_out(failed) == {LIVE, ALSO_LIVE, OF_MYSQLD}


def test_an_undecided_group_goes_on():
    """Two blocks say nothing yet."""
    open_ = dataclasses.replace(left_out(LIVE, ALSO_LIVE), gains=(0.0, 0.01))
    assert next_left_out(open_) == {LIVE, ALSO_LIVE}


def test_a_knob_that_another_needs_is_not_left_out_alone():
    """The other would do nothing without it."""
    first, second, *others = SPACE.tunables
    idle = dataclasses.replace(second, needs=(first.word, 2))
    space = dataclasses.replace(SPACE, tunables=(first, idle, *others))
    assert ablation.reduced(space, History(), WHOLE, (LIVE,)) is None
    assert ablation.reduced(space, History(), WHOLE, (ALSO_LIVE,)) is not None


def test_of_groups_that_are_not_needed_the_largest_is_left_out():
    """Two smaller groups are not added up: one may do the work of the other."""
    single, pair = left_out(OF_START), left_out(LIVE, ALSO_LIVE)
    assert ablation.needless(History((single, pair)), WHOLE) == (LIVE, ALSO_LIVE)
    needed = left_out(LIVE, ALSO_LIVE, mean=-0.1)
    assert ablation.needless(History((single, needed)), WHOLE) == (OF_START,)
    assert ablation.needless(History(), WHOLE) == ()
