"""Waiting for a cluster ends, and says what it waited for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pymysql
import pytest

from ndblab.cluster import readiness, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment

STARTING = """\
2026-11-27T09:30:22.590429Z [ndbd] INFO     -- Alloc node id for node 19 succeeded
2026-11-27T09:30:23.139670Z [ndbd] INFO     -- Node 19 Connected
"""
ERROR_LOG = "2026-11-27T09:32:23.572036Z 2 [System] [MY-010865] [NDB] Data node 3 reports subscribe"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Two data nodes and two MySQL servers that run, have logs, and get next to no time."""
    for limit in ("MANAGEMENT_TIMEOUT_S", "DATA_NODE_TIMEOUT_S", "SERVER_TIMEOUT_S"):
        monkeypatch.setattr(readiness, limit, 0.1)
    shape = deployment.Shape(2, 1000, 8, places=start_stop.places(tmp_path, 64000))
    plan = deployment.make(host.read(), shape)
    cluster = Cluster(plan, None, tmp_path)
    for node in plan.data_nodes:
        cluster.output(node).parent.mkdir(exist_ok=True)
        cluster.output(node).write_text(STARTING)
    for node in plan.servers:
        Path(node.data_dir).mkdir()
        (Path(node.data_dir) / "error.log").write_text(f"{ERROR_LOG} from node {node.node_id}\n")
    return cluster


def answers(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(readiness, "ask_management", lambda cluster, command: text)


def test_waiting_for_a_data_node_in_vain_ends_with_what_the_management_node_reports(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
):
    """It may have lost sight of a node that serves. The node's log and its place are told."""
    answers(monkeypatch, "Node 2: not connected\nNode 3: started (mysql-9.7.4 ndb-9.7.4)\n")
    with pytest.raises(LabError, match=r"^Timed out waiting for ndbmtd\.1 \(node 2\)") as caught:
        readiness.wait_node(cluster, cluster.plan.data_nodes[0])
    failure = caught.value
    assert "reports node 2 not connected, node 3 started after" in failure.found
    assert failure.found.endswith("-- Node 19 Connected")
    assert f"{cluster.folder}/logs" in failure.next_step


def test_only_the_data_nodes_that_have_not_started_are_waited_for_in_vain(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
):
    """The others are not to be looked at."""
    answers(monkeypatch, "Node 2: started (mysql-9.7.4)\nNode 3: starting (Last phase 4)\n")
    bar = SimpleNamespace(update=lambda *_: None)
    with pytest.raises(LabError, match=r"waiting for ndbmtd\.2 \(node 3\)\.") as caught:
        readiness.wait_data_nodes(cluster, bar)
    assert "node 3 starting after" in caught.value.found


def test_a_management_node_that_does_not_listen_is_named_with_its_port(cluster: Cluster):
    """Nothing is known of the cluster then."""
    node = cluster.plan.management_node
    with pytest.raises(LabError, match=r"waiting for ndb_mgmd\.1 \(node 1\)") as caught:
        readiness.wait_management(cluster)
    assert f"nothing listens on port {node.port}" in caught.value.found


@pytest.mark.parametrize(
    ("seen", "words"), [(1, "it sees 1 of 2 data nodes"), (None, "no answer (Can't connect")]
)
def test_a_server_that_does_not_serve_is_named_with_what_it_lacks(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, seen: int | None, words: str
):
    """And with the end of its own log, not that of a server that serves."""

    def query(sql: str, server: int) -> list[tuple]:
        if server == 2 and seen is None:
            raise pymysql.OperationalError(2003, "Can't connect to MySQL server")
        return [("Ndb_number_of_ready_data_nodes", str(2 if server == 1 else seen))]

    monkeypatch.setattr(cluster, "query", query)
    late = cluster.plan.servers[1]
    bar = SimpleNamespace(update=lambda *_: None)
    with pytest.raises(
        LabError, match=rf"waiting for mysqld\.2 \(node {late.node_id}\)\."
    ) as caught:
        readiness.wait_servers(cluster, bar)
    failure = caught.value
    assert failure.found.startswith(words)
    assert failure.found.endswith(f"from node {late.node_id}")
    assert late.data_dir in failure.next_step


def pooled(monkeypatch: pytest.MonkeyPatch, *answers: list[tuple[int, int, str]]) -> Cluster:
    """Give a cluster of servers with 1 and 2 connections, and what ndbinfo says in turns."""
    said = list(answers)
    monkeypatch.setattr(
        readiness, "transporters", lambda _: said.pop(0) if len(said) > 1 else said[0]
    )
    shape = deployment.Shape(2, 1000, 8, connection_pools=(1, 2))
    return Cluster(deployment.make(host.read(), shape), None, Path("/none"))


LINKS = [(node, remote, "SHM") for node in (2, 3) for remote in (11, 12, 13)]


def test_a_cluster_waits_for_all_connections_of_its_pools(monkeypatch):
    """A server serves with the first one."""
    asked = []
    cluster = pooled(monkeypatch, LINKS[:4], LINKS[:5], LINKS)
    monkeypatch.setattr(readiness.time, "sleep", asked.append)
    readiness.check_transporters(cluster)
    assert len(asked) == 2


def test_a_connection_that_never_comes_up_is_an_error(monkeypatch):
    """A smaller pool than planned would be measured under a wrong name."""
    monkeypatch.setattr(readiness, "SERVER_TIMEOUT_S", 0.1)
    with pytest.raises(LabError, match=r"waiting for mysqld\.2 \(node 12\)\.") as caught:
        readiness.check_transporters(pooled(monkeypatch, LINKS[:5]))
    assert caught.value.found.startswith("1 of 6 connections to data nodes missing")


def test_every_connection_of_a_pool_has_the_transporter_of_its_server(monkeypatch):
    """Not only the first one."""
    wrong = [*LINKS[:5], (3, 13, "TCP")]
    with pytest.raises(LabError, match="not connected as planned") as caught:
        readiness.check_transporters(pooled(monkeypatch, wrong))
    assert "node 13" in str(caught.value)
