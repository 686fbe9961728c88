"""One injection executed: what counts as a failure, and a whole one on a real cluster."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from campaign import execution, sandbox, target
from campaign.injection import Injection, draw
from campaign.target import CRASHED, INTERRUPTED, MEASURED, REPORTED, Ended
from ndblab.dataset import journal

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


def test_every_action_of_a_campaign_is_one_that_the_lab_performs():
    """No fault of the lab's own cuts a host off from the lab; a campaign does."""
    drawn = (execution.actions(draw(1, number)) for number in range(300))
    words = {action.words for done in drawn for action in target._actions(done)}
    assert any(said.startswith("cut the lab off from ") for said in words)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_lab_killed_while_it_saves_a_run_loses_nothing(monkeypatch, tmp_path: Path):
    """A real lab and cluster, killed as a run goes to the journal."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    failpoint = f"{journal.__name__}.{journal.contents.__name__}"
    killed = Injection(1, "lab-killed", repeats=2, signal="SIGKILL", failpoint=failpoint, call=2)
    with sandbox.opened(0) as own:
        outcome = execution.execute(killed, own, tmp_path / "evidence")
    assert outcome.injected, outcome.ended
    assert execution.CHECKS[1:] == tuple(c for c in execution.CHECKS if c in outcome.checks)
    assert outcome.sound, outcome.checks
