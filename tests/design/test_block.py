"""The turns of a block that several contrasts share."""

from __future__ import annotations

from ndblab.design.block import Block, joint
from ndblab.design.contrast import TURN_ORDERS, TWINS, Contrast, Side
from ndblab.planning.point import Point

SIDE = Side(Point(1, 8))
BLOCKS = [Block(Contrast(name, TWINS, SIDE, SIDE, (), turns=True), 2) for name in "xyz"]


def test_every_contrast_has_a_whole_block() -> None:
    """As many slices of both sides as in a block of its own, in slots that follow each other."""
    slices = [slice_ for turn in joint(BLOCKS, 1) for slice_ in turn]
    assert len({slice_.run_id for slice_ in slices}) == len(slices)
    for contrast, number in BLOCKS:
        mine = [slice_ for slice_ in slices if slice_.contrast == contrast.name]
        assert [slice_.slot for slice_ in mine] == list(range(1, 4 * TURN_ORDERS + 1))
        assert {(slice_.block, slice_.of) for slice_ in mine} == {(number, 4 * TURN_ORDERS)}
        for half in (mine[: len(mine) // 2], mine[len(mine) // 2 :]):
            assert [slice_.side for slice_ in half].count("a") == TURN_ORDERS


def test_the_baselines_turn_is_a_slice_of_every_contrast() -> None:
    """Another side's turn is a slice of its own contrast alone."""
    for turn in joint(BLOCKS, 1):
        sides = {slice_.side for slice_ in turn}
        assert len(sides) == 1
        assert len(turn) == (3 if sides == {"a"} else 1)


def test_a_drift_of_the_host_helps_no_side() -> None:
    """Each order is followed by its reverse."""
    turns = joint(BLOCKS, 1)
    for contrast, _ in BLOCKS:
        places = {"a": 0, "b": 0}
        for place, turn in enumerate(turns):
            for slice_ in turn:
                if slice_.contrast == contrast.name:
                    places[slice_.side] += place
        assert places["a"] == places["b"]


def test_orders_differ_from_block_to_block() -> None:
    """They are drawn, the same ones for the same seed."""
    assert joint(BLOCKS, 1) == joint(BLOCKS, 1)
    assert joint(BLOCKS, 1) != joint(BLOCKS, 2)
