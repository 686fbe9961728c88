"""The order in which the sides of a contrast are measured."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from ndblab.design.contrast import (
    ALTERNATION,
    DUET,
    LEVEL,
    PER_TWINS,
    RESTARTS,
    STARTS,
    SWITCHED,
    TAKE_TURNS,
    TURN_S,
    TWINS,
    Contrast,
    Length,
    Side,
)
from ndblab.planning.point import Point

SIDE = Side(Point(1, 8))
TWIN = Contrast("twins", TWINS, SIDE, SIDE, ())


def order(number: int, seed: int = 1) -> str:
    """The sides of a block, slot by slot; one slice in each."""
    return "".join(one.side for (one,) in TWIN.block(number, seed))


@pytest.mark.parametrize("number", range(1, 9))
def test_twins_are_loaded_in_turn_so_that_a_drift_helps_neither(number: int) -> None:
    """A B B A and B A A B follow each other: even a drift that accelerates cancels out."""
    sides = order(number)
    assert len(sides) == 4 * PER_TWINS
    assert {sides[:4], sides[4:]} == {"abba", "baab"}
    for power in (1, 2):
        drift = [slot**power * (1 if side == "a" else -1) for slot, side in enumerate(sides)]
        assert sum(drift) == 0
    assert {one.of for (one,) in TWIN.block(number, 1)} == {4 * PER_TWINS}


def test_the_first_twin_to_be_loaded_is_drawn() -> None:
    """Over many blocks each of them about as often."""
    first = [order(number)[0] for number in range(1, 101)]
    assert 35 < first.count("a") < 65


def test_twins_exchange_their_places_from_start_to_start() -> None:
    """All slices of a block are in the same places, those of the next block in the others."""
    places = [{one.swapped for (one,) in TWIN.block(number, 1)} for number in range(1, 7)]
    assert all(len(place) == 1 for place in places)
    assert all(one != other for one, other in pairwise(places))


def test_a_twin_needs_another() -> None:
    """Equal sides are twins, too: they show what the design itself decides wrongly."""
    assert Contrast.from_dict(TWIN.to_dict()) == TWIN
    with pytest.raises(ValueError, match="no second side"):
        Contrast("alone", TWINS, SIDE, None, ())


def in_turns(design: str) -> Contrast:
    """A contrast whose clients work in turn."""
    return Contrast("turns", design, SIDE, SIDE, (), turns=True)


@pytest.mark.parametrize("design", TAKE_TURNS)
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_a_block_of_turns_is_whole_orders_of_seconds(design: str, number: int) -> None:
    """All share the loads of both sides; in each half both have as many, whatever drifts."""
    [block] = in_turns(design).block(number, seed=1)
    assert [one.slot for one in block] == list(range(1, 25))
    assert {(one.block, one.of) for one in block} == {(number, 24)}
    sides = "".join(one.side for one in block)
    orders = [sides[first : first + 4] for first in range(0, 24, 4)]
    assert set(orders) <= {"abba", "baab"}
    assert sides[:12].count("a") == sides[12:].count("a") == 6
    assert in_turns(design).length(Length(5, 30)) == (5, TURN_S) == (5, 1)


def test_the_orders_of_turns_are_drawn_for_each_block() -> None:
    """Both are as likely, and a seed draws the same again."""
    first = [in_turns(ALTERNATION).block(number, 1)[0] for number in range(1, 51)]
    assert first == [in_turns(ALTERNATION).block(number, 1)[0] for number in range(1, 51)]
    starts = [block[place].side for block in first for place in range(0, 24, 4)]
    assert 0.4 < starts.count("a") / len(starts) < 0.6
    assert len({tuple(one.side for one in block) for block in first}) > 20


@pytest.mark.parametrize(
    ("design", "swapped"),
    [(ALTERNATION, [False] * 4), (RESTARTS, [False, True] * 2), (TWINS, [False, True] * 2)],
)
def test_sides_that_take_turns_exchange_their_places_with_each_block(
    design: str, swapped: list[bool]
) -> None:
    """Where each has a server or a cluster of its own; in one cluster there is no other place."""
    blocks = [in_turns(design).block(number, 1)[0] for number in range(1, 5)]
    assert [{one.swapped for one in block} for block in blocks] == [{place} for place in swapped]


@pytest.mark.parametrize("design", [SWITCHED, DUET, STARTS, LEVEL])
def test_only_sides_that_are_there_at_once_and_alone_take_turns(design: str) -> None:
    """Clusters that start one after the other have no clients that could wait for each other."""
    other = None if design == LEVEL else Side(Point(1, 8, variant="b"))
    known = Contrast("x", design, SIDE, other, ())
    with pytest.raises(ValueError, match="cannot take turns"):
        replace(known, turns=True)


def test_a_manifest_says_only_of_turns_that_there_are_some() -> None:
    """Those of contrasts that take none are what they were before there were any."""
    for turns in (False, True):
        contrast = replace(in_turns(TWINS), turns=turns)
        known = contrast.to_dict()
        assert ("turns" in known) == turns
        assert Contrast.from_dict(json.loads(json.dumps(known))) == contrast
    older = {k: v for k, v in TWIN.to_dict().items() if k != "turns"}
    assert not Contrast.from_dict(older).turns


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({"claims": ("C",)}, [3]),
        ({"blocks": 6}, [3]),
        ({}, []),
        ({"claims": ("C",), "one_start": True}, []),
        ({"claims": ("C",), "design": TWINS}, []),
        ({"claims": ("C",), "blocks_per_start": 2}, [1, 3, 5]),
    ],
)
def test_what_is_to_be_decided_uses_two_cluster_starts(
    changed: dict[str, Any], first: list[int]
) -> None:
    """Half of the first interval comes from each; pairs of starts have their own."""
    known = {"design": ALTERNATION, "a": SIDE, "b": SIDE, "claims": ()}
    made = Contrast("x", **{**known, **changed})
    assert [number for number in range(1, 7) if made.begins_start(number)] == first
