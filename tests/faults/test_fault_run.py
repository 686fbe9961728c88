"""A run through a fault: what is made of its operations, what is done to nodes, and all of it real.

Doubles of a cluster stand at the edge only: processes in the tests of faults are real ones.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pymysql
import pytest

from ndblab.analysis import write_history
from ndblab.cluster import lifecycle, readiness
from ndblab.error import LabError
from ndblab.experiments import catalogue, dry_run, measurement
from ndblab.faults import fault_run, injection
from ndblab.machine.local import LOCAL
from ndblab.planning import fault, profile
from ndblab.planning.fault import Action, Fault
from ndblab.workloads.checked_writes import client, replicas

PORT = 12960


def operations(*rows: tuple) -> pd.DataFrame:
    """Rows of client, server, t_s, latency_ms, outcome; all else is plain."""
    table = [
        (number, seq, "write", server, server, t_s, latency_ms, outcome, 1, 0)
        for seq, (number, server, t_s, latency_ms, outcome) in enumerate(rows)
    ]
    return pd.DataFrame(table, columns=list(client.Row._fields))


HISTORY = operations(
    (1, 1, 0.2, 1.0, "ok"),
    (2, 2, 0.4, 3.0, "ok"),
    (1, 1, 0.9, 2.0, "ok"),
    (2, 1, 3.1, 2600.0, "ok"),
    (1, 1, 3.2, 2200.0, "unknown"),
    (1, 2, 3.3, 90.0, "failed"),
    (2, 1, 3.4, 1.0, "wrong"),
    (2, 1, 4.2, 1.0, "ok"),
)


def test_a_second_without_an_answer_is_a_second_of_zero():
    """An outage is seen in the table of intervals, with no latency rather than a good one."""
    table = fault_run.intervals(HISTORY, 2, 4.3)
    assert list(table["t_s"]) == [1, 2, 3, 4]
    assert list(table["qps"]) == [3, 0, 0, 1]
    assert list(table["latency_p95_ms"].isna()) == [False, True, True, False]
    assert list(table["errors_per_s"]) == [0, 0, 0, 2]
    assert table["latency_p95_ms"].iloc[3] == 2600


def test_a_client_that_moves_to_another_server_is_a_reconnect():
    """Client 2 went from server 2 to 1, client 1 from 1 to 2: twice in the same second."""
    table = fault_run.intervals(HISTORY, 2, 4.3)
    assert list(table["reconnects_per_s"]) == [0, 0, 0, 2]


def test_only_what_was_answered_counts_as_a_query():
    """Given-up operations are errors; their latency is not averaged in."""
    row = fault_run.totals(HISTORY, 4.0)
    assert (row["queries"], row["errors"], row["reconnects"]) == (5, 2, 2)
    assert row["qps"] == 1.25
    assert row["latency_max_ms"] == 2600


def test_a_load_without_any_answer_has_no_latency():
    """A cluster that was dead from the start is a row of nothing, not a crash."""
    row = fault_run.totals(operations((1, 1, 0.5, 1.0, "failed")), 2.0)
    assert (row["queries"], row["errors"]) == (0, 1)
    assert pd.isna(row["latency_p95_ms"])


class Nodes:
    """A cluster of sleeping processes; a management node is never asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = (("ndbmtd", 1, 2), ("ndbmtd", 2, 3), ("mysqld", 1, 11))
        self.plan = SimpleNamespace(
            nodes=[
                SimpleNamespace(
                    role=role, number=n, name=f"{role}.{n}", node_id=i, data_dir=str(folder)
                )
                for role, n, i in names
            ]
        )
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


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Three processes that are ended whatever becomes of the test."""
    found = Nodes(tmp_path)
    monkeypatch.setattr(readiness, "wait_node", lambda cluster, node: None)
    yield found
    for child in found.processes.values():
        child.kill()
        child.wait()


def done(cluster, *actions: tuple) -> list[injection.Mark]:
    each = tuple(Action(*action) for action in actions)
    return list(injection.perform(cluster, Fault("made-up", "?", each, 1)))


def test_a_killed_node_is_started_and_marked_when_it_serves(nodes: Nodes):
    """The others are left alone; times are those of what was done."""
    before = {name: child.pid for name, child in nodes.processes.items()}
    marks = done(
        nodes, (0, "kill", "ndbmtd", 2), (0.3, "start", "ndbmtd", 2), (0.3, "wait", "ndbmtd", 2)
    )
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
    actions = ((0, "freeze", "mysqld", 1), (0.2, "thaw", "mysqld", 1), (0.4, "wait", "mysqld", 1))
    made_up = Fault("made-up", "?", tuple(Action(*a) for a in actions), 1)
    for _ in injection.perform(nodes, made_up):
        states.append(Path(f"/proc/{child.pid}/stat").read_text().split()[2])
    assert states[1] == "T"
    assert states[2] in "SR"


def test_what_needs_not_be_done_is_said_and_not_done(nodes: Nodes):
    """A node that ended by itself is not killed again; one that still runs is not started again."""
    nodes.processes["ndbmtd.2"].kill()
    nodes.processes["ndbmtd.2"].wait()
    survivor = nodes.processes["ndbmtd.1"].pid
    marks = done(nodes, (0, "kill", "ndbmtd", 2), (0, "start", "ndbmtd", 1))
    assert [m.text for m in marks] == ["ndbmtd.2 had ended by itself", "ndbmtd.1 still runs"]
    assert nodes.processes["ndbmtd.1"].pid == survivor


def test_a_data_node_that_refuses_to_stop_is_told(nodes: Nodes, monkeypatch):
    """What the management node said of it is in the message."""
    monkeypatch.setattr(injection, "STOP_PATIENCE_S", 0.1)
    refusal = "Shutdown failed.\n*  2002: Stop failed"
    monkeypatch.setattr(readiness, "ask_management", lambda cluster, command: refusal)
    with pytest.raises(LabError, match=r"ndbmtd\.2 did not stop") as caught:
        done(nodes, (0, "stop", "ndbmtd", 2))
    assert "Stop failed" in str(caught.value)


def test_a_fault_on_a_node_that_there_is_not_is_refused(nodes: Nodes):
    """The message names the node and what there is."""
    with pytest.raises(LabError, match=r"no mysqld\.2") as caught:
        done(nodes, (0, "kill", "mysqld", 2))
    assert "mysqld.1" in str(caught.value)


class Replicas:
    """A cluster that answers a survey; `asked` says which data nodes gave out the rows.

    Of rows of coordinators' own nodes `afar` too few are told.
    """

    def __init__(self, asked: dict[int, int], afar: int = 0) -> None:
        self.asked, self.afar, self.read = asked, afar, {2: 5, 3: 9}
        data_nodes = [SimpleNamespace(node_id=2), SimpleNamespace(node_id=3)]
        self.plan = SimpleNamespace(data_nodes=data_nodes)
        self.nearest, self.near, self.found = 0, 0, []

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        if "operations_per_fragment" in sql:
            return list(self.read.items())
        self.nearest = int(sql.split()[-1])
        return []

    def connect(self, server: int = 1) -> Replicas:
        self.near = 4 - self.afar  # some rows the server reads for itself
        return self

    def cursor(self) -> Replicas:
        return self

    def close(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        if "read_row_count" in sql:
            self.found = [("own", str(self.near)), ("all", str(self.near + self.afar))]
            return
        self.found = {
            "first": [(1, 0, "a"), (1, 4, "b")],
            "second": [(1, 4, "b")] if self.nearest == 3 else [(1, 4, "b"), (1, 0, "a")],
            "counters": [(1, 2)],
        }[sql.rpartition(".")[2]]
        self.near += len(self.found)
        self.read[self.asked[self.nearest]] += 1  # NDB counts some of the rows only

    def fetchall(self) -> list[tuple]:
        return self.found


def test_what_each_data_node_holds_is_told_row_by_row():
    """A row that one table of one replica lacks is there with an empty value."""
    copies, counters = replicas.take(Replicas({2: 2, 3: 3}))
    assert [(r, s) for r, s in zip(copies.replica, copies.seq, strict=True)] == [
        (2, 0), (3, 0), (2, 4), (3, 4),
    ]  # fmt: skip
    assert list(copies["first_value"]) == ["a", "a", "b", "b"]
    assert list(copies["second_value"].isna()) == [False, True, False, False]
    assert list(counters["replica"]) == [2, 3]


def test_a_data_node_that_let_another_answer_is_no_witness():
    """Equal replicas are worth nothing if one of them was read twice."""
    with pytest.raises(LabError, match="3 did not answer for itself"):
        replicas.take(Replicas({2: 2, 3: 2}))
    with pytest.raises(LabError, match="2 did not answer for itself"):
        replicas.take(Replicas({2: 2, 3: 3}, afar=1))


def test_one_server_cannot_be_killed_and_the_service_go_on():
    """The message says what to ask for, before anything is started."""
    experiment = catalogue.find("availability")
    with pytest.raises(LabError, match="cannot do without it"):
        experiment.sweep(experiment.size("quick", {"servers": 1}))


def test_faults_are_measured_without_quotas_unless_asked_for():
    """A restart under a quota would measure the quota; all faults share one cluster."""
    experiment = catalogue.find("availability")
    size = experiment.size("quick")
    shapes = {
        asked: experiment.cluster_shape(size, "kill-server", asked, lifecycle.places(Path("/lab")))
        for asked in ("auto", "scaled")
    }
    assert (shapes["auto"].budget, shapes["scaled"].budget) == ("shared", "scaled")
    assert len(experiment.clusters()) == 1
    assert {p.variant for p in experiment.sweep(size).points} == set(fault.FAULTS)


def test_a_dry_run_says_what_will_be_done_to_whom():
    """The load and every action stand there, with the seconds."""
    told = dry_run.dry_run(
        catalogue.find("availability"), "smoke", "auto", {"repeats": 1}, None, "brief"
    )
    assert "# 4 s: SIGKILL ndbmtd.2\n# 9 s: start ndbmtd.2" in told
    assert "-m ndblab.workloads.checked_writes.client --clients=8" in told


@pytest.mark.cluster
def test_a_data_node_and_a_server_die_and_no_acknowledged_write_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Real nodes, really killed: both serve again, and both replicas hold every write."""
    folder = tmp_path / "cluster"
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(folder))
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    experiment = catalogue.find("availability")
    size = {"duration_s": 2, "clients": 4}
    data = measurement.measure(experiment, "smoke", "auto", size, PORT, progress=False)
    runs = data.runs.set_index("variant")
    assert runs["status"].to_dict() == {"kill-data-node": "ok", "kill-server": "ok"}
    assert (runs["workload"] == "checked_writes").all()
    assert (runs["queries"] > 100).all()
    findings = write_history.of_runs(data.history, data.copies, data.counters)
    assert findings.keys() == set(runs["run_id"])
    for run_id, found in findings.items():
        assert found.sound, f"{run_id}: {found.words()}"
        assert (found.replicas, found.acknowledged > 50) == (2, True)
    copy = data.copies.iloc[-1]
    written = client.value(profile.PROFILES["smoke"].seed, copy["client"], copy["seq"])
    assert copy["first_value"] == copy["second_value"] == written
    events = data.events[data.events["event"].isin(["fault", "restart", "served"])]
    for name, victim in (("kill-data-node", 3), ("kill-server", 12)):
        own = events[events["run_id"] == runs.loc[name, "run_id"]]
        assert list(own["event"]) == ["fault", "restart", "served"]
        assert set(own["node_id"]) == {victim}
        assert own["t_s"].iloc[0] == pytest.approx(2, abs=0.5)
    operations = data.history[data.history["run_id"] == runs.loc["kill-server", "run_id"]]
    killed_s = events.loc[events["node_id"] == 12, "t_s"].min()
    assert set(operations.loc[operations["t_s"] > killed_s + 1, "server"]) == {1}
    assert {"client"} <= set(data.processes["role"])
    assert LOCAL.marked(folder) == []


def test_a_cluster_that_does_not_recover_is_a_result(monkeypatch):
    """Why not is the status of its run; nothing is read from half a cluster."""

    def never(cluster, node):
        raise LabError("Waited in vain for ndbmtd.2", found="nothing after 180 s")

    monkeypatch.setattr(readiness, "wait_node", never)
    plan = SimpleNamespace(nodes=[SimpleNamespace(node_id=2)])
    why = "Waited in vain for ndbmtd.2: nothing after 180 s"
    assert fault_run._held(SimpleNamespace(plan=plan)) == (why, {})

    def unread(cluster):
        raise pymysql.OperationalError(2013, "Lost connection")

    monkeypatch.setattr(readiness, "wait_node", lambda cluster, node: None)
    monkeypatch.setattr(replicas, "take", unread)
    status, held = fault_run._held(SimpleNamespace(plan=plan))
    assert "could not be read back" in status
    assert held == {}
