"""Clusters on one host at the same time: the plan of each, and what all of them need.

Pure: it touches no file and starts nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.planning import fitness
from ndblab.planning.deployment import turned

if TYPE_CHECKING:
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Node, Plan
    from ndblab.planning.shape import Places

FOLDERS = ("twin", "twin2", "twin3")
"""Folders of the second cluster and those after it, below that of the first."""
PORTS = 256
"""Distance between the first ports of two clusters: more than a cluster has."""
_NAMES = {"ndbmtd": "ndbd"}
"""Folder names of a role, where they differ from the role's name."""


def moved(plan: Plan, places: Places) -> Plan:
    """Return a plan in other places: the same nodes with other folders, ports and sockets."""

    def there(node: Node) -> Node:
        is_server = node.role == "mysqld"
        return dataclasses.replace(
            node,
            data_dir=places.data_dir(_NAMES.get(node.role, node.role), node.number),
            port=places.port(node.role, node.number, networking=node.port is not None),
            socket=places.socket(node.number) if is_server else node.socket,
        )

    return dataclasses.replace(
        plan,
        places=places,
        management_node=there(plan.management_node),
        data_nodes=tuple(map(there, plan.data_nodes)),
        servers=tuple(map(there, plan.servers)),
    )


def placed(plans: Mapping[str, Plan], places: Sequence[Places], block: int) -> dict[str, Plan]:
    """Return the plans of clusters that start together, each in a place of its own.

    They exchange places from block to block; in two blocks of four, transporters and connection
    pools are turned as at every other start.
    """
    turn = turned if block // 2 % 2 else lambda plan: plan
    first = (block - 1) % len(places)
    there = (*places[first:], *places[:first])
    return {
        name: moved(turn(plan), place)
        for (name, plan), place in zip(plans.items(), there, strict=True)
    }


def together(a: Plan, b: Plan) -> Plan:
    """Return one plan that needs of a host what both need; only one is loaded at a time."""
    memory = {
        field.name: max(getattr(a.memory, field.name), getattr(b.memory, field.name))
        for field in dataclasses.fields(a.memory)
    }
    return dataclasses.replace(
        a,
        data_nodes=a.data_nodes + b.data_nodes,
        servers=a.servers + b.servers,
        threads=max(a.threads, b.threads, key=lambda threads: threads.more_bytes),
        memory=dataclasses.replace(a.memory, **memory),
        max_clients=max(a.max_clients, b.max_clients),
    )


def lack(plans: Sequence[Plan], host: Host, disk_free_bytes: float = math.inf) -> str:
    """Return in one line why these clusters cannot run on a host at once; empty if they can.

    If they cannot, pairs of consecutive starts compare them (`design.contrast`: starts). The `host`
    is as it is while no cluster runs.
    """
    if any(plan.hosts for plan in plans):
        return "the cluster is spread over several hosts"
    whole = functools.reduce(together, plans)
    try:
        whole.check(host, disk_free_bytes)
        fitness.check_tasks(whole, host)
        fitness.check_numa_memory(whole, host)
    except LabError as error:
        number = "two" if len(plans) == 2 else str(len(plans))
        return f"{number} clusters need {error.expected}, and there is {error.found}"
    return ""
