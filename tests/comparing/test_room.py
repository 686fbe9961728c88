"""Memory for the sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ndblab.comparing import room, sides
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.data_node import GIB
from ndblab.planning.shape import Shape

PLAN = deployment.make(host.read(), Shape(1, 1000, 16, budget="shared"))


def of_gib(gib: float) -> host.Host:
    """This host with so much memory left."""
    bytes_ = round(gib * GIB)
    return replace(host.read(), memory_available_bytes=bytes_, memory_bytes=bytes_)


def test_a_setting_that_takes_more_memory_counts_on_both_data_nodes() -> None:
    """Less than planned does not count."""
    settings = sides.parse(["DataMemory=100G"]).b
    assert room.needed_bytes(PLAN, ()) == PLAN.memory_bytes
    assert 199 < (room.needed_bytes(PLAN, settings) - PLAN.memory_bytes) / GIB <= 200
    less = sides.parse(["LongMessageBuffer=1M"]).b
    assert room.needed_bytes(PLAN, less) == PLAN.memory_bytes


def test_a_side_that_does_not_fit_is_refused_before_anything_starts() -> None:
    """Data nodes would take the memory of all else on the host."""
    with pytest.raises(LabError, match="too little memory for side B") as caught:
        room.check(of_gib(24), PLAN, sides.parse(["DataMemory=100G"]).b, "b")
    assert caught.value.found == "24.0 GiB available"
    room.check(of_gib(24), PLAN, (), "a")


def test_twins_need_room_for_both() -> None:
    """Otherwise it says how much is missing, and pairs of starts compare them."""
    settings = ((), sides.parse(["DataMemory=3G"]).b)
    alone = room.needed_bytes(PLAN, settings[1]) / GIB
    assert room.no_twins(of_gib(3 * alone), (PLAN, PLAN), settings, 2**60) == ""
    assert "two clusters need" in room.no_twins(of_gib(alone), (PLAN, PLAN), settings, 2**60)
