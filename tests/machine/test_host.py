"""What the lab knows of a machine, from captured copies of its /proc and /sys."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from captured_hosts import unpack
from ndblab.error import LabError
from ndblab.judging import publication
from ndblab.machine import host

CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of a captured machine that a test may change."""
    return Path(shutil.copytree(CAPTURED, tmp_path / "root"))


def test_a_small_virtual_machine_is_read_from_its_proc_and_sys():
    """CPUs, memory, kernel and limits are those that the machine's own files state."""
    machine = host.read(CAPTURED)
    assert [(c.id, c.core, c.package, c.node) for c in machine.cpus] == [(0, 0, 0, 0), (1, 1, 0, 0)]
    assert machine.cpu_model == "AMD EPYC"
    assert machine.memory_bytes == 24684092 * 1024
    assert machine.memlock_bytes == 8388608
    assert machine.virtualization == "virtual machine"
    assert machine.distribution == "Debian GNU/Linux 12 (bookworm)"
    assert machine.cpu_limit is None


def test_a_writable_version_1_hierarchy_is_the_way_to_limit_cpu():
    """With the cpu controller on version 1, groups are made there, not on the bare version 2."""
    controller = host.read(CAPTURED).cpu_controller
    assert (controller.kind, controller.path) == ("cgroup1", "/sys/fs/cgroup/cpu")


def test_a_containers_own_limit_is_seen(root: Path):
    """A process limited to one and a half CPUs has those, however many the machine shows."""
    (root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us").write_text("150000\n")
    machine = host.read(root)
    assert machine.cpu_limit == 1.5
    assert machine.usable_cpus == 1.5


def test_cpus_that_are_not_allowed_are_not_counted(root: Path):
    """A process confined to CPU 1 plans for CPU 1."""
    status = root / "proc/self/status"
    status.write_text(
        status.read_text().replace("Cpus_allowed_list:\t0-1", "Cpus_allowed_list:\t1")
    )
    assert [cpu.id for cpu in host.read(root).cpus] == [1]


def test_a_place_without_proc_is_no_linux_host(tmp_path: Path):
    """One message says that the lab needs Linux."""
    with pytest.raises(LabError, match="not a Linux host"):
        host.read(tmp_path)


def test_a_host_survives_json(tmp_path: Path):
    """What `doctor --json` prints can be planned for on another machine."""
    machine = host.read(CAPTURED)
    file = tmp_path / "host.json"
    file.write_text(json.dumps(machine.to_dict()))
    assert host.load(file) == machine


def test_a_file_that_is_no_host_is_refused(tmp_path: Path):
    """The message says what is expected and how to get it."""
    file = tmp_path / "host.json"
    file.write_text('{"cpus": 3}')
    with pytest.raises(LabError, match="not a host description"):
        host.load(file)


def test_the_briefs_server_has_two_sockets_of_64_cores_with_two_threads():
    """Its description follows Table 1 and the numactl lines: CPU n and n+128 share a core."""
    machine = host.load(publication.FOLDER / "host.json")
    assert len(machine.cpus) == 256
    assert len(machine.cores) == 128
    assert [cpu.id for cpu in machine.cores[64]] == [64, 192]


def test_an_arm_server_is_named_by_implementer_and_part(tmp_path: Path):
    """Its cpuinfo has no model name: 128 cores without hyperthreads, four NUMA nodes."""
    machine = host.read(unpack("arm-128cpu", tmp_path))
    assert machine.describe() == (
        "HiSilicon TSV110, 128 logical CPUs, 4 NUMA nodes, 503 GiB, "
        "Linux 5.15.0-rc1-00005-g4c1b4a4d90b6-dirty"
    )
    assert {len(core) for core in machine.cores} == {1}
    assert machine.memory_available_bytes == 478155232 * 1024


def test_an_arm_cpu_that_the_lab_does_not_know_keeps_its_numbers(tmp_path: Path):
    """Two kinds of CPU stay apart."""
    root = unpack("arm-128cpu", tmp_path)
    cpuinfo = root / "proc/cpuinfo"
    cpuinfo.write_text(cpuinfo.read_text().replace("0xd01", "0xd99"))
    assert host.read(root).cpu_model == "ARM CPU 0x48:0xd99"


def test_a_mount_point_may_have_a_name_in_any_encoding(root: Path):
    """A disk called "Büro" by a machine that writes Latin-1, say."""
    mounts = root / "proc/self/mounts"
    mounts.write_bytes(b"/dev/sdb1 /media/me/B\xfcro ext4 rw 0 0\n" + mounts.read_bytes())
    assert host.read(root).cpu_limit is None


def test_numa_nodes_without_cpus_do_not_count(tmp_path: Path):
    """Memory of GPUs on a POWER9 is no place for a process."""
    machine = host.read(unpack("power9-gpu-nodes", tmp_path))
    assert [node.id for node in machine.numa_nodes] == [0, 8]
    assert machine.cpu_model == "POWER9, altivec supported"


def test_a_container_that_has_used_up_its_memory_has_none_left(tmp_path: Path):
    """What the host has does not count."""
    root = unpack("vm-cgroup2-cpu-not-delegated", tmp_path)
    group = root / "sys/fs/cgroup/user.slice/user-0.slice/session-1.scope"
    (group / "memory.max").write_text((group / "memory.current").read_text())
    assert host.read(root).memory_available_bytes == 0


@pytest.mark.parametrize("limit", ["memory.max", "memory.high"])
def test_page_cache_of_a_container_counts_as_available(tmp_path: Path, limit: str):
    """A group of 10 GiB with 7 GiB of clean page cache has all but 0.5 GiB to give."""
    root = unpack("vm-cgroup2-cpu-not-delegated", tmp_path)
    (root / "proc/meminfo").write_text("MemTotal: 33554432 kB\nMemAvailable: 31457280 kB\n")
    inner = root / "sys/fs/cgroup/user.slice/user-0.slice/session-1.scope"
    _limited(inner.parent, limit, 10, used=7.5, inactive=4, active=3)
    assert host.read(root).memory_available_bytes == 9.5 * 2**30
    _limited(inner, limit, 9, used=2, inactive=1, active=0.5)
    assert host.read(root).memory_available_bytes == 8.5 * 2**30


def test_page_cache_of_a_container_of_version_1_counts_with_that_of_the_groups_in_it(
    tmp_path: Path,
):
    """Its counters without "total_" are of the group alone."""
    root = unpack("power9-gpu-nodes", tmp_path)
    group = root / "sys/fs/cgroup/memory"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text(str(10 * 2**30))
    (group / "memory.usage_in_bytes").write_text(str(8 * 2**30))
    (group / "memory.stat").write_text(
        f"cache 0\ninactive_file 0\nactive_file 0\n"
        f"total_inactive_file {4 * 2**30}\ntotal_active_file {3 * 2**30}\n"
    )
    assert host.read(root).memory_available_bytes == 9 * 2**30


def _limited(
    group: Path, limit: str, gib: float, used: float, inactive: float, active: float
) -> None:
    (group / "memory.max").write_text("max\n")
    (group / limit).write_text(f"{round(gib * 2**30)}\n")
    (group / "memory.current").write_text(f"{round(used * 2**30)}\n")
    sizes = {"anon": used, "inactive_file": inactive, "active_file": active}
    lines = (f"{name} {round(size * 2**30)}\n" for name, size in sizes.items())
    (group / "memory.stat").write_text("".join(lines))


def test_the_smallest_limit_of_processes_and_threads_counts(root: Path):
    """That of the control group, less what runs in it, and of an ordinary user, less what it has.

    Root has no limit of its own, but for root of a container that an ordinary user started.
    """
    assert host.read(root).tasks_left is None
    status = root / "proc/self/status"
    for uid, map_, left in ((1000, "0 0 4294967295", 96365), (0, "0 1000 1", 96365)):
        text = re.sub(
            r"^Uid:.*$", f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}", status.read_text(), flags=re.M
        )
        status.write_text(text)
        (root / "proc/self/uid_map").write_text(f"{map_}\n")
        assert host.read(root).tasks_left == left
    other = root / "proc/77/status"
    other.parent.mkdir()
    other.write_text("Name:\tx\nUid:\t0\t0\t0\t0\nThreads:\t65\n")
    assert host.read(root).tasks_left == 96300
    mounts = root / "proc/self/mounts"
    mounts.write_text(f"{mounts.read_text()}cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n")
    group = root / "sys/fs/cgroup/pids"
    group.mkdir(parents=True, exist_ok=True)
    (group / "pids.max").write_text("2048\n")
    (group / "pids.current").write_text("48\n")
    assert host.read(root).tasks_left == 2000
