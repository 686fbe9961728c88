"""An attached cluster on this host or elsewhere, and what happens to it meanwhile."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pymysql
import pytest

from attached_facts import facts
from ndblab.attach import cluster as attached
from ndblab.attach import plan as planning
from ndblab.attach.cluster import Attached, Beside
from ndblab.attach.endpoint import Endpoint
from ndblab.attach.facts import Facts
from ndblab.attach.login import Login
from ndblab.attach.target import Target
from ndblab.error import LabError
from ndblab.machine.interference import Reading
from ndblab.planning.shape import Places

NAME = Path("/proc/self/comm").read_text().strip()


def known(**changes: object) -> Facts:
    """The captured cluster, all its processes this one."""
    processes = tuple(
        dataclasses.replace(process, pid=os.getpid(), name=NAME) for process in facts().processes
    )
    return facts(**{"processes": processes, **changes})


@pytest.fixture
def cluster(tmp_path: Path) -> Attached:
    plan = planning.plan(facts(), Places(str(tmp_path), str(tmp_path)), 64)
    return Attached(plan, None, tmp_path)


def here(shown: Facts) -> list[int]:
    plan = planning.plan(shown, Places("/x", "/x"), 64)
    return [node for _, node, _ in attached.local_processes(shown, plan)]


def test_processes_of_this_host_are_known_by_address_and_name() -> None:
    """An id alone may be that of any process here."""
    assert here(known()) == [1, 2, 3, 11, 12]
    away = tuple(
        dataclasses.replace(n, address="198.51.100.7") if n.node_id == 3 else n
        for n in facts().nodes
    )
    assert here(known(nodes=away)) == [1, 2, 11, 12]
    others = tuple(dataclasses.replace(process, pid=os.getpid()) for process in facts().processes)
    assert here(known(processes=others)) == []


def test_nodes_on_this_host_are_no_company() -> None:
    """They are what is measured; everybody else is."""
    machine = SimpleNamespace(company=lambda: Reading(1.0, 2.0, {5: "theirs", 6: "node"}))
    assert dict(Beside(machine, {6}).company().others) == {5: "theirs"}


@pytest.mark.parametrize(
    ("after", "word"),
    [
        ([(2, "STARTED", 110), (3, "STARTED", 3)], "data node 3 was restarted"),
        ([(2, "STARTED", 110), (3, "STARTING", 3)], "data node 3"),
        ([(2, "STARTED", 110)], "data node 3 is not connected"),
    ],
)
def test_a_cluster_that_changes_ends_the_measurement(cluster, monkeypatch, after, word) -> None:
    """What its administrator does to it is no result."""
    answers = iter([[(2, "STARTED", 100), (3, "STARTED", 100)], after])
    monkeypatch.setattr(cluster, "query", lambda *_: next(answers))
    cluster.check_alive()
    with pytest.raises(LabError, match="changed while it was measured") as caught:
        cluster.check_alive()
    assert word in caught.value.found


def test_a_cluster_that_does_not_answer_ends_the_measurement(cluster, monkeypatch) -> None:
    def query(*_: object) -> None:
        raise pymysql.OperationalError(2003, "gone")

    monkeypatch.setattr(cluster, "query", query)
    with pytest.raises(LabError, match="does not answer"):
        cluster.check_alive()


def test_nothing_of_it_is_started_limited_or_configured(cluster) -> None:
    """Whoever calls for that has a bug."""
    [node, *_] = cluster.plan.data_nodes
    cluster.limit({"mysqld": 0.5})
    assert (cluster.groups, cluster.placed, cluster.processes) == ({}, set(), {})
    for action in (cluster.start_node, cluster.start_again):
        with pytest.raises(ValueError, match="not the lab's to start"):
            action(node)
    with pytest.raises(ValueError, match="not the lab's to change"):
        cluster.tell_neighbours(True)


def test_only_a_load_generator_can_read_the_password(tmp_path, cluster) -> None:
    """It is in memory, and not in the command line or the environment."""
    code = "import os; print(open('/proc/self/fd/%s').read(), end='')"
    with attached.secret(Login("bench", "secret")) as options:
        cluster.options = options
        argv = [sys.executable, "-c", code % options]
        child = cluster.spawn_client(argv, stdout=-1, text=True)
        assert child.communicate()[0] == 'mysql-password="secret"\n'
        plain = cluster.machine.spawn(argv, stdout=-1, stderr=-1, text=True)
        assert "secret" not in plain.communicate()[0]
    with attached.secret(Login("bench")) as nothing:
        assert nothing is None


def test_a_server_that_is_not_there_is_named(tmp_path) -> None:
    """As is what to change."""
    named = Target("db1", (Endpoint(socket=str(tmp_path / "no.sock")),), Login("bench"))
    with pytest.raises(LabError, match=r"no\.sock refuses connections") as caught:
        named.session(1).__enter__()
    assert "--endpoints" in str(caught.value)
