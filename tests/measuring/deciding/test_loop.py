"""The loop that decides: in time, no longer than it must, and rightly."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from measuring.deciding.simulated import Found, Silent, World
from ndblab.judging.verdict import CONTRADICTED, INCONCLUSIVE, REPRODUCED
from ndblab.machine import interference as company
from ndblab.measuring.deciding import choice
from ndblab.measuring.deciding.choice import Standing
from ndblab.measuring.deciding.loop import FAILURES, Loop
from ndblab.statistics.sequential import LOOKS


def loop_of(world: World, board: Silent | None = None, **expected_s: float) -> Loop:
    """Return the loop over a world, whose blocks are expected to take as long as they do."""
    return Loop(
        world.contrasts, world, world.measure_block, world.judge, expected_s or world.block_s,
        board or Silent(), world.now_s, world.start_s,
    )  # fmt: skip


def decide(world: World, until_s: float, board: Silent | None = None) -> Standing:
    return loop_of(world, board).decide(until_s)


def test_verdicts_are_right_and_time_ends_with_the_last_of_them():
    """In at least 95 % of simulations, for effects from 3 to 30 %; never a look too many."""
    rng = np.random.default_rng(7742)
    right = total = 0
    for seed in range(60):
        effects = rng.choice([-1, 1], 2) * np.exp(rng.uniform(np.log(0.03), np.log(0.3), 2))
        world = World(dict(zip("xy", effects, strict=True)), {"x": 20, "y": 30}, seed)
        standing = decide(world, 10_000)
        for name, effect in world.truth.items():
            truth = REPRODUCED if effect < 0 else CONTRADICTED
            right += standing.findings[name].verdict == truth
            total += 1
        before_last = world.order[:-1]
        assert all(world.order.count(name) in LOOKS for name in world.truth)
        assert before_last.count(world.order[-1]) not in LOOKS
    assert right / total >= 0.95


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["p", "q", "r", "s"]),
        st.tuples(st.floats(-0.2, 0.2), st.floats(3, 90)),
        min_size=1,
    ),
    st.floats(0, 1500),
    st.integers(0, 99),
)
def test_the_time_is_never_exceeded_and_never_left_unused(known, until_s, seed):
    """It ends because all is decided, or because no block fits what is left."""
    truth = {name: effect for name, (effect, _) in known.items()}
    block_s = {name: seconds for name, (_, seconds) in known.items()}
    world = World(truth, block_s, seed)
    standing = decide(world, until_s)
    assert world.now <= until_s
    still_open = [
        name
        for name, finding in standing.findings.items()
        if finding.verdict in choice.OPEN and world.order.count(name) < LOOKS[-1]
    ]
    assert all(block_s[name] > until_s - world.now for name in still_open)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.sampled_from("pqrs"), st.floats(3, 30), min_size=1),
    st.floats(0, 700),
    st.integers(0, 99),
)
def test_every_first_interval_has_two_cluster_starts_within_the_time(block_s, until_s, seed):
    """The start is paid for out of the same time, and serves all that are half-way by then."""
    world = World(dict.fromkeys(block_s, -0.3), block_s, seed)
    world.start_s = 35.0
    standing = decide(world, until_s)
    assert world.now <= until_s
    assert all(len(world.starts(name)) == 2 for name in block_s if standing.blocks[name] > 2)
    everything_s = 4 * sum(block_s.values()) + world.start_s * len(block_s)
    if until_s >= everything_s:
        assert {finding.verdict for finding in standing.findings.values()} == {REPRODUCED}
        assert world.start == 2


def test_what_is_counted_is_decided_by_one_block():
    """Its verdict needs no interval."""
    world = World({"x": 0.0}, {"x": 20})
    world.judge = lambda data: {"x": Found(REPRODUCED if len(data.slices) else INCONCLUSIVE)}
    assert decide(world, 1000).blocks == {"x": 1}
    assert world.order == ["x"]


def test_nothing_is_measured_once_all_is_decided():
    """Going on with a dataset whose claims are decided takes no time."""
    world = World({"x": 0.3}, {"x": 20})
    decide(world, 1000)
    before = world.now
    assert decide(world, before + 1000).findings["x"].verdict == CONTRADICTED
    assert world.now == before


def test_going_on_begins_with_the_blocks_that_others_disturbed(monkeypatch):
    """Also where all is decided, and as many as fit the time; the others stay as they are."""
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", 3.0)
    world = World({"x": 0.3, "y": 0.3}, {"x": 20, "y": 20})
    world.steal_pct = {("x", 2): 30.0, ("x", 4): 4.0, ("y", 1): 2.9}
    decide(world, 1000)
    before, measured = world.now, list(world.order)
    decide(world, before + 30)
    assert world.order == [*measured, "x"]
    decide(world, before + 1000)
    assert world.order == [*measured, "x", "x"]
    slices = world.snapshot().slices
    assert slices["run_id"].is_unique
    assert slices["host_steal_pct"].max() == 2.9


def test_a_contrast_that_stays_disturbed_is_put_off_and_then_given_up_with_a_message():
    """It is tried again after another's look, and last of all; the messages name the cause."""
    world, board = World({"x": 0.3, "y": 0.3}, {"x": 20, "y": 20}), Silent()
    world.bad_until_s = {"x": math.inf}
    decide(world, 1000, board)
    assert board.said == [
        "x is put off, block 1: company: a browser",
        "x is put off, block 1: company: a browser",
        "x is given up for now, block 1: company: a browser",
    ]
    assert world.now == 20 * (3 * FAILURES + world.order.count("y"))


def test_a_contrast_that_was_put_off_is_tried_again_after_the_next_look():
    """It does not wait until others are decided that may take all the time."""
    world = World({"x": 0.3, "y": 0.0}, {"x": 20, "y": 20})
    world.bad_until_s = {"x": 20.0 * FAILURES}
    standing = decide(world, 1000)
    assert standing.findings["x"].verdict == CONTRADICTED
    assert world.order.index("x") <= LOOKS[0]


def test_a_contrast_that_failed_twice_is_decided_when_the_others_are_done():
    world = World({"x": 0.3, "y": 0.3}, {"x": 20, "y": 20})
    world.bad_until_s = {"x": 20.0 * (2 * FAILURES + LOOKS[0])}
    standing = decide(world, 1000)
    assert [standing.findings[name].verdict for name in "xy"] == [CONTRADICTED] * 2
    assert world.order == sorted(world.order, reverse=True)


def test_the_smallest_measurement_has_one_block_of_each_contrast():
    """Repeated, it adds nothing."""
    world = World({"x": 0.3, "y": 0.3}, {"x": 20, "y": 20})
    loop = loop_of(world)
    assert loop.once().blocks == loop.once().blocks == {"x": 1, "y": 1}
    assert world.order == ["x", "y"]


def test_the_smallest_measurement_tries_again_what_was_put_off():
    world, board = World({"x": 0.3, "y": 0.3}, {"x": 20, "y": 20}), Silent()
    world.bad_until_s = {"x": 20.0 * FAILURES}
    assert loop_of(world, board).once().blocks == {"x": 1, "y": 1}
    assert board.said == ["x is put off, block 1: company: a browser"]


def test_measured_times_replace_expected_ones():
    """A block that takes longer than expected ends the measurement in time from then on."""
    world = World({"x": 0.0}, {"x": 50})
    standing = loop_of(world, x=1).decide(199)
    assert standing.block_s == {"x": 50}
    assert world.order == ["x"] * 3


def test_a_repeated_block_that_fails_is_measured_before_new_ones(monkeypatch):
    """Else its number would stay void, and the last one be measured again and again."""
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", 3.0)
    world, failed = World({"x": 0.0}, {"x": 20}), []
    world.judge = lambda data: {"x": Found(INCONCLUSIVE, waits={"x": None})}
    world.steal_pct = {("x", 2): 30.0}
    assert decide(world, 100).blocks == {"x": 5}
    measure = world.measure_block

    def fails_once(chosen, number):
        if number != 2 or failed:
            return measure(chosen, number)
        failed.append(number)
        world.now += 20
        for row in world._rows:
            row |= {"status": "errors: 1", "host_steal_pct": 0.0} if row["block"] == 2 else {}
        return "errors: 1"

    world.measure_block = fails_once
    assert decide(world, world.now + 200).blocks["x"] > 8
    assert failed == [2]
