"""The lab on a host with systemd, cgroup v2 and two NUMA nodes, for an ordinary user and for root.

What is expected follows from the machine: logical CPUs 0 and 1 on node 0, 2 and 3 on node 1.
"""

from __future__ import annotations

import pytest

from virtual_machine.image import USER
from virtual_machine.machine import VirtualMachine
from virtual_machine.sweeps import (
    COMMAND_S,
    begin,
    left,
    lengthened_us,
    nothing_is_left,
    swept,
)

pytestmark = pytest.mark.virtual_machine

UNLIMITED, BY_AFFINITY = "max 100000", {
    "ndb_mgmd 1": ("1,3", "bind:0-1"),
    "ndbmtd 2": ("0", "bind:0"),
    "ndbmtd 3": ("2", "bind:1"),
    "mysqld 1": ("1", "bind:0"),
    "mysqld 2": ("3", "bind:1"),
    "sysbench": ("1,3", "bind:0-1"),
}  # fmt: skip
BY_QUOTA = {
    "ndbmtd 2": (1000, 2000),
    "ndbmtd 3": (1004, 2008),
    "mysqld 1": (1008, 2151),
    "mysqld 2": (1012, 2160),
}
"""32/256 and 30/256 of four CPUs, in microseconds: the shortest period that the kernel accepts, and
1/250 more for each further node.

A machine too slow for so short a period has both doubled by the kernel, again and again if need be
(Linux, kernel/sched/fair.c, sched_cfs_period_timer).
"""


@pytest.fixture(scope="module", params=[USER, "root"])
def user(request: pytest.FixtureRequest) -> str:
    """Who executes the lab; all tests of the ordinary user come first, whose checkout it is."""
    return request.param


def test_the_doctor_finds_what_the_host_has(machine: VirtualMachine, user: str) -> None:
    """CPUs, NUMA nodes and a control group that may be divided, root or not."""
    found = machine.run("./lab doctor", user, COMMAND_S)
    print(found)
    assert "4 logical CPUs, 2 NUMA nodes" in found
    assert "CPU bandwidth control: cgroup v2, writable" in found
    assert "NDB Cluster: " in found
    assert not [line for line in found.splitlines() if line.startswith("missing")]


def test_every_process_is_where_numactl_puts_it(machine: VirtualMachine, user: str) -> None:
    """In `pinned`, affinity and memory policy in /proc are those of the plan, from the start."""
    seen = swept(machine, user, "pinned")
    assert {name: {tuple(place[:2]) for place in places} for name, places in seen.items()} == {
        name: {place} for name, place in BY_AFFINITY.items()
    }
    assert {place[2] for places in seen.values() for place in places} <= {UNLIMITED, ""}
    assert nothing_is_left(machine, user)


def test_every_process_has_its_quota(machine: VirtualMachine, user: str) -> None:
    """In `scaled`, each process runs in a group with the quota of the plan, on all CPUs."""
    seen = swept(machine, user, "scaled")
    for name, limit in BY_QUOTA.items():
        # While tables are filled, and at the end, there is none: "max", and the last period.
        limits = {place[2] for place in seen[name] if place[2][:1].isdigit()}
        doubled = {f"{limit[0] << times} {limit[1] << times}" for times in range(10)}
        assert limits
        assert limits <= doubled
        if limits != {"{} {}".format(*limit)}:
            # The kernel may have been faster than the first look: the dataset tells what was set.
            set_us, found_us = lengthened_us(machine, user)[name]
            assert set_us == limit[1]
            assert found_us in {int(pair.split()[1]) for pair in doubled}
        assert {place[0] for place in seen[name]} == {"0-3"}
    assert nothing_is_left(machine, user)


def test_a_killed_lab_leaves_nothing_after_cluster_stop(machine: VirtualMachine, user: str) -> None:
    """With its watchdog killed too, `cluster.stop` ends the nodes and removes groups and scope."""
    with machine.logged_in(user):
        begin(machine, user, "scaled")
        machine.run("pkill -KILL -x 'invoke|python'", user)
        remains = left(machine, user)
        print(remains)
        assert "ndbmtd" in remains
        assert "ndblab-" in remains
        stopped = machine.run("./lab cluster.stop", user, COMMAND_S)
        print(stopped)
        assert "Nothing of the cluster is left" in stopped
        assert nothing_is_left(machine, user)
