"""How a host's CPUs are divided: the budget, and what each process may use.

The shares are those of the brief ("Cluster-in-a-Box"): of 256 logical CPUs each data node has 32
and the MySQL servers with sysbench have the other 192; one mysqld used at most about 30 (Figure 4).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.machine import own_cgroup
from ndblab.machine.host import Host
from ndblab.machine.topology import Cpu, format_cpu_list

Core = tuple[Cpu, ...]
BRIEF_CPUS = 256
BRIEF_DATA_NODE_CPUS = 32
BRIEF_SERVER_CPUS = 30
BRIEF_SQL_SIDE_CPUS = 192
BUDGETS = ("auto", "pinned", "scaled", "shared")
ATTACHED = "attached"
"""The budget of a cluster that the lab did not start: how its CPUs are divided is not known."""
MOST_APART = 0.1
"""How much slower than another, as a share, a core may be and still count as equal to it: firmware
names favoured cores whose highest frequency is a few percent above that of their equals."""
PINNED_FROM_CPUS = 80
"""Two servers at their own ceiling of 30 CPUs on three quarters of a host: 2 x 30 / 0.75. With
fewer, `pinned` would saturate the host before the first doubling of servers."""


@dataclass(frozen=True)
class Budget:
    """How the host's CPUs are divided, and why. The reason is part of a dataset's identity."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Share:
    """What a process may use: CPUs by affinity, NUMA nodes for memory, bandwidth in CPUs.

    Empty tuples and `None` mean no limit of that kind.
    """

    cpus: tuple[int, ...] = ()
    memory_nodes: tuple[int, ...] = ()
    quota_cpus: float | None = None


@dataclass(frozen=True)
class Shares:
    """What each part of the cluster may use; odd and even servers take turns, as do data nodes."""

    data_nodes: tuple[Share, ...] = (Share(), Share())
    servers: tuple[Share, Share] = (Share(), Share())
    sql_side: Share = Share()
    management_node: Share = Share()


def choose(host: Host, wanted: str) -> Budget:
    """Choose the budget: the requested one, or for "auto" the one that fits the host.

    LabError if the budget is unknown, or it is impossible here.
    """
    if wanted not in BUDGETS:
        raise LabError(
            "Unknown CPU budget",
            found=wanted,
            expected=", ".join(BUDGETS),
            next_step="Choose one with --budget.",
        )
    controller = host.cpu_controller
    can_scale = controller.kind in ("cgroup1", "cgroup2")
    if wanted == "pinned" and (unfit := _unfit_to_pin(host)):
        raise unfit
    if wanted == "scaled" and not can_scale:
        raise LabError(
            "This host offers no way to limit CPU bandwidth",
            found=controller.reason,
            expected="a writable cpu control group (v1 or v2) or a systemd user manager",
            next_step=f"Use --budget shared. Otherwise: {own_cgroup.remedy(controller.kind)}",
        )
    if wanted != "auto":
        return Budget(wanted, "asked for")
    cpus = host.usable_cpus
    unfit = _unfit_to_pin(host) if cpus >= PINNED_FROM_CPUS else None
    if cpus >= PINNED_FROM_CPUS and unfit is None:
        return Budget("pinned", f"{cpus:g} logical CPUs are enough to divide by affinity")
    why = f"{cpus:g} logical CPUs are fewer than {PINNED_FROM_CPUS}"
    if unfit:
        why = f"pinning is impossible ({unfit.what}: {unfit.found})"
    if can_scale:
        return Budget("scaled", f"{why}, and {controller.reason}")
    why = why if unfit else f"{cpus:g} logical CPUs are too few to pin"
    return Budget("shared", f"{why}, and {controller.reason}")


def _unfit_to_pin(host: Host) -> LabError | None:
    """Return why a host cannot be divided by affinity, if it cannot."""
    if len(host.cores) < 4:
        return LabError(
            "This host has too few cores to be divided by affinity",
            found=f"{len(host.cores)} core(s)",
            expected="at least 4: on each half, one for a data node and one for MySQL servers",
            next_step="Use --budget scaled or --budget shared.",
        )
    if host.usable_cpus < len(host.cpus):
        return LabError(
            "CPUs cannot be divided by affinity where their bandwidth is limited",
            found=f"a limit of {host.usable_cpus:g} CPUs on {len(host.cpus)}, of a container, say",
            expected="no limit, or an affinity to fewer CPUs in its place (--cpuset-cpus)",
            next_step="Use --budget scaled or --budget shared.",
        )
    divided = shares(host, "pinned")
    for share in (*divided.data_nodes, *divided.servers):
        if not share.memory_nodes:
            nodes = format_cpu_list({cpu.node for cpu in host.cpus if cpu.id in share.cpus})
            return LabError(
                "CPUs of one half would have no memory of their own",
                found=f"NUMA node {nodes} of CPUs {format_cpu_list(share.cpus)} without memory",
                expected="memory beside the CPUs of each data node, and beside those of servers",
                next_step="Use --budget scaled or --budget shared, or put memory into that node.",
            )
    first, second = _halves(host)
    if not all(map(_equal, first, second)):
        return LabError(
            "The halves of this host are not equal",
            found=f"{_described(first)}, against {_described(second)}",
            expected="as many CPUs on each half, and as fast: one data node runs on each",
            next_step="Use --budget scaled or --budget shared, or switch CPUs on that are off.",
        )
    return None


def _equal(core: Core, other: Core) -> bool:
    """Return whether two cores have equally many logical CPUs, of the same kind and speed."""
    slower, faster = sorted((core[0].speed, other[0].speed))
    same = len(core) == len(other) and core[0].kind == other[0].kind
    return same and slower >= (1 - MOST_APART) * faster


def _described(half: Sequence[Core]) -> str:
    cpus = [cpu for core in half for cpu in core]
    kinds = sorted({cpu.kind for cpu in cpus if cpu.kind})
    of = f" of kind {' and '.join(kinds)}" if kinds else ""
    speed = sum(cpu.speed for cpu in cpus) / len(cpus)
    slow = f" at {speed:.0%} of the fastest one's speed" if speed < 1 else ""
    return (
        f"{len(cpus)} CPUs on {len(half)} cores{of} ({format_cpu_list(c.id for c in cpus)}){slow}"
    )


def shares(host: Host, kind: str, node_groups: int = 1) -> Shares:
    """Divide the host.

    Source: the brief's numactl lines for `pinned`; its CPU counts as fractions for `scaled`. The
    data nodes of several node groups divide the CPUs that the brief gives its two. LabError if a
    half of the host has too few cores for a data node of each node group.
    """
    if kind == "shared":
        return Shares((Share(),) * 2 * node_groups)
    if kind == "scaled":
        cpus = host.usable_cpus
        data, server, sql = (
            Share(quota_cpus=cpus * part / BRIEF_CPUS)
            for part in (
                BRIEF_DATA_NODE_CPUS / node_groups, BRIEF_SERVER_CPUS, BRIEF_SQL_SIDE_CPUS,
            )
        )  # fmt: skip
        return Shares((data,) * 2 * node_groups, (server, server), sql)
    of_halves, sql_sides, management = [], [], []
    for half in _halves(host):
        split = max(node_groups, round(len(half) * BRIEF_DATA_NODE_CPUS * 2 / BRIEF_CPUS))
        if split >= len(half):
            raise LabError(
                "This host has too few cores for so many data nodes",
                found=f"{len(half)} cores on a half for {node_groups} data nodes",
                expected="one for each of them, and one for MySQL servers",
                next_step="Use --budget scaled or --budget shared.",
            )
        ends = [split * group // node_groups for group in range(node_groups + 1)]
        of_halves.append([_affinity(host, half[a:b]) for a, b in itertools.pairwise(ends)])
        sql_sides.append(half[split:])
        management.extend(half[max(split, len(half) - 4) :])
    first, second = sql_sides
    return Shares(
        tuple(itertools.chain.from_iterable(zip(*of_halves, strict=True))),
        (_affinity(host, first), _affinity(host, second)),
        _affinity(host, [*first, *second]),
        _affinity(host, management),
    )


def _halves(host: Host) -> tuple[Sequence[Core], Sequence[Core]]:
    """Halve the cores; the last of an odd number is left out, so that the halves are equal."""
    middle = len(host.cores) // 2
    return host.cores[:middle], host.cores[middle : 2 * middle]


def _affinity(host: Host, cores: Sequence[Core]) -> Share:
    """Bind to the CPUs of cores, and to those of their NUMA nodes that have memory."""
    nodes = {cpu.node for core in cores for cpu in core}
    with_memory = {node.id for node in host.numa_nodes if node.memory_bytes}
    return Share(
        cpus=tuple(sorted(cpu.id for core in cores for cpu in core)),
        memory_nodes=tuple(sorted(nodes & with_memory if with_memory else nodes)),
    )
