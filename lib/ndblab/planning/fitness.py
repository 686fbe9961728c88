"""Whether a plan fits a host: its CPUs as they are now, its NUMA nodes, its processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.machine.topology import format_cpu_list
from ndblab.planning.data_node import GIB

if TYPE_CHECKING:
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan

_ROUNDING_CPUS = 1e-6


def check_cpus(plan: Plan, usable: Collection[int]) -> None:
    """Refuse to go on if CPUs of the plan are gone: switched off, say, or taken from our cpuset.

    LabError if the plan binds a process to a CPU that is gone, or divides more CPUs than there are.
    Those that the lab may use now are `usable`.
    """
    gone = {cpu for node in plan.nodes for cpu in node.share.cpus} - set(usable)
    divided = sum(node.share.quota_cpus or 0 for node in plan.data_nodes)
    divided += plan.sql_side.quota_cpus or 0
    if not gone and divided <= len(usable) + _ROUNDING_CPUS:
        return
    raise LabError(
        "CPUs of the plan are gone",
        found=f"CPUs {format_cpu_list(usable)}"
        + (f", without {format_cpu_list(gone)}" if gone else ""),
        expected="those that were there when the plan was made"
        + ("" if gone else f", {divided:g}"),
        next_step="Switch them on again (hyperthreads: echo on | sudo tee "
        "/sys/devices/system/cpu/smt/control) and run the same command, or start a new "
        "measurement on what is left.",
    )


def check_numa_memory(plan: Plan, host: Host) -> None:
    """Refuse a plan that binds processes to NUMA nodes with too little memory.

    LabError if the processes that may use only certain nodes need more memory than these have.
    """
    needed: Counter[tuple[int, ...]] = Counter()
    for node in plan.data_nodes:
        needed[node.share.memory_nodes] += plan.memory.data_node_bytes + plan.threads.more_bytes
    for node in plan.servers:
        needed[node.share.memory_nodes] += plan.memory.server_bytes
    memory_of = {node.id: node.memory_bytes for node in host.numa_nodes}
    for nodes, needed_bytes in needed.items():
        there = sum(memory_of.get(node, 0) for node in nodes)
        if nodes and needed_bytes > there:
            raise LabError(
                "A NUMA node has too little memory for the processes that are bound to it",
                found=f"{there / GIB:.1f} GiB on node {format_cpu_list(nodes)}",
                expected=f"{needed_bytes / GIB:.1f} GiB",
                next_step="Use --budget scaled, a smaller --table-size or fewer --servers.",
            )


def tasks(plan: Plan) -> int:
    """Return how many processes and threads a cluster and its load have, with some to spare.

    A client is one thread of the load generator and one of a server. Also observed: 66 threads of a
    data node with 10 for NDB's work, 42 of a server and 17 of a management node.
    """
    connections = sum(len(node.node_ids) for node in plan.servers)
    data_nodes = len(plan.data_nodes) * (64 + (plan.threads.automatic_cpus or 0))
    servers = 40 * len(plan.servers) + 8 * connections
    return data_nodes + servers + 2 * plan.max_clients + 64


def check_tasks(plan: Plan, host: Host) -> None:
    """Refuse a plan with more processes and threads than may be started on a host.

    LabError if there are more; it says how many may be started.
    """
    if host.tasks_left is not None and tasks(plan) > host.tasks_left:
        where = f"Host {plan.hosts[0].name}" if plan.hosts else "This host"
        raise LabError(
            f"{where} allows too few processes and threads for the plan",
            found=f"{host.tasks_left} more",
            expected=f"{tasks(plan)}: two threads for each client, and those of the nodes",
            next_step="Raise the limit (of a container, --pids-limit; of a control group, pids.max "
            "or systemd's TasksMax; of a user, ulimit -u), or use fewer --clients or --servers.",
        )
