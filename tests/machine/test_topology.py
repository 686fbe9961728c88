"""Cores, packages and NUMA nodes of real machines, from captured copies of their /sys."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from captured_hosts import unpack
from ndblab.machine import topology


def cores(cpus: tuple[topology.Cpu, ...]) -> dict[int, list[int]]:
    ids: dict[int, list[int]] = {}
    for cpu in cpus:
        ids.setdefault(cpu.core, []).append(cpu.id)
    return ids


def test_96_logical_cpus_are_48_cores_on_8_numa_nodes(tmp_path: Path):
    """Two sockets of an EPYC 7451, whose hyperthreads are n and n + 48."""
    cpus = topology.cpus(unpack("epyc-96cpu", tmp_path))
    assert cores(cpus) == {n: [n, n + 48] for n in range(48)}
    assert Counter(cpu.node for cpu in cpus) == dict.fromkeys(range(8), 12)
    assert Counter(cpu.package for cpu in cpus) == {0: 48, 1: 48}


def test_cores_with_the_same_core_id_in_different_clusters_are_not_one(tmp_path: Path):
    """On a SG2042 core_id counts from 0 to 3 in each of 16 clusters; no core has two threads."""
    cpus = topology.cpus(unpack("riscv-64cpu", tmp_path))
    assert cores(cpus) == {n: [n] for n in range(64)}
    assert [cpu.id for cpu in cpus if cpu.node == 1] == [*range(8, 16), *range(24, 32)]


def test_four_threads_a_core_and_numbers_with_a_gap(tmp_path: Path):
    """A POWER9 with 32 of 176 logical CPUs online, on NUMA nodes 0 and 8."""
    cpus = topology.cpus(unpack("power9-gpu-nodes", tmp_path))
    assert cores(cpus) == {
        n: [n, n + 1, n + 2, n + 3] for n in (*range(0, 16, 4), *range(88, 104, 4))
    }
    assert Counter(cpu.node for cpu in cpus) == {0: 16, 8: 16}


def test_numa_nodes_of_gpus_have_memory_and_no_cpus(tmp_path: Path):
    """They are read as they are; the host leaves them out."""
    nodes = topology.numa_nodes(unpack("power9-gpu-nodes", tmp_path))
    assert [node.id for node in nodes] == [0, 8, *range(250, 256)]
    assert nodes[-1].memory_bytes == 15728640 * 1024


def test_cpus_that_are_offline_are_not_there(tmp_path: Path):
    """CPUs 4 to 20 of 24; those of the offline node 0 are listed by no node."""
    root = unpack("xeon-offline-cpus", tmp_path)
    cpus = topology.cpus(root)
    assert [cpu.id for cpu in cpus] == list(range(4, 21))
    assert [cpu.id for cpu in cpus if cpu.node == 1] == list(range(5, 21, 2))
    assert [node.id for node in topology.numa_nodes(root)] == [1]


def test_with_hyperthreads_switched_off_a_core_is_the_thread_that_is_left(tmp_path: Path):
    """As Linux shows it: `online` and the siblings of the others are without them."""
    root = unpack("epyc-96cpu", tmp_path)
    base = root / "sys/devices/system/cpu"
    (base / "online").write_text("0-47\n")
    for n in range(48):
        (base / f"cpu{n}/topology/thread_siblings_list").write_text(f"{n}\n")
    assert cores(topology.cpus(root)) == {n: [n] for n in range(48)}


@given(st.sets(st.integers(0, 1023), min_size=1))
def test_a_cpu_list_survives_the_kernels_format(cpus: set[int]):
    assert set(topology.parse_cpu_list(topology.format_cpu_list(cpus))) == cpus
