"""Where a machine's logical CPUs and its memory are: cores, packages, NUMA nodes.

It changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_CPUS, _NODES = "sys/devices/system/cpu", "sys/devices/system/node"
_SIBLINGS = ("core_cpus_list", "thread_siblings_list")
"""Logical CPUs of a core, by the file's name since and before Linux 5.3."""


@dataclass(frozen=True)
class Cpu:
    """One logical CPU and where it sits; those of a core have the same `core`.

    `speed` is relative to the fastest CPU of the machine; `kind` is what the kernel calls its cores
    where there are several kinds ("core", "atom").
    """

    id: int
    core: int
    package: int
    node: int
    speed: float = 1.0
    kind: str = ""


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node and its memory."""

    id: int
    memory_bytes: int


def cpus(root: Path, allowed: Collection[int] = ()) -> tuple[Cpu, ...]:
    """Read the logical CPUs that are online, or those of them that are `allowed`.

    The lowest number of its logical CPUs identifies a core: `core_id` is unique only within a
    cluster of cores on some machines, and within a package on others (Linux, cputopology.rst).
    """
    base = root / _CPUS
    online = parse_cpu_list(read_text(base / "online")) or tuple(allowed)
    node_of = {
        cpu: int(folder.name[4:])
        for folder in _node_folders(root)
        for cpu in parse_cpu_list(read_text(folder / "cpulist"))
    }

    def number(cpu: int, name: str, otherwise: int) -> int:
        text = read_text(base / f"cpu{cpu}/topology/{name}").strip()
        return int(text) if text else otherwise

    def core(cpu: int) -> int:
        texts = (read_text(base / f"cpu{cpu}/topology/{name}") for name in _SIBLINGS)
        siblings = next(filter(None, map(parse_cpu_list, texts)), ())
        return min(siblings) if siblings else number(cpu, "core_id", cpu)

    speeds, kind_of = _speeds(base, online), _kinds(root)
    return tuple(
        Cpu(
            cpu, core(cpu), number(cpu, "physical_package_id", 0), node_of.get(cpu, 0),
            speeds.get(cpu, 1.0), kind_of.get(cpu, ""),
        )
        for cpu in online
        if not allowed or cpu in allowed
    )  # fmt: skip


def _speeds(base: Path, online: Iterable[int]) -> dict[int, float]:
    """Read how fast CPUs are, relative to the fastest; nothing where the kernel does not say.

    The capacity accounts for work per cycle, the highest frequency does not.
    Source: Linux, sysfs-devices-system-cpu ("cpu_capacity") and cpu-freq/user-guide.rst.
    """
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        texts = {cpu: read_text(base / f"cpu{cpu}/{name}").strip() for cpu in online}
        values = {cpu: int(text) for cpu, text in texts.items() if text.isdigit()}
        if fastest := max(values.values(), default=0):
            return {cpu: round(value / fastest, 3) for cpu, value in values.items()}
    return {}


def _kinds(root: Path) -> dict[int, str]:
    """Read the kinds of cores of a hybrid processor, each with performance counters of its own.

    Source: Linux, perf's intel-hybrid.txt ("/sys/devices/cpu_atom/cpus").
    """
    return {
        cpu: file.parent.name.removeprefix("cpu_")
        for file in (root / "sys/devices").glob("cpu_*/cpus")
        for cpu in parse_cpu_list(read_text(file))
    }


def numa_nodes(root: Path) -> tuple[NumaNode, ...]:
    """Read the NUMA nodes, some of which may have no CPUs or no memory; none without NUMA."""
    return tuple(
        NumaNode(int(f.name[4:]), meminfo(read_text(f / "meminfo")).get("MemTotal", 0))
        for f in sorted(_node_folders(root), key=lambda folder: int(folder.name[4:]))
    )


def meminfo(text: str) -> dict[str, int]:
    """Parse a meminfo file, of the machine or of a NUMA node, into bytes."""
    pairs = re.findall(r"^(?:Node \d+ )?(\w+):\s+(\d+) kB", text, flags=re.MULTILINE)
    return {key: int(kib) * 1024 for key, kib in pairs}


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


def format_cpu_list(ids: Iterable[int]) -> str:
    """Write CPU numbers in the kernel's list format, as `numactl -C` takes it."""
    runs: list[list[int]] = []
    for cpu in sorted(ids):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def read_text(path: Path) -> str:
    """Return the text of a file of /proc or /sys; empty where there is none.

    Names in it, of mount points for example, may be in any encoding; they stay usable as paths.
    """
    try:
        return path.read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _node_folders(root: Path) -> Iterable[Path]:
    return (root / _NODES).glob("node[0-9]*")
