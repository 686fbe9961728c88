"""A host as plain data: its CPUs, NUMA nodes, memory and limits.

It starts no process and changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import own_cgroup, topology
from ndblab.machine.own_cgroup import CpuController
from ndblab.machine.topology import Cpu, NumaNode, read_text

_ARM_SERVERS = {
    ("0x41", "0xd08"): "ARM Cortex-A72",
    ("0x41", "0xd0c"): "ARM Neoverse-N1",
    ("0x41", "0xd40"): "ARM Neoverse-V1",
    ("0x41", "0xd49"): "ARM Neoverse-N2",
    ("0x41", "0xd4f"): "ARM Neoverse-V2",
    ("0x43", "0x0af"): "Cavium ThunderX2",
    ("0x46", "0x001"): "Fujitsu A64FX",
    ("0x48", "0xd01"): "HiSilicon TSV110",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1A",
}
"""Implementer and part of the CPUs of ARM servers, as in /proc/cpuinfo."""


@dataclass(frozen=True)
class Host:
    """What the lab knows about a machine. Limits are None where there is none."""

    cpu_model: str
    cpus: tuple[Cpu, ...]
    numa_nodes: tuple[NumaNode, ...]
    cpu_limit: float | None
    memory_bytes: int
    memory_available_bytes: int
    memlock_bytes: int | None
    kernel: str
    distribution: str
    virtualization: str
    cpu_controller: CpuController
    tasks_left: int | None = None
    """Processes and threads that may be started."""

    @property
    def usable_cpus(self) -> float:
        """Logical CPUs that this process may use, fewer where its bandwidth is limited."""
        return min(len(self.cpus), self.cpu_limit or len(self.cpus))

    @property
    def cores(self) -> tuple[tuple[Cpu, ...], ...]:
        """Logical CPUs grouped by physical core, ordered by NUMA node, package and core."""
        cores: dict[tuple[int, int, int], list[Cpu]] = {}
        for cpu in sorted(self.cpus, key=lambda c: (c.node, c.package, c.core, c.id)):
            cores.setdefault((cpu.node, cpu.package, cpu.core), []).append(cpu)
        return tuple(tuple(core) for core in cores.values())

    @property
    def fingerprint(self) -> dict[str, object]:
        """What two hosts must share for their measurements to be comparable."""
        return {
            "cpu_model": self.cpu_model,
            "logical_cpus": len(self.cpus),
            "numa_nodes": len(self.numa_nodes),
            "memory_gib": round(self.memory_bytes / 2**30),
            "kernel": self.kernel,
            "virtualization": self.virtualization,
        }

    def describe(self) -> str:
        """Describe the machine in one line."""
        virtual = f", {self.virtualization}" if self.virtualization else ""
        return (
            f"{self.cpu_model}, {len(self.cpus)} logical CPU{'' if len(self.cpus) == 1 else 's'}, "
            f"{len(self.numa_nodes)} NUMA node{'' if len(self.numa_nodes) == 1 else 's'}, "
            f"{self.memory_bytes / 2**30:.0f} GiB{virtual}, Linux {self.kernel}"
        )

    def in_short(self) -> str:
        """Name the machine by its processor, its logical CPUs, and whether it is virtual."""
        model = re.sub(r"\((R|TM)\)| (\d+-Core )?Processor\b", "", self.cpu_model)
        virtual = ", VM" if self.virtualization else ""
        return f"{model}, {len(self.cpus)} logical CPUs{virtual}"

    def to_dict(self) -> dict[str, object]:
        """Return the host as plain data for JSON."""
        return dataclasses.asdict(self)


def from_dict(data: dict) -> Host:
    """Restore a host from the result of `Host.to_dict`; LabError if `data` is something else."""
    try:
        return Host(
            **{
                **data,
                "cpus": tuple(Cpu(**cpu) for cpu in data["cpus"]),
                "numa_nodes": tuple(NumaNode(**node) for node in data["numa_nodes"]),
                "cpu_controller": CpuController(**data["cpu_controller"]),
            }
        )
    except (KeyError, TypeError) as error:
        raise LabError(
            "This is not a host description",
            found=f"no {error}" if isinstance(error, KeyError) else str(error),
            expected="the JSON that `./lab doctor --json` prints",
            next_step="Run `./lab doctor --json > host.json` on that machine and pass host.json.",
        ) from error


def load(path: str | Path) -> Host:
    """Read a host description from a JSON file.

    LabError if the file cannot be read or is not a host description.
    """
    try:
        return from_dict(json.loads(Path(path).read_text("utf-8-sig")))
    except (OSError, ValueError) as error:
        raise LabError(
            f"The host description {path} cannot be read",
            found=getattr(error, "strerror", None) or str(error),
            expected="the JSON that `./lab doctor --json` prints",
            next_step="Check the path, or run `./lab doctor --json > host.json` on that machine.",
        ) from error


def read(root: str | Path = "/") -> Host:
    """Read the machine under `root`.

    LabError if `root` does not hold a Linux `/proc` and `/sys`.
    """
    root = Path(root)
    if not (root / "proc/meminfo").exists():
        raise LabError(
            "This is not a Linux host",
            found=f"no {root / 'proc/meminfo'}",
            expected="Linux with /proc and /sys mounted",
            next_step="NDB's shared-memory transporters exist on Linux only: run the lab there.",
        )
    memory = topology.meminfo(read_text(root / "proc/meminfo"))
    status = _fields(read_text(root / "proc/self/status"))
    allowed = topology.parse_cpu_list(status.get("Cpus_allowed_list", ""))
    nodes = topology.numa_nodes(root) or (NumaNode(0, memory["MemTotal"]),)
    cpus = topology.cpus(root, allowed)
    left = own_cgroup.memory_left_bytes(root)
    available = (memory.get("MemAvailable"), memory["MemTotal"], left)
    cpuinfo = _fields(read_text(root / "proc/cpuinfo"))
    tasks = (own_cgroup.tasks_left(root), _tasks_left(root, status))
    return Host(
        cpu_model=_cpu_model(cpuinfo),
        cpus=cpus,
        numa_nodes=tuple(n for n in nodes if n.id in {c.node for c in cpus}),
        cpu_limit=own_cgroup.cpu_limit(root),
        memory_bytes=memory["MemTotal"],
        memory_available_bytes=min(b for b in available if b is not None),
        memlock_bytes=_limit(read_text(root / "proc/self/limits"), "Max locked memory"),
        kernel=read_text(root / "proc/sys/kernel/osrelease").strip(),
        distribution=_distribution(read_text(root / "etc/os-release")),
        virtualization="virtual machine" if " hypervisor" in cpuinfo.get("flags", "") else "",
        cpu_controller=own_cgroup.cpu_controller(root),
        tasks_left=min((left for left in tasks if left is not None), default=None),
    )


def _tasks_left(root: Path, status: dict[str, str]) -> int | None:
    """Count the processes and threads that this user's RLIMIT_NPROC leaves; root has no limit.

    The hard limit counts, since the lab raises the soft one to it. Root of a container that an
    ordinary user started counts as that user. Source: Linux, getrlimit(2), user_namespaces(7).
    """
    limit = _limit(read_text(root / "proc/self/limits"), "Max processes", hard=True)
    user = status.get("Uid", "").split()[:1]
    outside = read_text(root / "proc/self/uid_map").split()[1:2]
    if limit is None or (user == ["0"] and outside in ([], ["0"])):
        return None
    others = (_fields(read_text(file)) for file in (root / "proc").glob("[0-9]*/status"))
    own = (other for other in others if other.get("Uid", "").split()[:1] == user)
    return max(0, limit - sum(int(other.get("Threads", 1)) for other in own))


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    fields: dict[str, str] = {}
    for key, _, value in pairs:
        fields.setdefault(key.strip(), value.strip())
    return fields


def _cpu_model(cpuinfo: dict[str, str]) -> str:
    """Name the CPU of a cpuinfo, which on ARM holds only numbers.

    Source of the names: Linux, arch/arm64/include/asm/cputype.h.
    """
    for key in ("model name", "Model Name", "cpu", "uarch"):
        if key in cpuinfo:
            return cpuinfo[key]
    implementer, part = cpuinfo.get("CPU implementer"), cpuinfo.get("CPU part")
    if implementer is None or part is None:
        return "unknown CPU"
    return _ARM_SERVERS.get((implementer, part), f"ARM CPU {implementer}:{part}")


def _limit(limits: str, name: str, hard: bool = False) -> int | None:
    match = re.search(rf"^{name}\s+(\S+)\s+(\S+)", limits, flags=re.MULTILINE)
    value = match[1 + hard] if match else "unlimited"
    return None if value == "unlimited" else int(value)


def _distribution(os_release: str) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', os_release, flags=re.MULTILINE)
    return match[1] if match else "unknown Linux"
