"""What is done to nodes, which are sleeping processes here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.cluster import readiness
from ndblab.error import LabError
from ndblab.experiments.availability import injection
from ndblab.experiments.availability.fault import Action, Fault, NetworkAction
from ndblab.machine import THIS_MACHINE
from ndblab.machine.local import LOCAL


class Nodes:
    """A cluster of sleeping processes; a management node is never asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = (("ndbmtd", 1, 2), ("ndbmtd", 2, 3), ("mysqld", 1, 11))
        self.plan = SimpleNamespace(
            nodes=[
                SimpleNamespace(
                    role=role,
                    number=n,
                    name=f"{role}.{n}",
                    node_id=i,
                    data_dir=str(folder),
                    host=f"host {i}",
                )
                for role, n, i in names
            ]
        )
        self.links: Links | None = None
        self.sites: dict[str, None] = {}
        self.processes: dict[str, subprocess.Popen] = {}
        for node in self.plan.nodes:
            self.start_again(node)

    def start_again(self, node) -> None:
        sleep = "import time; time.sleep(60)"
        self.processes[node.name] = subprocess.Popen([sys.executable, "-c", sleep])

    def machine_of(self, node):
        return LOCAL

    def runs(self, node) -> bool:
        return self.processes[node.name].poll() is None

    def lost(self, host: str) -> None:
        self.links.done.append(("lost", host))

    def regained(self, host: str) -> None:
        self.links.done.append(("regained", host))


class Links:
    """Links that only remember what is done to them."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ...]] = []

    def drop(self, sender: str, receiver: str) -> None:
        self.done.append(("drop", sender, receiver))

    def heal(self) -> None:
        self.done.append(("heal",))

    def power_off(self, host: str) -> None:
        self.done.append(("power off", host))

    def power_on(self, host: str) -> None:
        self.done.append(("power on", host))


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Three processes that are ended however the test ends."""
    sleeping = Nodes(tmp_path)
    monkeypatch.setattr(readiness, "wait_node", lambda cluster, node: None)
    yield sleeping
    for child in sleeping.processes.values():
        child.kill()
        child.wait()


def done(cluster, *actions: Action | NetworkAction) -> list[injection.Mark]:
    return list(injection.perform(cluster, Fault("made-up", "?", actions, 1)))


def test_a_killed_node_is_started_and_marked_when_it_serves(nodes: Nodes):
    """The others are left alone; a mark has the time of its action."""
    before = {name: child.pid for name, child in nodes.processes.items()}
    again = Action(0.3, "start", "ndbmtd", 2), Action(0.3, "wait", "ndbmtd", 2)
    marks = done(nodes, Action(0, "kill", "ndbmtd", 2), *again)
    assert [(m.node_id, m.event, m.text) for m in marks] == [
        (3, "fault", "SIGKILL ndbmtd.2"),
        (3, "restart", "start ndbmtd.2"),
        (3, "served", "ndbmtd.2 serves"),
    ]
    assert 0.2 < marks[1].at - marks[0].at < 1
    after = {name: child.pid for name, child in nodes.processes.items()}
    assert {name for name in after if after[name] != before[name]} == {"ndbmtd.2"}
    assert all(nodes.runs(node) for node in nodes.plan.nodes)


def test_a_frozen_node_does_nothing_until_it_is_thawed(nodes: Nodes):
    """SIGSTOP and SIGCONT reach the process itself."""
    child = nodes.processes["mysqld.1"]
    states = []
    times = ((0, "freeze"), (0.2, "thaw"), (0.4, "wait"))
    actions = tuple(Action(at_s, what, "mysqld", 1) for at_s, what in times)
    for _ in injection.perform(nodes, Fault("made-up", "?", actions, 1)):
        states.append(Path(f"/proc/{child.pid}/stat").read_text().split()[2])
    assert states[1] == "T"
    assert states[2] in "SR"


def test_what_is_done_already_is_marked_and_not_repeated(nodes: Nodes):
    """A node that ended by itself is not killed, and one that still runs is not started."""
    nodes.processes["ndbmtd.2"].kill()
    nodes.processes["ndbmtd.2"].wait()
    survivor = nodes.processes["ndbmtd.1"].pid
    marks = done(nodes, Action(0, "kill", "ndbmtd", 2), Action(0, "start", "ndbmtd", 1))
    assert [m.text for m in marks] == ["ndbmtd.2 had ended by itself", "ndbmtd.1 still runs"]
    assert nodes.processes["ndbmtd.1"].pid == survivor


def test_a_data_node_that_refuses_to_stop_is_an_error(nodes: Nodes, monkeypatch):
    """The message has the management node's answer."""
    monkeypatch.setattr(injection, "STOP_PATIENCE_S", 0.1)
    refusal = "Shutdown failed.\n*  2002: Stop failed"
    monkeypatch.setattr(readiness, "ask_management", lambda cluster, command: refusal)
    with pytest.raises(LabError, match=r"ndbmtd\.2 did not stop") as caught:
        done(nodes, Action(0, "stop", "ndbmtd", 2))
    assert "Stop failed" in str(caught.value)


def test_a_fault_on_a_missing_node_is_refused(nodes: Nodes):
    """The message names the node and those that exist."""
    with pytest.raises(LabError, match=r"no mysqld\.2") as caught:
        done(nodes, Action(0, "kill", "mysqld", 2))
    assert "mysqld.1" in str(caught.value)


@pytest.mark.parametrize(
    ("what", "ends", "dropped"),
    [
        ("cut", ("ndbmtd.1", "ndbmtd.2"), [("host 2", "host 3"), ("host 3", "host 2")]),
        ("drop", ("ndbmtd.1", "ndbmtd.2"), [("host 2", "host 3")]),
        ("cut-off", ("mysqld.1",), [(THIS_MACHINE, "host 11")]),
    ],
)
def test_a_link_is_cut_in_one_direction_or_in_both(nodes: Nodes, what, ends, dropped):
    """It is that between the hosts of the nodes; the mark has the node that is named last."""
    nodes.links = Links()
    cut = NetworkAction(0, what, ends)
    marks = done(nodes, cut, NetworkAction(0.1, "heal"))
    assert nodes.links.done == [*(("drop", *pair) for pair in dropped), ("heal",)]
    assert [mark.event for mark in marks] == ["fault", "healed"]
    assert marks[0].node_id == next(n.node_id for n in nodes.plan.nodes if n.name == ends[-1])
    assert marks[0].text == cut.words


def test_a_host_loses_its_power_and_is_connected_to_again(nodes: Nodes):
    """The connection is given up as soon as it is off, and made anew once it is on."""
    nodes.links = Links()
    host = ("ndbmtd.2",)
    done(nodes, NetworkAction(0, "power-off", host), NetworkAction(0.1, "power-on", host))
    expected = ["power off", "lost", "power on", "regained"]
    assert nodes.links.done == [(what, "host 3") for what in expected]


def test_a_cluster_whose_links_cannot_be_cut_says_so(nodes: Nodes):
    """The message says where they can."""
    with pytest.raises(LabError, match="cannot be cut") as caught:
        done(nodes, NetworkAction(0, "cut", ("ndbmtd.1", "ndbmtd.2")))
    assert "a cluster on one host" in str(caught.value)
    assert "--hosts namespaces" in caught.value.next_step
    injection.heal(nodes)
