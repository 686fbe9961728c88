"""Runs with a fault: what is measured, what becomes of a dead cluster, and all of it for real."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.cluster import readiness, start_stop
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.availability import fault, history, injection, written_value
from ndblab.machine.local import LOCAL
from ndblab.measuring import dry_run, measured_run
from ndblab.measuring.request import Request
from ndblab.planning import profile


@pytest.mark.parametrize(("servers", "why"), [(1, "cannot survive losing it"), (4, "act on two")])
def test_faults_need_two_servers(servers: int, why: str):
    """One could not be lost, a third would be left out: refused before anything starts."""
    experiment = catalogue.find("availability")
    with pytest.raises(LabError, match=why):
        experiment.sweep(experiment.size("quick", {"servers": servers}))


def faulty(monkeypatch, **cluster: object):
    """Measure a made-up fault on a double of a cluster, beside other work."""
    run = measured_run.Run({}, disturbance="chromium uses 31 % of the CPUs")
    load = SimpleNamespace(generator=None, finish=lambda: None, result=lambda *_: run)
    monkeypatch.setattr(measured_run, "under_load", lambda *_: contextlib.nullcontext(load))
    monkeypatch.setattr(injection, "_recover", lambda *_: ("it is dead", {}))
    known = {"links": None, "pids": list, "check_alive": lambda: None, **cluster}
    job = SimpleNamespace(profile=SimpleNamespace(warmup_s=0, duration_s=0))
    return injection.measure(SimpleNamespace(**known), job, 1, fault.Fault("made-up", "?", (), 1))


def test_what_a_fault_did_is_kept_beside_other_work(monkeypatch):
    """It is never measured again in the hope of a better outcome."""
    kept = faulty(monkeypatch)
    assert (kept.disturbance, kept.recovered) == ("", False)


def test_a_node_that_ends_before_the_fault_is_not_the_faults(monkeypatch):
    """The run fails, as one without a fault does."""

    def dead():
        raise LabError("mysqld.2 has ended")

    with pytest.raises(LabError, match="has ended"):
        faulty(monkeypatch, check_alive=dead)


def test_faults_are_measured_without_quotas_unless_asked_for():
    """A restart under a quota would measure the quota; faults without a setting share a cluster."""
    experiment = catalogue.find("availability")
    size = experiment.size("quick")
    shapes = {
        asked: experiment.cluster_shape(size, "kill-server", asked, start_stop.places(Path("/lab")))
        for asked in ("auto", "scaled")
    }
    assert (shapes["auto"].budget, shapes["scaled"].budget) == ("shared", "scaled")
    assert len(experiment.clusters()) == 3
    assert {p.variant for p in experiment.sweep(size).points} == set(fault.FAULTS)


def test_a_dry_run_lists_the_actions_of_a_fault():
    """The command of the load and every action, with its second."""
    request = Request("smoke", overrides={"repeats": 1})
    text = dry_run.dry_run(catalogue.find("availability"), request, "brief")
    assert "# 4 s: SIGKILL ndbmtd.2\n# 9 s: start ndbmtd.2" in text
    assert "-m ndblab.experiments.availability.client --clients=8" in text


@pytest.mark.slow
@pytest.mark.cluster
def test_a_data_node_and_a_server_die_and_no_acknowledged_write_is_lost(measure, tmp_path):
    """Real nodes, really killed: both serve again, and both replicas hold every write."""
    data = measure(catalogue.find("availability"), size={"duration_s": 2, "clients": 4})
    runs = data.runs.set_index("variant")
    assert runs["status"].to_dict() == {"kill-data-node": "ok", "kill-server": "ok"}
    assert (runs["workload"] == "checked_writes").all()
    assert (runs["queries"] > 100).all()
    findings = history.of_runs(data.history, data.copies, data.counters)
    assert findings.keys() == set(runs["run_id"])
    for run_id, checked in findings.items():
        assert checked.sound, f"{run_id}: {checked.words()}"
        assert (checked.replicas, checked.acknowledged > 50) == (2, True)
    copy = data.copies.iloc[-1]
    written = written_value(profile.PROFILES["smoke"].seed, copy["client"], copy["seq"])
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
    assert LOCAL.marked(tmp_path / "cluster") == []


def test_a_cluster_that_does_not_recover_is_a_result(monkeypatch):
    """The status of its run says why; nothing is read from half a cluster."""
    cluster = SimpleNamespace(plan=SimpleNamespace(nodes=[SimpleNamespace(node_id=2)]))
    generator = SimpleNamespace(read_back=lambda cluster: pytest.fail("was read"))

    def never(cluster, node):
        raise LabError("Timed out waiting for ndbmtd.2", found="nothing after 180 s")

    monkeypatch.setattr(readiness, "wait_node", never)
    why = "Timed out waiting for ndbmtd.2: nothing after 180 s"
    assert injection._recover(cluster, generator) == (why, {})
