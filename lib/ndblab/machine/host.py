"""A host as plain data: its CPUs, NUMA nodes, memory and limits.

In: a root folder that holds `/proc`, `/sys`, `/etc` and `/run` ("/" or a captured copy), or JSON.
Out: a `Host`. It starts no process and changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import own_cgroup
from ndblab.machine.own_cgroup import CpuController, read_text


@dataclass(frozen=True)
class Cpu:
    """One logical CPU and where it sits."""

    id: int
    core: int
    package: int
    node: int


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node and its memory."""

    id: int
    memory_bytes: int


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
            f"{self.cpu_model}, {len(self.cpus)} logical CPUs, "
            f"{len(self.numa_nodes)} NUMA node{'' if len(self.numa_nodes) == 1 else 's'}, "
            f"{self.memory_bytes / 2**30:.0f} GiB{virtual}, Linux {self.kernel}"
        )

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

    Raises
    ------
    LabError
        If the file cannot be read or is not a host description.
    """
    try:
        return from_dict(json.loads(Path(path).read_text()))
    except (OSError, ValueError) as error:
        raise LabError(
            f"The host description {path} cannot be read",
            found=getattr(error, "strerror", None) or str(error),
            expected="the JSON that `./lab doctor --json` prints",
            next_step="Check the path, or run `./lab doctor --json > host.json` on that machine.",
        ) from error


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Parse the kernel's list format ("0-3,8") into CPU numbers.

    Source: Linux, Documentation/admin-guide/cputopology.rst.
    """
    ids: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            ids.extend(range(int(first), int(last or first) + 1))
    return tuple(ids)


def format_cpu_list(ids: tuple[int, ...]) -> str:
    """Write CPU numbers in the kernel's list format, as `numactl -C` takes it."""
    runs: list[list[int]] = []
    for cpu in sorted(ids):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def read(root: str | Path = "/") -> Host:
    """Read the machine under `root`.

    Raises
    ------
    LabError
        If `root` does not hold a Linux `/proc` and `/sys`.
    """
    root = Path(root)
    if not (root / "proc/meminfo").exists():
        raise LabError(
            "This is not a Linux host",
            found=f"no {root / 'proc/meminfo'}",
            expected="Linux with /proc and /sys mounted",
            next_step="NDB's shared-memory transporters exist on Linux only: run the lab there.",
        )
    memory = _meminfo(read_text(root / "proc/meminfo"))
    status = _fields(read_text(root / "proc/self/status"))
    allowed = parse_cpu_list(status.get("Cpus_allowed_list", ""))
    nodes = _numa_nodes(root, memory["MemTotal"])
    cpus = _cpus(root, allowed)
    left = own_cgroup.memory_left_bytes(root)
    available = (memory.get("MemAvailable"), memory["MemTotal"], left)
    cpuinfo = _fields(read_text(root / "proc/cpuinfo"))
    return Host(
        cpu_model=cpuinfo.get("model name", "unknown CPU"),
        cpus=cpus,
        numa_nodes=tuple(n for n in nodes if n.id in {c.node for c in cpus}),
        cpu_limit=own_cgroup.cpu_limit(root),
        memory_bytes=memory["MemTotal"],
        memory_available_bytes=min(filter(None, available)),
        memlock_bytes=_memlock(read_text(root / "proc/self/limits")),
        kernel=read_text(root / "proc/sys/kernel/osrelease").strip(),
        distribution=_distribution(read_text(root / "etc/os-release")),
        virtualization="virtual machine" if " hypervisor" in cpuinfo.get("flags", "") else "",
        cpu_controller=own_cgroup.cpu_controller(root),
    )


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    fields: dict[str, str] = {}
    for key, _, value in pairs:
        fields.setdefault(key.strip(), value.strip())
    return fields


def _meminfo(text: str) -> dict[str, int]:
    found = re.findall(r"^(?:Node \d+ )?(\w+):\s+(\d+) kB", text, flags=re.MULTILINE)
    return {key: int(kib) * 1024 for key, kib in found}


def _memlock(limits: str) -> int | None:
    match = re.search(r"^Max locked memory\s+(\S+)", limits, flags=re.MULTILINE)
    return int(match[1]) if match and match[1] != "unlimited" else None


def _distribution(os_release: str) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', os_release, flags=re.MULTILINE)
    return match[1] if match else "unknown Linux"


def _numa_nodes(root: Path, memory_bytes: int) -> tuple[NumaNode, ...]:
    folders = sorted(
        (root / "sys/devices/system/node").glob("node[0-9]*"), key=lambda p: int(p.name[4:])
    )
    nodes = tuple(
        NumaNode(int(f.name[4:]), _meminfo(read_text(f / "meminfo")).get("MemTotal", 0))
        for f in folders
    )
    return nodes or (NumaNode(0, memory_bytes),)


def _cpus(root: Path, allowed: tuple[int, ...]) -> tuple[Cpu, ...]:
    base = root / "sys/devices/system/cpu"
    online = parse_cpu_list(read_text(base / "online")) or allowed
    node_of = {
        cpu: int(folder.name[4:])
        for folder in (root / "sys/devices/system/node").glob("node[0-9]*")
        for cpu in parse_cpu_list(read_text(folder / "cpulist"))
    }

    def number(cpu: int, name: str, otherwise: int) -> int:
        text = read_text(base / f"cpu{cpu}/topology/{name}").strip()
        return int(text) if text else otherwise

    return tuple(
        Cpu(
            id=cpu,
            core=number(cpu, "core_id", cpu),
            package=number(cpu, "physical_package_id", 0),
            node=node_of.get(cpu, 0),
        )
        for cpu in online
        if not allowed or cpu in allowed
    )
