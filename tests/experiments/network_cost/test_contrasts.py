"""Places of servers and clients: which server each kind loads, and what is compared."""

from __future__ import annotations

import dataclasses
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest

from ndblab.design import catalogue
from ndblab.design.contrast import DUET
from ndblab.experiments.network_cost import experiment as network
from ndblab.hosts import spread
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.point import Point
from ndblab.planning.shape import Places

CAPTURED = Path(__file__).parents[2] / "captured/hosts/vm-2cpu-cgroup1"
NETWORK_COST = catalogue.find("network-cost")
SIZE = NETWORK_COST.size("smoke")


def plan(hosts: spread.Hosts | None = None) -> deployment.Plan:
    alone = host.read(CAPTURED)
    hosts = hosts or spread.stand_ins(network.HOSTS, alone)
    plans = NETWORK_COST.plans(SIZE, "scaled", alone, Places("/lab", "/lab"), hosts)
    assert len(set(map(str, plans.values()))) == 1
    return plans["default"]


def places(planned: deployment.Plan, variant: str, transporter: str) -> list[tuple[int, str]]:
    """Number and host of the servers that a point may load."""
    point = Point(1, 4, transporter, variant=variant)
    return [(n.number, n.host) for n in NETWORK_COST.usable_servers(planned, point)]


def test_each_kind_has_two_servers_in_its_place():
    """Beside the data nodes by shared memory, by TCP, and on other hosts."""
    assert places(plan(), "default", "shm") == [(1, "b"), (2, "c")]
    assert places(plan(), "clients-beside", "shm") == [(1, "b"), (2, "c")]
    assert places(plan(), "servers-elsewhere", "tcp") == [(3, "d"), (4, "e")]
    assert places(plan(), "default", "tcp") == [(5, "b"), (6, "c")]


def test_every_other_start_exchanges_the_servers_beside_the_data_nodes():
    """A server's own speed does not stay with one transporter."""
    turned = deployment.turned(plan())
    assert places(turned, "default", "shm") == [(5, "b"), (6, "c")]
    assert places(turned, "default", "tcp") == [(1, "b"), (2, "c")]
    assert places(turned, "servers-elsewhere", "tcp") == [(3, "d"), (4, "e")]


@pytest.mark.parametrize("order", list(permutations(range(5)))[::17])
def test_hosts_may_come_in_any_order(order: tuple[int, ...]):
    """Servers are dealt to the hosts of data nodes first, wherever these stand in a file."""
    made = spread.stand_ins(network.HOSTS, host.read(CAPTURED))
    shuffled = dataclasses.replace(made, placed=tuple(made.placed[place] for place in order))
    mine = plan(shuffled)
    assert {name for _, name in places(mine, "default", "shm")} == {"b", "c"}
    assert {name for _, name in places(mine, "default", "tcp")} == {"b", "c"}
    assert {name for _, name in places(mine, "servers-elsewhere", "tcp")} == {"d", "e"}


def test_clients_beside_a_server_use_its_socket_and_all_others_its_address():
    """Each with the password file of the host that they are on."""
    mine = plan()
    local = NETWORK_COST.job(SIZE, None, mine, Point(1, 4, variant="clients-beside"), skip=1)
    assert (local.host, local.servers[0].number) == ("c", 2)
    assert local.servers[0].socket.startswith("/var/tmp/ndblab-cluster/c/")
    assert local.options_file == "/var/tmp/ndblab-cluster/c/sysbench.cnf"
    away = NETWORK_COST.job(SIZE, None, mine, Point(1, 4))
    assert (away.host, away.servers[0].socket) == ("a", "")
    assert away.options_file == "/var/tmp/ndblab-cluster/a/sysbench.cnf"


def test_every_kind_is_swept_with_one_server():
    """Whatever the servers of the profile are."""
    points = network.grid(NETWORK_COST, NETWORK_COST.size("quick"))
    assert {point.servers for point in points} == {1}
    assert len(points) == 4 * len(NETWORK_COST.size("quick").clients)


def test_places_are_compared_both_at_once_and_only_clients_exchange_servers():
    """Servers of two places cannot be exchanged, so that each block has a start of its own."""
    contrasts = network.contrasts(NETWORK_COST, NETWORK_COST.size("quick"), pd.DataFrame())
    assert all(c.design == DUET for c in contrasts)
    assert [c.name for c in contrasts if not c.blocks_per_start] == ["clients"]
    assert contrasts[0].claims == ("N-clients",)
    sides = {c.name: (c.a.point, c.b.point) for c in contrasts}
    for elsewhere, beside in (sides[c.name] for c in contrasts[1:]):
        assert (elsewhere.variant, elsewhere.transporter) == ("servers-elsewhere", "tcp")
        assert beside.variant == "default"
        assert elsewhere.clients == beside.clients
    assert sides["servers-by-tcp"][1].transporter == "tcp"
    assert sides["servers-few-clients"][0].clients == 1


def test_the_smoke_profile_has_a_contrast_of_clients_and_one_of_servers():
    """What a minimal run can hold."""
    contrasts = network.contrasts(NETWORK_COST, SIZE, pd.DataFrame())
    assert [c.name for c in contrasts] == ["clients", "servers"]
