"""The budget of captured hosts of other kinds: which one, why, and who gets which CPUs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from captured_hosts import unpack
from ndblab.error import LabError
from ndblab.machine import host, topology
from ndblab.machine.own_cgroup import CpuController
from ndblab.planning import cpu_budget, deployment
from ndblab.planning.deployment import Shape

DELEGATED = CpuController("cgroup2", "/sys/fs/cgroup/x", "delegated to us")
UNDELEGATED = CpuController("undelegated", "", "systemd delegates memory and pids to this user")
SHAPE = Shape(servers=16, rows=80_000, max_clients=256)


def captured(name: str, folder: Path, controller: CpuController = DELEGATED) -> host.Host:
    """Read a captured host, of which a user has this way to limit CPUs."""
    return dataclasses.replace(host.read(unpack(name, folder)), cpu_controller=controller)


@pytest.fixture
def epyc(tmp_path: Path) -> host.Host:
    """An EPYC with 96 logical CPUs: its capture has no memory, so that of another stands in."""
    other = captured("arm-128cpu", tmp_path / "other")
    root = unpack("epyc-96cpu", tmp_path / "epyc")
    nodes = tuple(dataclasses.replace(other.numa_nodes[0], id=n) for n in range(8))
    return dataclasses.replace(other, cpus=topology.cpus(root), numa_nodes=nodes)


def cpus(plan: deployment.Plan, name: str) -> tuple[str, tuple[int, ...]]:
    """Return the CPUs of a node in the kernel's format, and the NUMA nodes of its memory."""
    share = next(node for node in plan.nodes if node.name == name).share
    return topology.format_cpu_list(share.cpus), share.memory_nodes


def test_96_cpus_are_pinned_by_cores_with_both_hyperthreads(epyc):
    """A quarter of each socket for a data node: two of its NUMA nodes, one of them shared."""
    plan = deployment.make(epyc, SHAPE)
    assert plan.budget == cpu_budget.Budget(
        "pinned", "96 logical CPUs are enough to divide by affinity"
    )
    assert cpus(plan, "ndbmtd.1") == ("0-5,48-53", (0,))
    assert cpus(plan, "ndbmtd.2") == ("24-29,72-77", (4,))
    assert cpus(plan, "mysqld.1") == ("6-23,54-71", (1, 2, 3))
    assert cpus(plan, "mysqld.2") == ("30-47,78-95", (5, 6, 7))


def test_96_cpus_without_hyperthreads_are_too_few_to_pin(epyc):
    """48 are left, so the same host gets quotas."""
    half = dataclasses.replace(epyc, cpus=epyc.cpus[:48])
    budget = cpu_budget.choose(half, "auto")
    assert budget.kind == "scaled"
    assert budget.reason == "48 logical CPUs are fewer than 80, and delegated to us"


def test_an_arm_server_is_pinned_by_numa_node(tmp_path: Path):
    """128 cores without hyperthreads on four NUMA nodes, two a socket."""
    plan = deployment.make(captured("arm-128cpu", tmp_path), SHAPE)
    assert plan.budget.kind == "pinned"
    assert cpus(plan, "ndbmtd.1") == ("0-15", (0,))
    assert cpus(plan, "ndbmtd.2") == ("64-79", (2,))
    assert cpus(plan, "mysqld.1") == ("16-63", (0, 1))
    assert cpus(plan, "ndb_mgmd.1") == ("60-63,124-127", (1, 3))


def test_cores_of_four_threads_stay_whole_and_memory_of_gpus_is_left_alone(tmp_path: Path):
    """A POWER9 with 8 of its cores online, on NUMA nodes 0 and 8; 250 to 255 are GPUs."""
    machine = captured("power9-gpu-nodes", tmp_path)
    assert cpu_budget.choose(machine, "auto").kind == "scaled"
    plan = deployment.make(machine, dataclasses.replace(SHAPE, budget="pinned"))
    assert cpus(plan, "ndbmtd.1") == ("0-3", (0,))
    assert cpus(plan, "ndbmtd.2") == ("88-91", (8,))
    assert cpus(plan, "mysqld.2") == ("92-103", (8,))


def test_a_container_on_a_large_host_is_scaled_by_its_own_limit(epyc):
    """cpu.max gives it 6 of 96 CPUs: it has the shares of those, and cannot be pinned."""
    container = dataclasses.replace(epyc, cpu_limit=6.0)
    plan = deployment.make(container, SHAPE)
    assert plan.budget.reason == "6 logical CPUs are fewer than 80, and delegated to us"
    assert plan.data_nodes[0].share.quota_cpus == pytest.approx(6 * 32 / 256)
    with pytest.raises(LabError, match="bandwidth is limited") as caught:
        cpu_budget.choose(container, "pinned")
    assert "6 CPUs on 96" in str(caught.value)


def test_without_the_cpu_controller_the_cpus_are_shared_and_the_reason_says_so(tmp_path: Path):
    """As for a user of Debian 11 or Ubuntu 22.04; to ask for quotas names the line to type."""
    machine = captured("vm-cgroup2-cpu-not-delegated", tmp_path, UNDELEGATED)
    budget = cpu_budget.choose(machine, "auto")
    assert budget.kind == "shared"
    assert "systemd delegates memory and pids to this user" in budget.reason
    with pytest.raises(LabError, match="no way to limit CPU") as caught:
        cpu_budget.choose(machine, "scaled")
    assert "Delegate=cpu memory pids" in caught.value.next_step


def test_half_of_a_host_without_memory_cannot_be_pinned(tmp_path: Path):
    """NUMA node 0 of this Xeon is offline, and some of its CPUs are not."""
    machine = captured("xeon-offline-cpus", tmp_path)
    with pytest.raises(LabError, match="no memory of their own") as caught:
        cpu_budget.choose(machine, "pinned")
    assert "NUMA node 0 of CPUs 4,6 without memory" in str(caught.value)
    assert cpu_budget.choose(machine, "auto").kind == "scaled"


@pytest.mark.parametrize(("controller", "kind"), [(DELEGATED, "scaled"), (UNDELEGATED, "shared")])
def test_a_large_host_that_cannot_be_pinned_says_why_in_its_reason(epyc, controller, kind):
    """All memory of one socket is missing: nodes 4 to 7."""
    nodes = (*epyc.numa_nodes[:4], *(host.NumaNode(n, 0) for n in range(4, 8)))
    blind = dataclasses.replace(epyc, numa_nodes=nodes, cpu_controller=controller)
    budget = cpu_budget.choose(blind, "auto")
    assert budget.kind == kind
    assert "NUMA node 4 of CPUs 24-29,72-77 without memory" in budget.reason


def test_three_nodes_one_without_memory_cannot_be_pinned(epyc):
    """The second half of the CPUs has memory, but not beside its data node: the halves differ."""
    machine = dataclasses.replace(
        epyc,
        cpus=tuple(host.Cpu(n, n, 0, n // 32) for n in range(96)),
        numa_nodes=tuple(host.NumaNode(n, (n != 1) * 2**37) for n in range(3)),
    )
    budget = cpu_budget.choose(machine, "auto")
    assert budget.kind == "scaled"
    assert "NUMA node 1 of CPUs 48-59 without memory" in budget.reason


def test_memory_is_bound_to_those_nodes_of_a_half_that_have_some(epyc):
    """Nodes 1 and 5 have none: servers use that of the others of their socket."""
    nodes = tuple(
        host.NumaNode(n.id, n.memory_bytes * (n.id not in (1, 5))) for n in epyc.numa_nodes
    )
    plan = deployment.make(dataclasses.replace(epyc, numa_nodes=nodes), SHAPE)
    assert cpus(plan, "mysqld.1") == ("6-23,54-71", (2, 3))
    assert cpus(plan, "mysqld.2") == ("30-47,78-95", (6, 7))


def test_halves_with_another_number_of_cpus_are_not_pinned(epyc):
    """The second hyperthreads of eight cores of one socket are off."""
    online = tuple(cpu for cpu in epyc.cpus if not 72 <= cpu.id <= 79)
    machine = dataclasses.replace(epyc, cpus=online)
    budget = cpu_budget.choose(machine, "auto")
    assert budget.kind == "scaled"
    assert "48 CPUs on 24 cores (0-23,48-71), against 40 CPUs on 24 cores" in budget.reason
    with pytest.raises(LabError, match="halves of this host are not equal"):
        cpu_budget.choose(machine, "pinned")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {"devices/cpu_core/cpus": "0-1", "devices/cpu_atom/cpus": "2-3"},
            "2 CPUs on 2 cores of kind core (0-1), against 2 CPUs on 2 cores of kind atom (2-3)",
        ),
        (
            {f"devices/system/cpu/cpu{n}/cpu_capacity": (1024, 446)[n > 1] for n in range(4)},
            "2 CPUs on 2 cores (0-1), against 2 CPUs on 2 cores (2-3) at 44% of the fastest",
        ),
        (
            {
                f"devices/system/cpu/cpu{n}/cpufreq/cpuinfo_max_freq": 5200000 - n * 1300000 // 2
                for n in range(4)
            },
            "2 CPUs on 2 cores (0-1) at 94% of the fastest one's speed, against",
        ),
    ],
)
def test_halves_with_slower_cores_are_not_pinned(tmp_path: Path, files, found: str):
    """A hybrid desktop processor, and ARM's big and little cores."""
    root = unpack("lakefield-cgroup-hybrid", tmp_path)
    (root / "sys/devices/system/cpu/online").write_text("0-3\n")
    for name, text in files.items():
        (root / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "sys" / name).write_text(f"{text}\n")
    with pytest.raises(LabError, match="halves of this host are not equal") as caught:
        cpu_budget.choose(host.read(root), "pinned")
    assert found in str(caught.value)


def test_favoured_cores_count_as_equal(tmp_path: Path):
    """Firmware names one core with a turbo frequency 4 % above that of the others."""
    root = unpack("lakefield-cgroup-hybrid", tmp_path)
    (root / "sys/devices/system/cpu/online").write_text("0-3\n")
    for cpu in range(4):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
        folder.mkdir()
        (folder / "cpuinfo_max_freq").write_text("5000000\n" if cpu else "5200000\n")
    machine = host.read(root)
    assert cpu_budget.choose(machine, "pinned").kind == "pinned"
    assert host.from_dict(machine.to_dict()) == machine
