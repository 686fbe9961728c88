"""Whole searches in planted worlds, and what decides which trial is next."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import pytest

from ndblab.benchmarks import tuning, worlds
from ndblab.design.contrast import ALTERNATION, TWINS
from ndblab.error import LabError
from ndblab.tuning import screening
from ndblab.tuning.history import (
    ABLATE,
    CONFIRM,
    EXCLUDE,
    EXPERT,
    RACE,
    SCREEN,
    SEARCH,
    History,
    Record,
    Trial,
)
from ndblab.tuning.outcome import Finalist
from ndblab.tuning.search import CHANGED, FINALISTS, PROVED, Search
from ndblab.tuning.space import TOGETHER
from ndblab.tuning.wanted import Request, limits

HOUR_S = tuning.HOUR_S


def played(world: worlds.World, search: Search) -> list[Record]:
    """Carry out a search in a world, each trial with a baseline of its own."""
    records: list[Record] = []
    while trial := search.next(records):
        records += world.carry_out([trial])
    return records


def test_placebos_seldom_win():
    """Where no knob does anything, a winner is found in at most 5 % of searches (here of 30)."""
    achieved = tuning.simulate(worlds.placebos, 30)
    assert achieved.winners <= 0.05 + 1.64 * math.sqrt(0.05 * 0.95 / 30)
    assert achieved.excluded >= 0.95 - 1.64 * math.sqrt(0.05 * 0.95 / 30)


def test_a_finalist_that_is_certainly_worse_gets_no_more_blocks() -> None:
    """Only an interval above the baseline confirms it."""
    own = (("knob_00", 2),)
    trial = Trial(CONFIRM, own, 4, TWINS)
    search = Search(worlds.twelve_knobs(), HOUR_S)
    for gains, may_win in (((-0.05, -0.02, -0.08, -0.05), False), ((0.05, 0.02, 0.08, 0.05), True)):
        history = History([Record(trial, gains, 240.0)])
        assert search._may_win(history, Finalist(own, 0.1), 1 - 0.05 / FINALISTS) == may_win


@pytest.mark.parametrize("kind", worlds.HANDICAPS)
def test_a_planted_handicap_is_won_back(kind: str):
    """80 % of searches win back 90 % of the loss; the printed interval holds the true gain."""
    achieved = tuning.simulate(partial(worlds.handicap, kind), 10)
    assert achieved.recovered >= 0.8
    assert achieved.held >= 0.8


def test_a_setting_that_gains_only_beside_another_is_found():
    """Alone it loses 26 %, so it must be tried beside others."""
    found = won_back = 0
    for seed in range(10):
        world = worlds.reversing(seed)
        result, _ = tuning.search(world)
        found += any(set(both) <= set(result.configuration) for both in world.interactions)
        won_back += world.gain(result.configuration) >= tuning.PART * world.best
    assert found >= 9
    assert won_back >= 7


def test_the_race_tries_configurations_of_the_space_and_nears_the_best():
    """Each changes several knobs, so that one block informs about all of them."""
    known = {tunable.word: tunable.values for tunable in worlds.twelve_knobs().tunables}
    first = last = 0.0
    for seed in range(4):
        world = worlds.several(seed)
        records = played(world, Search(worlds.twelve_knobs(), HOUR_S, seed))
        raced = [r.trial.configuration for r in records if r.trial.stage == RACE]
        assert min(map(len, raced)) > 1
        assert all(value in known[word] for own in raced for word, value in own)
        first += sum(map(world.gain, raced[:5]))
        last += sum(map(world.gain, raced[-5:]))
    assert last > first


def test_the_parts_follow_each_other_and_keep_to_the_time():
    """The confirmation begins when the search is over, and all ends within the minutes given."""
    records = played(worlds.several(1), Search(worlds.twelve_knobs(), HOUR_S, 1))
    stages = [record.trial.stage for record in records]
    first = stages.index(CONFIRM)
    assert set(stages[:first]) <= set(SEARCH)
    assert set(stages[first:]) <= {CONFIRM, ABLATE}
    assert History(records).seconds <= HOUR_S
    assert len({r.trial.configuration for r in records if r.trial.stage == CONFIRM}) <= FINALISTS


def test_no_trial_is_measured_against_anything_but_the_baseline_or_the_confirmed():
    """So no ratio is a product of others."""
    records = played(worlds.several(2), Search(worlds.twelve_knobs(), HOUR_S, 2))
    confirmed = {r.trial.configuration for r in records if r.trial.stage == CONFIRM}
    for record in records:
        if record.trial.stage == ABLATE:
            assert record.trial.against in confirmed
        else:
            assert record.trial.against == ()


def test_a_knob_that_changes_live_shares_a_start_and_is_confirmed_in_new_ones():
    """Its trials alternate in one cluster; finalists are confirmed as they would be deployed."""
    records = played(worlds.handicap("cheap", 4), Search(worlds.twelve_knobs(), HOUR_S, 4))
    for record in records:
        words = [word for word, _ in record.trial.configuration]
        cheap = all(worlds.twelve_knobs().tunable(word).cheap for word in words)
        if record.trial.stage == CONFIRM:
            assert record.trial.design == TWINS
        elif record.trial.stage != ABLATE:
            assert (record.trial.design == ALTERNATION) == cheap
            mysqld = all(word < worlds.twelve_knobs().tunables[7].word for word in words)
            assert (record.trial.design == TWINS) != mysqld


def test_no_trial_has_a_setting_that_would_do_nothing_in_it():
    """This holds whether it comes from a screening, a race, or leaving out another setting."""
    first, second, *others = worlds.twelve_knobs().tunables
    idle = dataclasses.replace(second, needs=(first.word, 2))
    space = dataclasses.replace(worlds.twelve_knobs(), tunables=(first, idle, *others))
    records = played(worlds.several(3), Search(space, HOUR_S, 3))
    with_it = [c for c in (dict(r.trial.configuration) for r in records) if second.word in c]
    assert with_it
    assert all(own.get(first.word) == 2 for own in with_it)


def test_a_search_that_was_killed_goes_on_where_it_was():
    """The next trial follows from the journal alone, even after a round trip through JSON."""
    world, search = worlds.several(5), Search(worlds.twelve_knobs(), HOUR_S, 5)
    records: list[Record] = []
    while trials := search.together(records):
        journal = [Record.from_dict(record.to_dict()) for record in records]
        assert Search(worlds.twelve_knobs(), HOUR_S, 5).together(journal) == trials
        records += world.carry_out(trials)


def test_trials_that_need_starts_of_their_own_share_that_of_the_baseline():
    """Those of the search do, up to three; what decides has a baseline of its own."""
    world, search = worlds.several(5), Search(worlds.twelve_knobs(), HOUR_S, 5)
    records: list[Record] = []
    shared = []
    while trials := search.together(records):
        assert len({trial.contrast for trial in trials}) == len(trials) <= TOGETHER
        if len(trials) > 1:
            assert {trial.design for trial in trials} == {TWINS}
            assert {trial.stage for trial in trials} <= {SCREEN, RACE}
            assert not any(trial.against for trial in trials)
        shared.append(len(trials))
        records += world.carry_out(trials)
    assert shared.count(TOGETHER) >= 5
    alone = played(worlds.several(5), Search(worlds.twelve_knobs(), HOUR_S, 5))
    searched, before = (
        len([r for r in these if r.trial.stage in SEARCH]) for these in (records, alone)
    )
    assert searched > 1.2 * before


def test_trials_share_no_baseline_where_clients_cannot_take_turns():
    """Each slice then has a load of its own, which takes long for every further side."""
    space = dataclasses.replace(worlds.twelve_knobs(), turns=())
    search, world = Search(space, HOUR_S, 5), worlds.several(5)
    records: list[Record] = []
    while trials := search.together(records):
        assert len(trials) == 1
        records += world.carry_out(trials)


def test_what_does_not_start_is_never_tried_again_nor_confirmed():
    """Its reason is in the outcome."""
    world, search = worlds.handicap("dear", 6), Search(worlds.twelve_knobs(), HOUR_S, 6)
    [good] = {word for word, _ in world.effects}
    records: list[Record] = []
    while trial := search.next(records):
        if good in dict(trial.configuration):
            records.append(Record(trial, (), 60.0, "ndbd refuses it"))
        else:
            records += world.carry_out([trial])
    failed = [r.trial for r in records if r.status != "ok"]
    assert failed
    assert all(trial.stage in (EXPERT, SCREEN, RACE) for trial in failed)
    assert len({trial.configuration for trial in failed}) == len(failed)
    stands = search.stands(History(records))
    assert stands.winner is None
    assert "ndbd refuses it" in dict(stands.infeasible).values()


def test_what_others_disturbed_is_no_fault_of_a_configuration():
    """It may still win: only its own failures rule it out."""
    world, search = worlds.handicap("dear", 6), Search(worlds.twelve_knobs(), HOUR_S, 6)
    records: list[Record] = []
    while trial := search.next(records):
        spoilt = len(records) in (0, 7, 20)
        status = "disturbed, company: python used 22 % of the CPUs"
        records += [Record(trial, (), 30.0, status)] if spoilt else world.carry_out([trial])
    stands = search.stands(History(records))
    assert not stands.infeasible
    assert stands.winner is not None


@pytest.mark.parametrize(("spoilt", "times"), [(1, 2), (2, 2)])
def test_a_trial_that_others_disturbed_is_repeated_once(spoilt: int, times: int):
    """A screening that lacks a row says less, but what is always disturbed would take all time."""
    world, search = worlds.several(6), Search(worlds.twelve_knobs(), HOUR_S, 6)
    records: list[Record] = []
    while (trial := search.next(records)) and trial.stage in (EXPERT, SCREEN):
        status = "disturbed, company: python used 22 % of the CPUs"
        disturbed = len(records) < spoilt
        records += [Record(trial, (), 30.0, status)] if disturbed else world.carry_out([trial])
    tried = [record.trial for record in records]
    assert tried.count(tried[0]) == times
    assert {tried.count(trial) for trial in tried[times:]} == {1}


def test_the_race_changes_single_knobs_of_the_best_so_far():
    """One trial in four; what a value does beside the best is else seldom known."""
    search = Search(worlds.twelve_knobs(), HOUR_S, 8)
    records = played(worlds.reversing(8), search)
    race = [n for n, record in enumerate(records) if record.trial.stage == RACE]
    changed = 0
    for place in race[CHANGED - 1 : -PROVED : CHANGED]:
        before = History(records[:place])
        best = max(before.contrasts, key=lambda record: record.gains).trial.configuration
        changed += len(screening.unlike(records[place].trial.configuration, best)) == 1
    assert changed >= 2


def test_a_search_that_others_disturbed_all_the_time_ends_in_order():
    """Without finalists there is nothing to confirm, and nothing is excluded."""
    search, records = Search(worlds.twelve_knobs(), HOUR_S, 6), []
    while trial := search.next(records):
        assert trial.stage != CONFIRM
        records.append(Record(trial, (), 60.0, "disturbed, company: python used 22 % of the CPUs"))
    stands = search.stands(History(records))
    assert stands.winner is None
    assert stands.finalists == ()
    assert math.isnan(stands.excluded)


def test_what_breaks_a_limit_is_out_whatever_it_gains():
    """`--keep` counts before the goal."""
    world = worlds.handicap("cheap", 7)
    search = Search(worlds.twelve_knobs(), HOUR_S, 7, limits("p95 < 20 ms"))
    [good] = {word for word, _ in world.effects}
    records: list[Record] = []
    while trial := search.next(records):
        record = world.carry_out([trial])[0]
        p95_ms = 30.0 if good in dict(trial.configuration) else 10.0
        records.append(Record(trial, record.gains, record.seconds, levels={"p95_ms": p95_ms}))
    stands = search.stands(History(records))
    assert stands.winner is None
    assert "p95 is 30 ms, not p95 < 20 ms" in dict(stands.infeasible).values()


@pytest.mark.parametrize(
    ("option", "typed", "what"),
    [
        ("goal", "latency", "Unknown --goal"),
        ("keep", "p95 20", "--keep has a condition that cannot be kept"),
        ("minutes", "an hour", "--minutes is not usable"),
    ],
)
def test_what_no_search_can_do_is_refused_before_anything_is_installed(
    option: str, typed: str, what: str
):
    """The request itself refuses it."""
    with pytest.raises(LabError, match=what):
        Request(**{option: typed})


def test_a_finalist_that_is_rejected_is_not_replaced():
    """Another would have too little time; the confidence of the others stays what it was."""
    world, search = worlds.several(1), Search(worlds.twelve_knobs(), HOUR_S, 1)
    records: list[Record] = []
    while (trial := search.next(records)) and trial.stage != CONFIRM:
        records.append(world.carry_out([trial])[0])
    chosen = search.finalists(History(records))
    assert len(chosen) == FINALISTS
    assert trial is not None
    failed = Record(trial, (), 60.0, "Data node 2 has ended")
    assert search.finalists(History([*records, failed])) == chosen
    stands = search.stands(History([*records, failed]))
    assert [e.configuration for e in stands.finalists if e.rejected] == [trial.configuration]


def test_where_nothing_is_found_every_way_of_trying_is_bounded():
    """The last blocks go where noise is unknown, then to the highest limit; none to the hopeless.

    Their results make no new finalists.
    """
    search = Search(worlds.twelve_knobs(), HOUR_S, 3)
    records = played(worlds.placebos(3), search)
    stands = search.stands(History(records))
    assert stands.winner is None
    assert stands.bounded == stands.tried
    designs = {record.trial.design for record in records}
    assert {excluded.design for excluded in stands.by_design} == designs >= {ALTERNATION, TWINS}
    assert len(stands.finalists) <= FINALISTS
    assert records[-1].trial.stage in (EXCLUDE, CONFIRM)


def test_more_minutes_go_on_with_a_search_that_was_over():
    """Its trials still count; nothing is measured again from the start."""
    world = worlds.placebos(8)
    records = played(world, Search(worlds.twelve_knobs(), HOUR_S / 2, 8))
    assert Search(worlds.twelve_knobs(), HOUR_S / 2, 8).next(records) is None
    trial = Search(worlds.twelve_knobs(), HOUR_S, 8).next(records)
    assert trial is not None
    known = History(records).gains(trial.stage, trial.configuration)
    assert trial.blocks == len(known) + 1
