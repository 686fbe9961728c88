"""A running cluster whose host changes under it."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.cgroups import Groups
from ndblab.machine.local import LOCAL
from ndblab.planning import deployment

CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """A scaled cluster of two servers, with made-up processes and control groups."""
    machine = OtherCpus(frozenset({0, 1}))
    shape = deployment.Shape(servers=2, rows=1000, max_clients=8, budget="scaled")
    plan = deployment.make(host.read(CAPTURED), shape)
    processes = {
        node.name: SimpleNamespace(pid=os.getpid() + n, poll=lambda: None)
        for n, node in enumerate(plan.nodes)
    }
    groups = Groups("cgroup1", tmp_path / "groups")
    return Cluster(plan, None, tmp_path, {"": groups}, processes, machine=machine)


@dataclasses.dataclass(frozen=True)
class OtherCpus:
    """This machine, with other CPUs."""

    cpus: frozenset[int] = frozenset()

    def usable_cpus(self) -> frozenset[int]:
        return self.cpus

    def __getattr__(self, name: str):
        return getattr(LOCAL, name)


def test_nodes_under_their_limits_are_alive(cluster):
    """Before the limits are set there is nothing to lose."""
    cluster.check_alive()
    cluster.limit()
    cluster.check_alive()


def test_a_node_whose_group_has_vanished_ends_the_run(cluster, tmp_path):
    """It would be measured without its limit."""
    cluster.limit()
    (tmp_path / "groups/sql/mysqld.2/cgroup.procs").unlink()
    with pytest.raises(LabError, match="lost its CPU limit"):
        cluster.check_alive()


def test_a_period_that_the_kernel_has_lengthened_is_told(cluster, tmp_path):
    """By name of the node, beside the one that was set; other nodes are not named."""
    cluster.limit()
    assert cluster.lengthened_us() == {}
    period = tmp_path / "groups/sql/mysqld.2/cpu.cfs_period_us"
    set_us = int(period.read_text())
    period.write_text(f"{4 * set_us}\n")
    assert cluster.lengthened_us() == {"mysqld.2": (set_us, 4 * set_us)}
    cluster.limit({"mysqld": None})
    assert cluster.lengthened_us() == {}


def test_a_node_that_ended_is_not_blamed_on_its_group(cluster, tmp_path):
    """The kernel takes it out of the group before we learn of its end."""
    cluster.limit()
    (tmp_path / "groups/sql/mysqld.2/cgroup.procs").write_text("")
    polls = iter([None, 1])
    cluster.processes["mysqld.2"].poll = lambda: next(polls)
    cluster.check_alive()


def test_a_cluster_notices_that_a_cpu_was_switched_off(cluster):
    """Its quotas were made for two."""
    cluster.machine = OtherCpus(frozenset({0}))
    with pytest.raises(LabError, match="CPUs of the plan are gone"):
        cluster.check_alive()
