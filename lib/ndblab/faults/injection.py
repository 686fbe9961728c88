"""Fault injection: kills, freezes, stops and starts nodes of a running cluster.

In: a cluster under load and a `Fault`. Out: a mark for each action, as it is done. It decides
nothing: the fault says what is done, when and to which node. It cleans up nothing afterwards.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ndblab.cluster import readiness
from ndblab.error import LabError
from ndblab.planning.fault import FAULT, RESTART, SERVED

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process
    from ndblab.planning.deployment import Node
    from ndblab.planning.fault import Action, Fault

STOP_PATIENCE_S = 60
_SIGNALS = {"freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


class Mark(NamedTuple):
    """One action, or its effect; `at` is by `time.monotonic`."""

    at: float
    node_id: int
    event: str
    text: str


def perform(cluster: Cluster, fault: Fault) -> Iterator[Mark]:
    """Do the actions of a fault, and yield a mark when each begins.

    Waiting for a node yields its mark at the end, when the node serves again.

    Raises
    ------
    LabError
        If there is no such node, or it does not stop, start or serve again.
    """
    began = time.monotonic()
    for action in fault.actions:
        node = find(cluster, action)
        time.sleep(max(0.0, began + action.at_s - time.monotonic()))
        if action.what == "wait":
            readiness.wait_node(cluster, node)
            yield Mark(time.monotonic(), node.node_id, SERVED, f"{node.name} serves")
            continue
        runs = cluster.runs(node)
        event = RESTART if action.what == "start" else FAULT
        if action.what == "start" and runs:
            yield Mark(time.monotonic(), node.node_id, event, f"{node.name} still runs")
        elif action.what != "start" and not runs:
            yield Mark(time.monotonic(), node.node_id, event, f"{node.name} had ended by itself")
        else:
            yield Mark(time.monotonic(), node.node_id, event, action.words)
            _do(cluster, action.what, node)


def find(cluster: Cluster, action: Action) -> Node:
    """Find the node of an action; LabError if the cluster has none of this name."""
    by_name = {node.name: node for node in cluster.plan.nodes}
    if action.node not in by_name:
        raise LabError(
            f"The cluster has no {action.node}, which the fault acts on",
            found=", ".join(by_name),
            expected=action.node,
            next_step="Use at least 2 --servers.",
        )
    return by_name[action.node]


def _do(cluster: Cluster, what: str, node: Node) -> None:
    if what == "start":
        cluster.start_again(node)
        return
    child = cluster.processes[node.name]
    if what == "stop":
        _stop(cluster, node, child)
    elif what == "kill":
        cluster.machine_of(node).kill(child)
    else:
        child.send_signal(_SIGNALS[what])


def _stop(cluster: Cluster, node: Node, child: Process) -> None:
    """Stop a node gracefully: a MySQL server by SIGTERM, others by the management node."""
    answer = ""
    if node.role == "mysqld":
        child.terminate()
    else:
        answer = readiness.ask_management(cluster, f"{node.node_id} STOP")
    try:
        child.wait(STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise LabError(
            f"{node.name} did not stop",
            found=" / ".join(answer.split("\n")) or f"nothing within {STOP_PATIENCE_S} s",
            expected="a node that shuts down gracefully",
            next_step=f"Its logs are in {node.data_dir} and {cluster.folder}/logs.",
        ) from None
