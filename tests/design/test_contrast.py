"""The order in which the sides of a contrast are measured."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from ndblab.design.contrast import ALTERNATION, PER_TWINS, TWINS, Contrast, Side
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
    assert all(len(each) == 1 for each in places)
    assert all(one != other for one, other in pairwise(places))


def test_a_twin_needs_another() -> None:
    """Equal sides are twins, too: they show what the design itself decides wrongly."""
    assert Contrast.from_dict(TWIN.to_dict()) == TWIN
    with pytest.raises(ValueError, match="no second side"):
        Contrast("alone", TWINS, SIDE, None, ())


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
