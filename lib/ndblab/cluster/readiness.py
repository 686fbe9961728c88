"""When a cluster is ready: observed, never slept for."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pymysql

from ndblab.cluster import management_client, node_log
from ndblab.cluster.cluster import ANSWER_TIMEOUT_S, Cluster
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.machine import speed
from ndblab.machine.commands import ChildFailed
from ndblab.planning import config

if TYPE_CHECKING:
    from tqdm import tqdm

    from ndblab.planning.deployment import Node

MANAGEMENT_TIMEOUT_S, DATA_NODE_TIMEOUT_S, SERVER_TIMEOUT_S = 30, 180, 240
POLL_S = 0.05


def _wait(
    cluster: Cluster,
    observed: Callable[[], bool],
    timeout_s: float,
    late: Callable[[], tuple[Sequence[Node], str]],
    poll_s: float = POLL_S,
) -> None:
    """Poll until `observed()` holds; `late` returns the nodes that are not ready, and why.

    LabError if it does not hold in time: `timeout_s` on an ordinary machine, longer on a slower
    one.
    """
    timeout_s = speed.timeout_s(timeout_s)
    deadline = time.monotonic() + timeout_s
    while not observed():
        if time.monotonic() > deadline:
            raise node_log.late(cluster, *late(), timeout_s)
        time.sleep(poll_s)


def wait_management(cluster: Cluster) -> None:
    """Wait for the management node's port; on another host, for its answer."""
    node = cluster.plan.management_node

    def listening() -> bool:
        cluster.check_alive(node)
        if node.host:
            return "ndb_mgmd" in ask_management(cluster, "show")
        with socket.socket() as probe:
            return probe.connect_ex((node.endpoint, node.port)) == 0

    silence = f"nothing listens on port {node.port} of {node.endpoint}"
    _wait(cluster, listening, MANAGEMENT_TIMEOUT_S, lambda: ([node], silence))


def ask_management(cluster: Cluster, command: str) -> str:
    """Send the management node a command, such as "all status", and return its answer.

    The answer is empty if there is none in time.
    """
    site = cluster.site(cluster.plan.management_node.host)
    tls = config.tls_options(str(site.folder), site.binaries.mysqld_version, tls=True)
    argv = [
        str(site.binaries.ndb_mgm),
        "--no-defaults",
        f"--ndb-connectstring={config.connectstring(cluster.plan)}",
        "--connect-retries=1",
        *(tls if cluster.plan.tls else []),
        f"--execute={command}",
    ]
    try:
        return site.machine.run(argv, what="No answer", timeout_s=ANSWER_TIMEOUT_S)
    except ChildFailed as failure:
        return failure.output


def data_node_states(cluster: Cluster) -> dict[int, str]:
    """Ask the management node for the state of each data node: "started", "starting" ..."""
    return management_client.states(ask_management(cluster, "all status"))


def _reported(cluster: Cluster) -> str:
    """Put the management node's answer into words."""
    states = data_node_states(cluster)
    told = ", ".join(f"node {node} {state}" for node, state in sorted(states.items()))
    return f"the management node reports {told}" if told else "no answer of the management node"


def wait_data_nodes(cluster: Cluster, bar: tqdm) -> None:
    """Wait until the management node reports every data node as started."""
    wanted = {node.node_id for node in cluster.plan.data_nodes}
    ready: set[int] = set()

    def all_started() -> bool:
        cluster.check_alive()
        states = data_node_states(cluster)
        now_ready = {node for node, state in states.items() if state == "started"}
        bar.update(len(now_ready - ready))
        ready.update(now_ready)
        return ready >= wanted

    def late() -> tuple[list[Node], str]:
        waiting = [node for node in cluster.plan.data_nodes if node.node_id not in ready]
        return waiting, _reported(cluster)

    _wait(cluster, all_started, DATA_NODE_TIMEOUT_S, late, poll_s=0.3)


def wait_servers(cluster: Cluster, bar: tqdm) -> None:
    """Wait until every MySQL server answers and sees all data nodes."""
    waiting = list(cluster.plan.servers)

    def all_ready() -> bool:
        cluster.check_alive()
        for node in [server for server in waiting if not _missing(cluster, server)]:
            waiting.remove(node)
            bar.update()
        return not waiting

    _wait(cluster, all_ready, SERVER_TIMEOUT_S, lambda: (waiting, _missing(cluster, waiting[0])))


def wait_node(cluster: Cluster, node: Node) -> None:
    """Wait until one node, which may just have been restarted, serves.

    A management node serves if it reports every running data node as started; a data node, if it is
    reported as started; a MySQL server, if it answers and sees all data nodes. LabError if it has
    ended, or takes too long.
    """

    def serves() -> bool:
        cluster.check_alive(node)
        if node.role == "mysqld":
            return not _missing(cluster, node)
        states = data_node_states(cluster)
        if node.role == "ndbmtd":
            return states.get(node.node_id) == "started"
        running = (other.node_id for other in cluster.plan.data_nodes if cluster.runs(other))
        return bool(states) and all(states.get(other) == "started" for other in running)

    def late() -> tuple[list[Node], str]:
        return [node], _missing(cluster, node) if node.role == "mysqld" else _reported(cluster)

    timeout_s = SERVER_TIMEOUT_S if node.role == "mysqld" else DATA_NODE_TIMEOUT_S
    _wait(cluster, serves, timeout_s, late, poll_s=0.2)


def wait_rejoined(cluster: Cluster, servers: Sequence[Node]) -> None:
    """Wait until MySQL servers that may have lost their data nodes see all of them again.

    A server leaves the cluster when its send buffer is full (transporter error 32788), and rejoins
    by itself within seconds. LabError if one has ended, or takes too long.
    """
    for node in servers:
        wait_node(cluster, node)


def _missing(cluster: Cluster, server: Node) -> str:
    """Say what a MySQL server lacks to serve; empty if it answers and sees all data nodes."""
    try:
        rows = cluster.query("SHOW STATUS LIKE 'Ndb_number_of_ready_data_nodes'", server.number)
    except pymysql.Error as error:
        return f"no answer ({error.args[-1]})"
    seen, wanted = int(rows[0][1]) if rows else 0, len(cluster.plan.data_nodes)
    return "" if seen == wanted else f"it sees {seen} of {count(wanted, 'data node')}"


def transporters(cluster: Cluster) -> list[tuple[int, int, str]]:
    """List node id, remote node id and type ("SHM" or "TCP") of each connected link of data nodes.

    The list is empty where ndbinfo.transporter_details has no column `type` (before 9.0).
    """
    try:
        return cluster.query(
            "SELECT node_id, remote_node_id, type FROM ndbinfo.transporter_details"
            " WHERE status = 'CONNECTED'"
        )
    except pymysql.Error:
        return []


def check_transporters(cluster: Cluster) -> None:
    """Make sure that every connection of every MySQL server has the transporter of the plan.

    A server serves before the other connections of its pool are up, so this waits for them.
    LabError if one is missing, or of another kind.
    """
    servers, data_nodes = cluster.plan.servers, cluster.plan.data_nodes
    wanted = {
        (data_node.node_id, number): _kind(node, data_node)
        for node in servers
        for number in node.node_ids
        for data_node in data_nodes
    }

    def unconnected() -> set[tuple[int, int]]:
        links = transporters(cluster)
        return wanted.keys() - {(node, remote) for node, remote, _ in links} if links else set()

    def late() -> tuple[list[Node], str]:
        missing = unconnected()
        numbers = {number for _, number in missing}
        waiting = [node for node in servers if numbers.intersection(node.node_ids)]
        return waiting, f"{len(missing)} of {len(wanted)} connections to data nodes missing"

    if len(wanted) > len(servers) * len(data_nodes):
        _wait(cluster, lambda: not unconnected(), SERVER_TIMEOUT_S, late, poll_s=0.5)
    wrong = [t for t in transporters(cluster) if wanted.get((t[0], t[1]), t[2]) != t[2]]
    if wrong:
        node, remote, kind = wrong[0]
        raise LabError(
            "A MySQL server is not connected as planned",
            found=f"{kind} between node {node} and node {remote}",
            expected=wanted[node, remote],
            next_step="Check UseShm and the limits in /proc/sys/kernel/shm*.",
        )


def _kind(server: Node, data_node: Node) -> str:
    """Return the transporter between a MySQL server and a data node: SHM only on one host."""
    return server.transporter.upper() if server.host == data_node.host else "TCP"
