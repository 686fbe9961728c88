"""A plan on a host that has changed, or whose NUMA nodes are small."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from captured_hosts import unpack
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.own_cgroup import CpuController
from ndblab.planning import deployment, fitness

ABLE = CpuController("cgroup2", "/sys/fs/cgroup/x", "delegated to us")


def plan(machine: host.Host, budget: str, servers: int = 4) -> deployment.Plan:
    shape = deployment.Shape(servers=servers, rows=80_000, max_clients=256, budget=budget)
    return deployment.make(machine, shape)


@pytest.fixture
def power9(tmp_path: Path) -> host.Host:
    """Eight cores of four threads: CPUs 0 to 15 and 88 to 103."""
    captured = host.read(unpack("power9-gpu-nodes", tmp_path))
    return dataclasses.replace(captured, cpu_controller=ABLE)


@pytest.mark.parametrize("budget", ["pinned", "scaled", "shared"])
def test_a_plan_fits_the_host_it_was_made_for(power9, budget):
    """Also if the host has got more CPUs since."""
    fitness.check_cpus(plan(power9, budget), {cpu.id for cpu in power9.cpus})
    fitness.check_cpus(plan(power9, budget), range(176))


def test_hyperthreads_that_were_switched_off_are_named(power9):
    """A pinned plan has processes on CPUs that no longer exist."""
    first_threads = [*range(0, 16, 4), *range(88, 104, 4)]
    with pytest.raises(LabError, match="CPUs of the plan are gone") as caught:
        fitness.check_cpus(plan(power9, "pinned"), first_threads)
    assert "without 1-3,5-7,9-11,13-15,89-91,93-95,97-99,101-103" in str(caught.value)
    assert "smt/control" in caught.value.next_step


def test_quotas_of_more_cpus_than_are_left_are_refused(power9):
    """A scaled plan names no CPU, but divides 32 of them."""
    with pytest.raises(LabError, match="CPUs of the plan are gone") as caught:
        fitness.check_cpus(plan(power9, "scaled"), range(8))
    assert caught.value.found == "CPUs 0-7"
    assert caught.value.expected.endswith("made, 32")


def test_a_shared_plan_runs_on_whatever_is_left(power9):
    """It divides nothing."""
    fitness.check_cpus(plan(power9, "shared"), [0])


def test_a_numa_node_too_small_for_what_is_bound_to_it_is_named(tmp_path: Path, power9):
    """One gigabyte on node 1 for a data node, on a host that has six in all."""
    small = host.read(unpack("vm-cgroup2-cpu-not-delegated", tmp_path / "small"))
    with pytest.raises(LabError, match="NUMA node has too little memory") as caught:
        fitness.check_numa_memory(plan(small, "pinned"), small)
    assert caught.value.found == "1.0 GiB on node 1"
    fitness.check_numa_memory(plan(small, "scaled"), small)
    fitness.check_numa_memory(plan(power9, "pinned"), power9)


def test_a_limit_of_processes_and_threads_is_compared_with_those_of_the_plan(power9):
    """4096 clients are 8192 threads: Podman's 2048 suffice for 256 clients, and 200 for none."""
    fitness.check_tasks(plan(power9, "scaled"), power9)
    podman = dataclasses.replace(power9, tasks_left=2048)
    fitness.check_tasks(plan(power9, "scaled"), podman)
    large = dataclasses.replace(plan(power9, "scaled"), max_clients=4096)
    with pytest.raises(LabError, match="too few processes and threads") as caught:
        fitness.check_tasks(large, podman)
    assert caught.value.found == "2048 more"
    assert int(caught.value.expected.partition(":")[0]) > 8192
    with pytest.raises(LabError, match="too few processes and threads"):
        fitness.check_tasks(plan(power9, "scaled"), dataclasses.replace(power9, tasks_left=200))
