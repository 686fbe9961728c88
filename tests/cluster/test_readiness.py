"""Waiting for a cluster ends, and says what it waited for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ndblab.cluster import readiness
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment


def test_waiting_in_vain_ends_with_what_was_waited_for():
    """The message names it; nothing hangs."""
    with pytest.raises(LabError, match="Timed out waiting for the moon"):
        readiness.wait_until(lambda: False, 0.1, "the moon")


def test_waiting_for_a_data_node_in_vain_ends_with_what_the_management_node_reports(monkeypatch):
    """It may have lost sight of a node that serves."""
    answer = "Node 2: not connected\nNode 3: started (mysql-9.7.4 ndb-9.7.4)\n"
    monkeypatch.setattr(readiness, "ask_management", lambda cluster, command: answer)
    monkeypatch.setattr(readiness, "DATA_NODE_TIMEOUT_S", 0.1)
    plan = deployment.make(host.read(), deployment.Shape(1, 1000, 8))
    cluster = SimpleNamespace(plan=plan, check_alive=lambda node: None)
    with pytest.raises(LabError, match=r"ndbmtd\.1") as caught:
        readiness.wait_node(cluster, plan.data_nodes[0])
    assert "reports node 2 not connected, node 3 started after" in caught.value.found


def pooled(monkeypatch: pytest.MonkeyPatch, *answers: list[tuple[int, int, str]]):
    """Give a cluster of servers with 1 and 2 connections, and what ndbinfo says in turns."""
    said = list(answers)
    monkeypatch.setattr(
        readiness, "transporters", lambda _: said.pop(0) if len(said) > 1 else said[0]
    )
    shape = deployment.Shape(2, 1000, 8, connection_pools=(1, 2))
    return SimpleNamespace(plan=deployment.make(host.read(), shape))


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
    with pytest.raises(LabError, match="connection pools"):
        readiness.check_transporters(pooled(monkeypatch, LINKS[:5]))


def test_every_connection_of_a_pool_has_the_transporter_of_its_server(monkeypatch):
    """Not only the first one."""
    wrong = [*LINKS[:5], (3, 13, "TCP")]
    with pytest.raises(LabError, match="not connected as planned") as caught:
        readiness.check_transporters(pooled(monkeypatch, wrong))
    assert "node 13" in str(caught.value)
