"""How a host's CPUs are divided: the budget, and what each process may use.

In: a `Host` and a budget's name. Out: the budget with its reason, and the share of every role.

The shares are those of the brief ("Cluster-in-a-Box"): of 256 logical CPUs each data node has 32
and the MySQL servers with sysbench have the other 192; one mysqld used at most about 30 (Figure 4).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.machine.host import Host

BRIEF_CPUS = 256
BRIEF_DATA_NODE_CPUS = 32
BRIEF_SERVER_CPUS = 30
BRIEF_SQL_SIDE_CPUS = 192
BUDGETS = ("auto", "pinned", "scaled", "shared")
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

    Raises
    ------
    LabError
        If the budget is unknown, or it is impossible here.
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
    can_pin = len(host.cores) >= 4
    if wanted == "pinned" and not can_pin:
        raise LabError(
            "This host has too few cores to be divided by affinity",
            found=f"{len(host.cores)} core(s)",
            expected="at least 4: on each half, one for a data node and one for MySQL servers",
            next_step="Use --budget scaled or --budget shared.",
        )
    if wanted == "scaled" and not can_scale:
        raise LabError(
            "This host offers no way to limit CPU bandwidth",
            found=controller.reason,
            expected="a writable cpu control group (v1 or v2) or a systemd user manager",
            next_step="Run as root or inside `systemd-run --user --scope -p Delegate=yes`, or use "
            "--budget shared.",
        )
    if wanted != "auto":
        return Budget(wanted, "asked for")
    cpus = host.usable_cpus
    if cpus >= PINNED_FROM_CPUS:
        return Budget("pinned", f"{cpus:g} logical CPUs are enough to divide by affinity")
    if can_scale:
        return Budget(
            "scaled",
            f"{cpus:g} logical CPUs are fewer than {PINNED_FROM_CPUS}, and {controller.reason}",
        )
    return Budget("shared", f"{cpus:g} logical CPUs are too few to pin, and {controller.reason}")


def shares(host: Host, kind: str, node_groups: int = 1) -> Shares:
    """Divide the host.

    Source: the brief's numactl lines for `pinned`; its CPU counts as fractions for `scaled`. The
    data nodes of several node groups divide the CPUs that the brief gives its two.

    Raises
    ------
    LabError
        If a half of the host has too few cores for a data node of each node group.
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
    cores = host.cores
    halves = (cores[: len(cores) // 2], cores[len(cores) // 2 :])
    of_halves, sql_shares, management = [], [], []
    for half in halves:
        split = max(node_groups, round(len(half) * BRIEF_DATA_NODE_CPUS * 2 / BRIEF_CPUS))
        if split >= len(half):
            raise LabError(
                "This host has too few cores for so many data nodes",
                found=f"{len(half)} cores on a half for {node_groups} data nodes",
                expected="one for each of them, and one for MySQL servers",
                next_step="Use --budget scaled or --budget shared.",
            )
        ends = [split * group // node_groups for group in range(node_groups + 1)]
        of_halves.append([_affinity(half[a:b]) for a, b in itertools.pairwise(ends)])
        sql_shares.append(_affinity(half[split:]))
        management.extend(half[max(split, len(half) - 4) :])
    sql_side = Share(
        cpus=tuple(sorted(sql_shares[0].cpus + sql_shares[1].cpus)),
        memory_nodes=tuple(sorted({*sql_shares[0].memory_nodes, *sql_shares[1].memory_nodes})),
    )
    data_nodes = tuple(itertools.chain.from_iterable(zip(*of_halves, strict=True)))
    return Shares(data_nodes, tuple(sql_shares), sql_side, _affinity(tuple(management)))


def _affinity(cores: tuple) -> Share:
    return Share(
        cpus=tuple(sorted(cpu.id for core in cores for cpu in core)),
        memory_nodes=tuple(sorted({cpu.node for core in cores for cpu in core})),
    )
