"""One injection executed: what counts as a failure, and a whole one on a real cluster."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from campaign import execution, sandbox, target
from campaign.injection import SILENCE_S, Injection
from campaign.target import CRASHED, INTERRUPTED, MEASURED, REPORTED, Ended
from ndblab.machine import files

KILLED = -signal.SIGKILL


@pytest.mark.parametrize(
    ("injection", "code", "injected", "well"),
    [
        (Injection(1, "lab-killed", signal="SIGKILL"), KILLED, True, True),
        (Injection(1, "lab-killed", signal="SIGKILL"), MEASURED, False, True),
        (Injection(1, "lab-killed", signal="SIGKILL"), REPORTED, False, False),
        (Injection(1, "terminated", signal="SIGINT"), INTERRUPTED, True, True),
        (Injection(1, "terminated", signal="SIGINT"), CRASHED, True, False),
        (Injection(1, "terminated", signal="SIGTERM"), -signal.SIGTERM, True, True),
        (Injection(1, "disk-full", disk="runs"), REPORTED, True, True),
        (Injection(1, "disk-full", disk="runs"), REPORTED, False, False),
        (Injection(1, "disk-full", disk="runs"), CRASHED, True, False),
        (Injection(1, "disk-full", disk="runs"), None, True, False),
        (Injection(1, "load-stopped", load="sysbench"), MEASURED, True, True),
        (Injection(1, "load-stopped", load="sysbench"), REPORTED, True, False),
        (Injection(1, "node-killed", role="mysqld", node=1), MEASURED, True, True),
        (Injection(1, "node-killed", role="mysqld", node=1), MEASURED, False, False),
    ],
)
def test_a_lab_may_end_by_its_signal_well_or_with_one_message(injection, code, injected, well):
    """It never hangs or shows a traceback, and fails for no reason but the fault."""
    ended = Ended(code, {"injected": "here"} if injected else {})
    assert (execution.complaint(injection, ended) == "") is well


def test_a_node_recovers_from_its_fault_before_the_run_ends():
    """A killed node is started again, a frozen one thawed, and both are waited for."""
    killed = Injection(1, "node-killed", role="ndbmtd", node=2, moment_s=0.5)
    frozen = Injection(1, "node-frozen", role="mysqld", node=1, moment_s=0.5, pause_s=1.25)
    what = [(each[0], each[1]) for each in execution.actions(killed)]
    assert what == [(0.5, "kill"), (0.5, "start"), (0.5, "wait")]
    what = [(each[0], each[1]) for each in execution.actions(frozen)]
    assert what == [(0.5, "freeze"), (1.75, "thaw"), (1.75, "wait")]


def test_a_network_recovers_from_its_fault_before_the_run_ends():
    """Links are healed and hosts powered on, data nodes started, all nodes waited for."""
    done = {}
    for kind, ends in {
        "partition": ("ndbmtd.2", "ndbmtd.1", "ndb_mgmd.1", "ndbmtd.2"),
        "one-way-loss": ("ndbmtd.2", "ndbmtd.1"),
        "host-lost": ("ndbmtd.2",),
    }.items():
        injection = Injection(1, kind, moment_s=0.5, ends=ends)
        done[kind] = execution.actions(injection)
    assert done["partition"][:2] == (
        (0.5, "cut", ("ndbmtd.2", "ndbmtd.1")),
        (0.5, "cut", ("ndb_mgmd.1", "ndbmtd.2")),
    )
    assert done["one-way-loss"][:2] == (
        (0.5, "drop", ("ndbmtd.2", "ndbmtd.1")),
        (target.CUT_S + 0.5, "heal", ()),
    )
    assert [each[1] for each in done["host-lost"]] == [
        "power-off", "power-on", *["start"] * 2, *["wait"] * 5,
    ]  # fmt: skip


def test_a_connection_that_is_cut_for_too_long_ends_the_lab_and_a_short_one_does_not():
    """The short cut is an action of a run; the long one comes from outside and needs a cluster."""
    short = Injection(1, "ssh-cut", moment_s=0.5, pause_s=2.5, ends=("mysqld.1",))
    long = replace(short, pause_s=SILENCE_S + 2)
    assert execution.actions(short) == ((0.5, "cut-off", ("mysqld.1",)), (3.0, "heal", ()))
    assert (short.shares, short.loses_lab) == ("network", False)
    assert (long.shares, long.loses_lab, execution.actions(long)) == ("", True, ())


def test_faults_of_a_network_are_skipped_where_there_is_none(tmp_path: Path):
    """With the reason, for each of them."""
    own = sandbox.Sandbox(tmp_path, 1, 0, no_hosts="only root can make network namespaces")
    group = [Injection(n, "partition", ends=("ndbmtd.1", "ndbmtd.2")) for n in (1, 2)]
    outcomes = execution.execute_together(group, own, tmp_path / "evidence")
    assert [each.skipped for each in outcomes] == [own.no_hosts] * 2


@pytest.mark.slow
@pytest.mark.cluster
def test_a_lab_killed_while_it_saves_a_run_loses_nothing(monkeypatch, tmp_path: Path):
    """A real lab and cluster, counted undisturbed, then killed as a run gets its final name."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    failpoint = f"{files.__name__}.{files.replace_folder.__name__}"
    with sandbox.opened(0) as own:
        own.warm_up()
        # The dataset's own folder is the first, then comes one for each run. What `warm_up` counted
        # says nothing about them: its contrasts are measured again where others disturb them.
        assert own.calls["shared"][failpoint] > 2
        killed = Injection(
            1, "lab-killed", repeats=2, signal="SIGKILL", failpoint=failpoint, call=3
        )
        outcome = execution.execute(killed, own, tmp_path / "evidence")
    assert outcome.injected, outcome.ended
    assert execution.CHECKS[1:] == tuple(c for c in execution.CHECKS if c in outcome.checks)
    assert outcome.sound, outcome.checks
