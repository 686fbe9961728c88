"""Colours, letters and words for the processes of a plan.

It draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ndblab import formatting
from ndblab.figures import style
from ndblab.machine import topology
from ndblab.machine.host import Host
from ndblab.machine.topology import Cpu
from ndblab.planning.cpu_budget import (
    BRIEF_CPUS,
    BRIEF_DATA_NODE_CPUS,
    BRIEF_SERVER_CPUS,
    BRIEF_SQL_SIDE_CPUS,
    Share,
)
from ndblab.planning.data_node import GIB
from ndblab.planning.deployment import Node, Plan

# Dark for data nodes, light for servers, to differ in grey too. Every colour has a letter.
DATA_NODE, SERVER, SERVER_PALE = "#2b6e4f", "#f0b23c", "#fbe6b8"
SYSBENCH, MANAGEMENT = "#cfe0f2", "#d4d4d4"
OF_THE_BRIEF = {
    "data node": f"{BRIEF_DATA_NODE_CPUS}/{BRIEF_CPUS}",
    "server": f"{BRIEF_SERVER_CPUS}/{BRIEF_CPUS}",
    "sql side": f"{BRIEF_SQL_SIDE_CPUS}/{BRIEF_CPUS}",
}
"""Shares of the brief's logical CPUs, which `scaled` grants as bandwidth."""


@dataclass(frozen=True)
class Group:
    """Processes that share CPUs: their letter, colour, name and share."""

    letter: str
    colour: str
    name: str
    share: Share


def groups(plan: Plan) -> list[Group]:
    """Group processes by CPUs: each data node, odd and even servers, the management node."""
    result = [
        Group(f"D{n.number}", DATA_NODE, f"data node {n.number} (ndbmtd)", n.share)
        for n in plan.data_nodes
    ]
    odd, even = plan.servers[0::2], plan.servers[1::2]
    result.append(Group("So", SERVER, f"MySQL servers {numbered(odd)} and sysbench", odd[0].share))
    if even:
        name = f"MySQL servers {numbered(even)} and sysbench"
        result.append(Group("Se", SERVER, name, even[0].share))
    name = "also the management node (ndb_mgmd)"
    return [*result, Group("M", MANAGEMENT, name, plan.management_node.share)]


def numbered(nodes: Iterable[Node]) -> str:
    """Write the numbers of nodes: "1, 3 ... 15"."""
    return series(node.number for node in nodes)


def series(values: Iterable[int]) -> str:
    """Write the first two and the last of evenly spaced numbers; all, if they are few."""
    all_ = list(values)
    if len(all_) <= 3:
        return ", ".join(map(str, all_))
    return f"{all_[0]}, {all_[1]} ... {all_[-1]}"


def cpus(share: Share) -> str:
    """Write CPUs in the format of numactl, with the NUMA nodes of the memory."""
    return (
        f"CPUs {topology.format_cpu_list(share.cpus)}, memory of {numa_nodes(share.memory_nodes)}"
    )


def numa_nodes(ids: Sequence[int]) -> str:
    """Write one or several NUMA nodes: "NUMA node 1", "NUMA nodes 0-3"."""
    return f"NUMA node{'s' * (len(ids) > 1)} {topology.format_cpu_list(ids)}"


def amount(quota_cpus: float) -> str:
    """Write a bandwidth in logical CPUs, with three digits."""
    return f"{quota_cpus:.3g} CPU{'' if quota_cpus == 1 else 's'}"


def cpus_and_part(share: Share, machine: Host) -> str:
    """Write CPUs, NUMA nodes of the memory, and the share of the host's CPUs in percent."""
    return f"{cpus(share)} ({100 * len(share.cpus) / machine.usable_cpus:.3g} %)"


def ink(background: str) -> str:
    """Return the colour of letters that can be read on a colour."""
    return "white" if background == DATA_NODE else style.INK


def block_title(machine: Host, cores: Sequence[tuple[Cpu, ...]]) -> str:
    """Name the part of a host that has these cores: NUMA node, socket, cores, CPUs, memory.

    Memory is given for whole NUMA nodes of a host that has several.
    """
    nodes = sorted({cpu.node for core in cores for cpu in core})
    sockets = sorted({cpu.package for core in cores for cpu in core})
    whole = sum(core[0].node in nodes for core in machine.cores) == len(cores)
    memory = sum(node.memory_bytes for node in machine.numa_nodes if node.id in nodes) / GIB
    return (
        f"{'' if whole else 'part of '}{numa_nodes(nodes)}, "
        f"socket {formatting.listed(map(str, sockets))}: {formatting.count(len(cores), 'core')}, "
        f"{formatting.count(sum(map(len, cores)), 'logical CPU')}"
        + (f", {memory:.0f} GiB" if whole and len(machine.numa_nodes) > 1 else "")
    )
