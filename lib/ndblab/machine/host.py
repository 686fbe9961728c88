"""The machine: what the lab may use of it.

In: a root folder that holds `/proc`, `/sys`, `/etc` and `/run` ("/" or a captured copy).
Out: a `Host`, plain data that goes to JSON and back. It starts no process and changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError

LEAF = "lab"
"""Group into which the lab moves itself to divide the one it was given."""


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
class CpuController:
    """The way by which this host lets us limit CPU bandwidth.

    `kind` is "cgroup2", "cgroup1", "systemd" (none yet, but a user manager that can give one) or
    "none"; `path` is the folder under which groups may be made (empty for the last two); `reason`
    says why it was chosen or why there is none.
    """

    kind: str
    path: str
    reason: str


@dataclass(frozen=True)
class Host:
    """What the lab knows of a machine. Sizes in bytes; `None` means without limit."""

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
        """Logical CPUs that may be used: those allowed, fewer where a bandwidth limit says so."""
        return min(len(self.cpus), self.cpu_limit or len(self.cpus))

    @property
    def cores(self) -> tuple[tuple[Cpu, ...], ...]:
        """The logical CPUs grouped by physical core, in the order NUMA node, package, core."""
        cores: dict[tuple[int, int, int], list[Cpu]] = {}
        for cpu in sorted(self.cpus, key=lambda c: (c.node, c.package, c.core, c.id)):
            cores.setdefault((cpu.node, cpu.package, cpu.core), []).append(cpu)
        return tuple(tuple(core) for core in cores.values())

    @property
    def fingerprint(self) -> dict[str, object]:
        """What makes two hosts the same machine for a comparison of measurements."""
        return {
            "cpu_model": self.cpu_model,
            "logical_cpus": len(self.cpus),
            "numa_nodes": len(self.numa_nodes),
            "memory_gib": round(self.memory_bytes / 2**30),
            "kernel": self.kernel,
            "virtualization": self.virtualization,
        }

    def describe(self) -> str:
        """Say in one line what machine this is."""
        virtual = f", {self.virtualization}" if self.virtualization else ""
        return (
            f"{self.cpu_model}, {len(self.cpus)} logical CPUs, "
            f"{len(self.numa_nodes)} NUMA node{'' if len(self.numa_nodes) == 1 else 's'}, "
            f"{self.memory_bytes / 2**30:.0f} GiB{virtual}, Linux {self.kernel}"
        )

    def to_dict(self) -> dict[str, object]:
        """Give the host as plain data for JSON."""
        return dataclasses.asdict(self)


def from_dict(data: dict) -> Host:
    """Make a host of what `Host.to_dict` gave."""
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
            "The host description is not one of ours",
            found=str(error),
            expected="the JSON that `lab doctor --json` prints",
            next_step="Run `./lab doctor --json > host.json` on that machine and pass host.json.",
        ) from error


def load(path: str | Path) -> Host:
    """Read a host description from a JSON file.

    Raises
    ------
    LabError
        If the file is not there or is not a host description.
    """
    try:
        return from_dict(json.loads(Path(path).read_text()))
    except (OSError, ValueError) as error:
        raise LabError(
            f"The host description {path} cannot be read",
            found=str(error),
            expected="the JSON that `lab doctor --json` prints",
            next_step="Check the path, or run `./lab doctor --json > host.json` on that machine.",
        ) from error


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Turn the kernel's list format ("0-3,8") into CPU numbers.

    Source: Linux, Documentation/admin-guide/cputopology.rst.
    """
    ids: list[int] = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            ids.extend(range(int(first), int(last or first) + 1))
    return tuple(ids)


def format_cpu_list(ids: tuple[int, ...]) -> str:
    """Turn CPU numbers into the kernel's list format, as `numactl -C` takes it."""
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
    memory = _meminfo(_text(root / "proc/meminfo"))
    status = _fields(_text(root / "proc/self/status"))
    allowed = parse_cpu_list(status.get("Cpus_allowed_list", ""))
    nodes = _numa_nodes(root, memory["MemTotal"])
    cpus = _cpus(root, allowed)
    cpuinfo = _fields(_text(root / "proc/cpuinfo"))
    return Host(
        cpu_model=cpuinfo.get("model name", "unknown CPU"),
        cpus=cpus,
        numa_nodes=tuple(n for n in nodes if n.id in {c.node for c in cpus}),
        cpu_limit=_cpu_limit(root),
        memory_bytes=memory["MemTotal"],
        memory_available_bytes=min(
            x for x in (memory.get("MemAvailable"), memory["MemTotal"], _memory_left(root)) if x
        ),
        memlock_bytes=_memlock(_text(root / "proc/self/limits")),
        kernel=_text(root / "proc/sys/kernel/osrelease").strip(),
        distribution=_distribution(_text(root / "etc/os-release")),
        virtualization="virtual machine" if " hypervisor" in cpuinfo.get("flags", "") else "",
        cpu_controller=_cpu_controller(root),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


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
        NumaNode(int(f.name[4:]), _meminfo(_text(f / "meminfo")).get("MemTotal", 0))
        for f in folders
    )
    return nodes or (NumaNode(0, memory_bytes),)


def _cpus(root: Path, allowed: tuple[int, ...]) -> tuple[Cpu, ...]:
    base = root / "sys/devices/system/cpu"
    online = parse_cpu_list(_text(base / "online")) or allowed
    node_of = {
        cpu: int(folder.name[4:])
        for folder in (root / "sys/devices/system/node").glob("node[0-9]*")
        for cpu in parse_cpu_list(_text(folder / "cpulist"))
    }

    def number(cpu: int, name: str, otherwise: int) -> int:
        text = _text(base / f"cpu{cpu}/topology/{name}").strip()
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


def _own_groups(root: Path) -> dict[str, str]:
    """Map each controller ("" for version 2) to the group this process is in."""
    groups = {}
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _cgroup_mount(root: Path, kind: str, option: str = "") -> Path | None:
    for line in _text(root / "proc/self/mounts").splitlines():
        _, where, fstype, options, *_ = line.split()
        if fstype == kind and (not option or option in options.split(",")):
            return root / where.lstrip("/")
    return None


def _cpu_limit(root: Path) -> float | None:
    """Bandwidth already imposed on this process, in CPUs (a container's limit, say)."""
    limits = []
    for group in _ancestors(root, "cgroup2", ""):
        quota, _, period = _text(group / "cpu.max").partition(" ")
        if quota not in ("", "max"):
            limits.append(int(quota) / int(period))
    for group in _ancestors(root, "cgroup", "cpu"):
        quota = _text(group / "cpu.cfs_quota_us").strip()
        if quota and int(quota) > 0:
            limits.append(int(quota) / int(_text(group / "cpu.cfs_period_us")))
    return min(limits, default=None)


def _memory_left(root: Path) -> int | None:
    """Memory that this process's control groups leave it (a container's limit, say), in bytes."""
    left = []
    for kind, controller, limit, used in (
        ("cgroup2", "", "memory.max", "memory.current"),
        ("cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for group in _ancestors(root, kind, controller):
            bytes_ = _text(group / limit).strip()
            if bytes_.isdigit():
                left.append(int(bytes_) - int(_text(group / used).strip() or 0))
    return min(left, default=None)


def _ancestors(root: Path, kind: str, controller: str) -> list[Path]:
    """The control group of this process and those above it, as far as they are visible here."""
    mount = _cgroup_mount(root, kind, controller)
    if mount is None:
        return []
    own = mount / _own_groups(root).get(controller, "/").lstrip("/")
    return [g for g in (own, *own.parents) if g.is_relative_to(mount)]


def _cpu_controller(root: Path) -> CpuController:
    """Choose how to limit CPU bandwidth here: cgroup v2, v1, a user scope of systemd, or none.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst ("No Internal Process Constraint":
    only the root group may hold both processes and limited children).
    """
    groups = _own_groups(root)
    if (mount := _cgroup_mount(root, "cgroup2")) is not None:
        own = mount / groups.get("", "/").lstrip("/")
        own = own.parent if own.name == LEAF else own
        for group, why in ((mount, "the root group is ours to divide"), (own, "delegated to us")):
            has_cpu = "cpu" in _text(group / "cgroup.controllers").split()
            if has_cpu and os.access(group / "cgroup.subtree_control", os.W_OK):
                return CpuController("cgroup2", f"/{group.relative_to(root)}", why)
    if (mount := _cgroup_mount(root, "cgroup", "cpu")) is not None:
        own = mount / groups.get("cpu", "/").lstrip("/")
        if os.access(own, os.W_OK):
            path = f"/{own.relative_to(root)}"
            return CpuController("cgroup1", path, "the cpu hierarchy is writable")
    user_bus = root / f"run/user/{os.getuid()}/bus"
    if user_bus.exists():
        return CpuController(
            "systemd", "", "only a scope of the user's systemd may limit CPUs, and we are in none"
        )
    return CpuController(
        "none", "", "no writable cpu control group and no user manager of systemd on this host"
    )
