"""Two clusters on one host: in places of their own, and only where both fit."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from ndblab.cluster import start_stop
from ndblab.machine import host
from ndblab.machine.topology import Cpu
from ndblab.planning import config, deployment, fitness, twins
from ndblab.planning.node import MAX_SERVERS

GIB = 2**30
CPUS = tuple(Cpu(n, n, 0, 0) for n in range(2))
HOST = host.Host(
    "a CPU", CPUS, (host.NumaNode(0, 64 * GIB),), None, 64 * GIB, 64 * GIB, None, "6.1", "Linux",
    "", host.CpuController("none", "", "no control group"),
)  # fmt: skip
FIRST = start_stop.places(Path("/lab/cluster"), start_stop.LAST_BASE_PORT)
PLACES = start_stop.places_together(FIRST, 4)
SECOND = PLACES[1]


def plan(**shape: object) -> deployment.Plan:
    wanted = {"servers": 2, "rows": 80_000, "max_clients": 64, "networking": True, **shape}
    return deployment.make(HOST, deployment.Shape(places=FIRST, **wanted))


def taken(a: deployment.Plan) -> set[object]:
    """Everything of a host that only one cluster can have."""
    places = ((node.port, node.data_dir, node.socket) for node in a.nodes)
    return {*(own for node in places for own in node if own), a.places.cluster_dir}


def test_twins_share_no_port_folder_or_socket():
    """Not even with as many servers as there are node ids, at the last port that can be given."""
    first = plan(servers=MAX_SERVERS)
    others = [twins.moved(first, place) for place in PLACES[1:]]
    both = [first, *others]
    for one, other in itertools.combinations(both, 2):
        assert not taken(one) & taken(other)
        assert other.identity() == one.identity()
    assert {len(taken(each)) for each in both} == {3 * len(first.servers) + 2 * 3 + 1}
    assert max(node.port for node in others[-1].nodes) < 2**16


def test_the_files_of_a_moved_plan_name_its_own_places_only():
    """Nothing of the first cluster's ports and folders is left in them."""
    moved = twins.moved(plan(), SECOND)
    text = config.config_ini(moved, "9.7.4") + config.my_cnf(moved, "9.7.4")
    assert str(FIRST.base_port) not in text
    assert f"PortNumber={SECOND.base_port}" in text
    assert text.count("/lab/cluster/") == text.count("/lab/cluster/twin/") > 0
    assert twins.moved(moved, FIRST) == plan()


def test_servers_that_do_not_listen_do_not_when_moved():
    """They have sockets only."""
    assert {node.port for node in twins.moved(plan(networking=False), SECOND).servers} == {None}


def test_a_long_folder_has_two_short_places_for_sockets():
    """A socket's path has an end."""
    first = start_stop.places(Path("/" + 100 * "x"))
    _, second = start_stop.places_together(first)
    assert first.socket_dir.startswith("/tmp/")
    assert second.socket_dir.startswith("/tmp/")
    assert first.socket_dir != second.socket_dir


@pytest.mark.parametrize(
    ("what", "one", "why"),
    [
        ("memory_available_bytes", plan().memory_bytes, "GiB"),
        ("tasks_left", fitness.tasks(plan()), "threads"),
    ],
)
def test_twins_need_room_for_both(what: str, one: int, why: str):
    """A host with room for one and a half has none for twins, and says what is short."""
    small, large = (dataclasses.replace(HOST, **{what: int(times * one)}) for times in (1.5, 2.0))
    deployment.Plan.check(plan(), small, 10**13)
    fitness.check_tasks(plan(), small)
    assert why in twins.lack([plan(), plan()], small)
    assert twins.lack([plan(), plan()], large) == ""
    assert why in twins.lack([plan(), plan(), plan()], large)


def test_the_larger_twin_counts():
    """Whichever side it is on; the disk holds both, too."""
    small, large = plan(), plan(rows=20_000_000)
    assert twins.together(small, large).memory_bytes == twins.together(large, small).memory_bytes
    assert twins.together(small, large).memory_bytes >= 2 * large.memory_bytes - GIB
    assert twins.lack([small, large], HOST, disk_free_bytes=large.disk_bytes)
    assert not twins.lack([small, small], HOST, disk_free_bytes=large.disk_bytes)


def test_a_cluster_over_several_hosts_has_no_twin():
    """Its ports and folders are spread."""
    spread = dataclasses.replace(
        plan(), hosts=(deployment.HostPlan("a", "a", (), "", *2 * (deployment.Share(),)),)
    )
    assert "several hosts" in twins.lack([spread, spread], HOST)
