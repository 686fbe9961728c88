"""Fault injection: a run in which faults hit nodes, their hosts and the links between them.

The fault says what is done, when and to what. A cluster that does not recover is a result, not a
crash.
"""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ndblab.cluster import readiness
from ndblab.dataset.schema import FAULT, HEALED, RESTART, SERVED
from ndblab.error import LabError
from ndblab.experiments.availability.fault import NetworkAction
from ndblab.machine import THIS_MACHINE
from ndblab.measuring import measured_run
from ndblab.workloads.load_generator import OK, Job, LoadGenerator

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.experiments.availability.fault import Fault
    from ndblab.machine import Links, Process
    from ndblab.planning.deployment import Node

AFTER = 0.5
"""Time under load after the last action, as a share of the time before the fault."""
STOP_PATIENCE_S = 60
NO_NODE = 0
"""Node id of an action on no particular node."""
_SIGNALS = {"freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


class Mark(NamedTuple):
    """One action, or its effect; `at` is by `time.monotonic`."""

    at: float
    node_id: int
    event: str
    text: str


def perform(cluster: Cluster, fault: Fault) -> Iterator[Mark]:
    """Perform the actions of a fault, and yield a mark when each begins.

    Waiting for a node yields its mark at the end, when the node serves again. LabError if
    there is no such node, or it does not stop, start or serve again; if the cluster's links cannot
    be cut.
    """
    began = time.monotonic()
    for action in fault.actions:
        if isinstance(action, NetworkAction):
            links, nodes = _links(cluster), [find(cluster, name) for name in action.nodes]
            time.sleep(max(0.0, began + action.at_s - time.monotonic()))
            event = HEALED if action.what in ("heal", "power-on") else FAULT
            node_id = nodes[-1].node_id if nodes else NO_NODE
            yield Mark(time.monotonic(), node_id, event, action.words)
            _do_to_network(cluster, links, action.what, [node.host for node in nodes])
            continue
        node = find(cluster, action.node)
        time.sleep(max(0.0, began + action.at_s - time.monotonic()))
        if action.what == "wait":
            readiness.wait_node(cluster, node)
            yield Mark(time.monotonic(), node.node_id, SERVED, f"{node.name} serves")
            continue
        starts, runs = action.what == "start", cluster.runs(node)
        event = RESTART if starts else FAULT
        if starts == runs:  # there is nothing to do
            words = f"{node.name} {'still runs' if runs else 'had ended by itself'}"
            yield Mark(time.monotonic(), node.node_id, event, words)
        else:
            yield Mark(time.monotonic(), node.node_id, event, action.words)
            _do(cluster, action.what, node)


def find(cluster: Cluster, name: str) -> Node:
    """Find the node of an action; LabError if the cluster has none of this name."""
    by_name = {node.name: node for node in cluster.plan.nodes}
    if name not in by_name:
        raise LabError(
            f"The cluster has no {name}, which the fault acts on",
            found=", ".join(by_name),
            expected=name,
            next_step="Use --servers 2.",
        )
    return by_name[name]


def heal(cluster: Cluster) -> None:
    """Restore all links between the hosts of a cluster, if its links can be cut."""
    if cluster.links is not None:
        cluster.links.heal()


def _links(cluster: Cluster) -> Links:
    if cluster.links is None:
        raise LabError(
            "The links of this cluster cannot be cut",
            found=f"hosts {', '.join(cluster.sites)}" if cluster.sites else "a cluster on one host",
            expected="hosts that are network namespaces of this machine",
            next_step="Use --hosts namespaces, as root.",
        )
    return cluster.links


def _do_to_network(cluster: Cluster, links: Links, what: str, hosts: list[str]) -> None:
    if what == "heal":
        links.heal()
    elif what == "power-off":
        links.power_off(*hosts)
        cluster.lost(*hosts)
    elif what == "power-on":
        links.power_on(*hosts)
        cluster.regained(*hosts)
    elif what == "cut-off":
        links.drop(THIS_MACHINE, *hosts)
    else:
        one, other = hosts
        links.drop(one, other)
        if what == "cut":
            links.drop(other, one)


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


def measure(cluster: Cluster, job: Job, repeat: int, fault: Fault) -> measured_run.Run:
    """Load a cluster, inject a fault, and read what the cluster holds afterwards.

    The load runs for the profile's seconds before the fault, then until the last action is done,
    then for half of the profile's seconds. LabError if the load fails, or a node ends before the
    fault.
    """
    before_s = job.profile.warmup_s + job.profile.duration_s
    status, marks, tables = OK, [], {}
    with measured_run.under_load(cluster, job) as measured:
        time.sleep(before_s)
        cluster.check_alive()
        try:
            for mark in perform(cluster, fault):
                marks.append(mark)
                for role, node_id, pid, host in cluster.pids():  # those started again are new
                    measured.samples.watch(role, node_id, pid, host)
            time.sleep(AFTER * before_s)
        except LabError as failure:
            status = _words(failure)
        finally:
            heal(cluster)
        measured.finish()
    if status == OK:
        status, tables = _recover(cluster, measured.generator)
    run = measured.result(repeat, status, marks, tables)
    # What a fault did counts beside other work too: no run is repeated for a better outcome.
    return dataclasses.replace(run, recovered=status == OK, disturbance="")


def _recover(cluster: Cluster, generator: LoadGenerator) -> tuple[str, Mapping[str, pd.DataFrame]]:
    """Wait until every node serves and read back what the load left: "ok", or what failed."""
    try:
        for node in cluster.plan.nodes:
            readiness.wait_node(cluster, node)
        return OK, generator.read_back(cluster)
    except LabError as failure:
        return _words(failure), {}


def _words(failure: LabError) -> str:
    return f"{failure.what}: {failure.found}"
