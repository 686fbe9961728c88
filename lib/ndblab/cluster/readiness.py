"""When a cluster is ready: observed, never slept for."""

from __future__ import annotations

import functools
import re
import socket
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pymysql

from ndblab.cluster.cluster import ANSWER_TIMEOUT_S, Cluster
from ndblab.error import LabError
from ndblab.machine import speed
from ndblab.machine.commands import ChildFailed
from ndblab.planning import config

if TYPE_CHECKING:
    from tqdm import tqdm

    from ndblab.cluster.cluster import Site
    from ndblab.planning.deployment import Node

MANAGEMENT_TIMEOUT_S, DATA_NODE_TIMEOUT_S, SERVER_TIMEOUT_S = 30, 180, 240
POLL_S = 0.05


def wait_until(
    observed: Callable[[], bool],
    timeout_s: float,
    what: str,
    poll_s: float = POLL_S,
    seen: Callable[[], str] = lambda: "nothing",
) -> None:
    """Check repeatedly until `observed()` holds; if it never does, the error tells what is `seen`.

    Raises
    ------
    LabError
        If it does not hold within the time that `timeout_s` seconds of an ordinary machine are
        here.
    """
    timeout_s = speed.timeout_s(timeout_s)
    deadline = time.monotonic() + timeout_s
    while not observed():
        if time.monotonic() > deadline:
            raise LabError(
                f"Timed out waiting for {what}",
                found=f"{seen()} after {timeout_s:.0f} s",
                next_step="Look at the logs in the cluster's folder (`./lab cluster.status`).",
            )
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

    wait_until(listening, MANAGEMENT_TIMEOUT_S, "the management node's port")


def ask_management(cluster: Cluster, command: str) -> str:
    """Send the management node a command, such as "all status", and return its answer.

    The answer is empty if there is none in time.
    """
    site = cluster.site(cluster.plan.management_node.host)
    argv = [
        str(site.binaries.ndb_mgm),
        "--no-defaults",
        f"--ndb-connectstring={config.connectstring(cluster.plan)}",
        "--connect-retries=1",
        *_tls_options(cluster, site),
        f"--execute={command}",
    ]
    try:
        return site.machine.run(argv, what="No answer", timeout_s=ANSWER_TIMEOUT_S)
    except ChildFailed as failure:
        return failure.output


def _tls_options(cluster: Cluster, site: Site) -> list[str]:
    if not cluster.plan.tls:
        return []
    return config.tls_options(str(site.folder), site.binaries.mysqld_version, tls=True)


def data_node_states(cluster: Cluster) -> dict[int, str]:
    """Ask the management node for the state of each data node: "started", "starting" ..."""
    answer = ask_management(cluster, "all status")
    states = re.findall(r"^Node (\d+): ([a-z ]+?)(?: \(|$)", answer, re.MULTILINE)
    return {int(node): state for node, state in states}


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

    seen = functools.partial(_reported, cluster)
    wait_until(all_started, DATA_NODE_TIMEOUT_S, "the data nodes", poll_s=0.3, seen=seen)


def wait_servers(cluster: Cluster, bar: tqdm) -> None:
    """Wait until every MySQL server answers and sees all data nodes."""
    waiting = list(range(1, len(cluster.plan.servers) + 1))

    def all_ready() -> bool:
        cluster.check_alive()
        for server in [s for s in waiting if _server_ready(cluster, s)]:
            waiting.remove(server)
            bar.update()
        return not waiting

    wait_until(all_ready, SERVER_TIMEOUT_S, "the MySQL servers")


def wait_node(cluster: Cluster, node: Node) -> None:
    """Wait until one node, which may just have been restarted, serves.

    A management node serves if it reports every running data node as started; a data node, if it is
    reported as started; a MySQL server, if it answers and sees all data nodes.

    Raises
    ------
    LabError
        If it has ended, or takes too long.
    """

    def serves() -> bool:
        cluster.check_alive(node)
        if node.role == "mysqld":
            return _server_ready(cluster, node.number)
        states = data_node_states(cluster)
        if node.role == "ndbmtd":
            return states.get(node.node_id) == "started"
        running = (other.node_id for other in cluster.plan.data_nodes if cluster.runs(other))
        return bool(states) and all(states.get(other) == "started" for other in running)

    if node.role == "mysqld":
        wait_until(serves, SERVER_TIMEOUT_S, node.name, poll_s=0.2)
        return
    seen = functools.partial(_reported, cluster)
    wait_until(serves, DATA_NODE_TIMEOUT_S, node.name, poll_s=0.2, seen=seen)


def wait_rejoined(cluster: Cluster, servers: Sequence[Node]) -> None:
    """Wait until MySQL servers that may have lost their data nodes see all of them again.

    A server leaves the cluster when its send buffer is full (transporter error 32788), and rejoins
    by itself within seconds.

    Raises
    ------
    LabError
        If one has ended, or takes too long.
    """
    for node in servers:
        wait_node(cluster, node)


def _server_ready(cluster: Cluster, server: int) -> bool:
    """Whether a MySQL server answers and sees all data nodes."""
    try:
        rows = cluster.query("SHOW STATUS LIKE 'Ndb_number_of_ready_data_nodes'", server)
    except pymysql.Error:
        return False
    return bool(rows) and int(rows[0][1]) == len(cluster.plan.data_nodes)


def transporters(cluster: Cluster) -> list[tuple[int, int, str]]:
    """Node id, remote node id and type ("SHM" or "TCP") of every connected link of data nodes.

    Empty where ndbinfo.transporter_details has no column `type` (before 9.0).
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

    A server serves before the other connections of its pool are up: they are waited for.

    Raises
    ------
    LabError
        If one is missing, or of another kind.
    """
    servers, data_nodes = cluster.plan.servers, cluster.plan.data_nodes
    wanted = {
        (data_node.node_id, number): _kind(node, data_node)
        for node in servers
        for number in node.node_ids
        for data_node in data_nodes
    }

    def all_connected() -> bool:
        found = transporters(cluster)
        return not found or sum((node, remote) in wanted for node, remote, _ in found) == len(
            wanted
        )

    if len(wanted) > len(servers) * len(data_nodes):
        wait_until(all_connected, SERVER_TIMEOUT_S, "the connection pools", poll_s=0.5)
    wrong = [t for t in transporters(cluster) if wanted.get((t[0], t[1]), t[2]) != t[2]]
    if wrong:
        node, remote, kind = wrong[0]
        raise LabError(
            "A MySQL server is not connected as planned",
            found=f"{kind} between node {node} and node {remote}",
            expected=wanted[node, remote],
            next_step="Check UseShm and the limits in /proc/sys/kernel/shm*.",
        )


def encryption(cluster: Cluster) -> list[tuple[int, int, str, int]]:
    """Node id, remote node id, type and 1 if encrypted, of every connected link of data nodes.

    Raises
    ------
    LabError
        If ndbinfo does not tell.
    """
    try:
        return cluster.query(
            "SELECT node_id, remote_node_id, type, encrypted FROM ndbinfo.transporter_details"
            " WHERE status = 'CONNECTED' AND node_id <> remote_node_id"
        )
    except pymysql.Error as error:
        raise LabError(
            "It is unknown whether NDB's links are encrypted",
            found=str(error),
            expected="the column `encrypted` of ndbinfo.transporter_details",
            next_step="Use NDB Cluster 9.0 or newer; on a network that you trust, "
            "--insecure-network.",
        ) from None


def check_encryption(cluster: Cluster) -> None:
    """Make sure that every link of every data node that uses TCP is encrypted.

    Shared memory is a link within a host, which has no TLS.

    Raises
    ------
    LabError
        If one is plain text.
    """
    links = encryption(cluster)
    plain = [(node, remote) for node, remote, kind, tls in links if kind != "SHM" and not tls]
    if plain or not links:
        told = _named(plain) if plain else "ndbinfo tells of no link"
        raise LabError(
            "NDB's links are not encrypted as planned",
            found=told,
            expected="TLS on every link that uses TCP",
            next_step="Look at the logs in the cluster's folder; nothing was measured.",
        )


def _named(links: list[tuple[int, int]]) -> str:
    return "plain text between nodes " + ", ".join(f"{one} and {other}" for one, other in links)


def _kind(server: Node, data_node: Node) -> str:
    """Return the transporter between a MySQL server and a data node: SHM only on one host."""
    return server.transporter.upper() if server.host == data_node.host else "TCP"
