"""What is measured of costs: undivided, few contrasts, in minutes."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.costs.made_up import EXPERIMENT
from ndblab.design import time_needed
from ndblab.design.contrast import ALTERNATION


def planned(profile: str = "quick", **size):
    return EXPERIMENT.contrasts(EXPERIMENT, EXPERIMENT.size(profile, size), pd.DataFrame())


@pytest.mark.parametrize(
    ("profile", "per_server", "total"), [("quick", 8, 64), ("brief", 32, 1024)]
)
def test_every_number_of_servers_has_equal_clients_each_and_in_all(profile, per_server, total):
    """So that clients of each server, or of all, explain no difference between them."""
    grid = EXPERIMENT.grid(EXPERIMENT, EXPERIMENT.size(profile))
    points = {(p.servers, p.clients) for p in grid}
    for servers in (1, 2, 4, 8, 16):
        assert {(servers, per_server * servers), (servers, total)} <= points


def test_one_server_has_every_number_of_clients():
    """Figure 4, undivided."""
    points = EXPERIMENT.grid(EXPERIMENT, EXPERIMENT.size("quick"))
    assert {p.clients for p in points if p.servers == 1} == {2**n for n in range(9)}


@pytest.mark.parametrize(
    "size", [{"servers": "1"}, {"servers": "4"}, {"clients": "2"}, {"clients": "1,4"}]
)
def test_a_smaller_sweep_of_the_user_is_a_sweep(size):
    """No side and no point has more servers or clients than the cluster was made for."""
    wanted = EXPERIMENT.size("quick", size)
    sides = [side.point for c in planned(**size) for side in (c.a, c.b)]
    points = EXPERIMENT.grid(EXPERIMENT, wanted)
    assert points
    for point in (*points, *sides):
        assert point.servers <= max(wanted.servers)
        assert point.clients <= max(wanted.clients)
        assert point.servers <= point.clients or len(points) == 1


def test_contrasts_are_few_and_in_turns():
    """The most servers over one, twice, and one server's rise and fall; no claim waits for them."""
    contrasts = planned()
    assert [c.name for c in contrasts] == [
        "most-over-one-each", "most-over-one-total", "rise", "fall",
    ]  # fmt: skip
    assert all(c.design == ALTERNATION and not c.claims for c in contrasts)
    assert {(c.a.point.servers, c.b.point.servers) for c in contrasts[:2]} == {(16, 1)}


def test_the_quick_profile_takes_fourteen_minutes_at_most():
    """By the lab's own estimate, with every block; the default has a look at each."""
    size = EXPERIMENT.size("quick")
    blocks_s = [c.blocks * time_needed.block_s(c, EXPERIMENT, size) for c in planned()]
    sweep_s = time_needed.sweep_s(EXPERIMENT, size)
    assert sweep_s + sum(blocks_s) < 14 * 60
    assert sweep_s + sum(4 * s / 6 for s in blocks_s) < time_needed.limit_s(sweep_s, size)
