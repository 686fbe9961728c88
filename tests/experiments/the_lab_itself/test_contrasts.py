"""The contrasts of the lab with itself."""

from __future__ import annotations

import functools

import pytest

from experiments import planned
from ndblab.design import catalogue
from ndblab.design.contrast import CONDITIONS, SWITCHED, TURN_ORDERS
from ndblab.error import LabError
from ndblab.experiments import the_lab_itself as trust
from ndblab.statistics.sequential import LOOKS

EXPERIMENT = catalogue.find("the-lab-itself")
made = functools.partial(planned.contrasts, EXPERIMENT)


def test_identical_sides_are_identical_and_span_cluster_starts():
    """Sixty blocks in four starts, each begun afresh, with 15 repeats."""
    a_a = made(repeats=15)[trust.A_A]
    assert a_a.a == a_a.b
    assert (a_a.a.point.servers, a_a.a.point.clients) == (2, 16)
    begun = [number for number in range(1, a_a.blocks + 1) if a_a.begins_start(number)]
    assert begun == [1, 16, 31, 46]
    assert a_a.blocks == 60
    few = made()[trust.A_A]
    assert (few.blocks, few.blocks_per_start) == (4, 2)


def test_other_contrasts_need_no_start_of_their_own():
    """They have at least the blocks of a first look, and the more, the smaller their effect."""
    others = [c for name, c in made().items() if name != trust.A_A]
    assert not any(contrast.begins_start(1) for contrast in others)
    assert {c.blocks for c in others if c.name != trust.MONITOR} == {4}
    many = made(repeats=15)
    assert many[trust.MONITOR].blocks == LOOKS[-1]
    assert many[trust.MONITOR].blocks > many[trust.A_A_DUET].blocks > many[trust.SPINNER].blocks > 4


def test_the_monitor_is_switched_under_the_load_of_all_servers():
    """Its cost is too small to be seen between loads, and greatest where CPUs are scarce."""
    monitor = made()[trust.MONITOR]
    assert monitor.design == SWITCHED
    assert (monitor.a.point.servers, monitor.a.point.clients) == (4, 32)
    [together] = monitor.block(1, seed=1)
    assert len(together) == 4 * TURN_ORDERS
    for half in (together[: len(together) // 2], together[len(together) // 2 :]):
        assert sorted(piece.side for piece in half) == sorted("ab" * (len(half) // 2))


def test_every_condition_is_compared_with_none():
    """Or, to see what servers add, under the same condition on both sides."""
    sides = [(c.a, c.b) for c in made().values()]
    seen = {side.condition for pair in sides for side in pair}
    assert seen == set(CONDITIONS)
    for a, b in sides:
        if a.condition != b.condition:
            assert a.point == b.point
            assert "" in (a.condition, b.condition)


def test_a_single_server_is_refused():
    """There is no half of it."""
    with pytest.raises(LabError, match="halves of a cluster"):
        made(servers="1")
