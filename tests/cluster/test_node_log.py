"""What nodes say in their logs, as captured from a real cluster of 9.7."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from ndblab.cluster import node_log

CLUSTER_LOG = (Path(__file__).parents[1] / "captured/ndb_mgmd/ndb_1_cluster.log").read_text()


def at_s(clock: str) -> float:
    return datetime.fromisoformat(f"2026-11-21T{clock}+00:00").timestamp()


def test_checkpoints_are_events_with_their_time_and_node():
    """Start and end of the checkpoint that followed the filling of the tables."""
    events = node_log.events(CLUSTER_LOG, at_s("01:15:38"), at_s("01:15:46.2"))
    checkpoints = [e for e in events if e.event.startswith("local_checkpoint")]
    assert [(e.event, e.node_id) for e in checkpoints] == [
        ("local_checkpoint_started", 2),
        ("local_checkpoint_completed", 2),
    ]
    assert checkpoints[0].at_s == pytest.approx(at_s("01:15:38.949674"))
    assert checkpoints[0].text.startswith("Local checkpoint 2 started")


def test_only_events_of_the_requested_span_are_reported():
    """A run does not report events from the start of its cluster."""
    assert node_log.events(CLUSTER_LOG, at_s("01:20:00"), at_s("02:20:00")) == []
    early = node_log.events(CLUSTER_LOG, 0, at_s("01:15:28"))
    assert {e.event for e in early} >= {"node_connected", "warning", "local_checkpoint_started"}


def test_the_lines_of_a_span_are_given_as_they_are():
    """The log of a run is copied word for word."""
    lines = node_log.between(CLUSTER_LOG, at_s("01:15:38"), at_s("01:15:46.2"))
    assert set(lines.splitlines()) <= set(CLUSTER_LOG.splitlines())
    assert "Local checkpoint 2 started" in lines


def test_lines_of_older_versions_are_in_local_time(monkeypatch):
    """Before 9.0 a line has no zone and whole seconds."""
    import time

    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    old = "2026-11-21 03:15:46 [MgmtSrvr] INFO     -- Node 2: Local checkpoint 2 completed\n"
    events = node_log.events(old, at_s("01:15:45"), at_s("01:15:47"))
    monkeypatch.undo()
    time.tzset()
    assert [e.event for e in events] == ["local_checkpoint_completed"]


def test_a_data_node_gives_its_last_error_as_the_reason():
    """Message, data and object of the newest entry of its error log; else its last lines."""
    own = "Message: Old\nError data: old\nError object: x\nMessage: Invalid\nError data: query\n"
    assert node_log.reason("ndbmtd", own, "") == "x; Invalid; query"
    assert node_log.reason("ndbmtd", "", "a\nb\nc\nd\n") == "b / c / d"
    assert node_log.reason("mysqld", "", "") == "nothing in its log"


def test_what_a_data_node_warned_of_before_a_signal_is_its_reason():
    """Its error log has only the signal; LongMessageBuffer=512K on a data node of 9.7.4."""
    own = (
        "Message: Error OS signal received (Internal error, programming error or missing error "
        "message, please report a bug)\nError: 6000\nError data: Signal 6 received; Aborted\n"
        "Error object: storage/ndb/src/kernel/ndbd.cpp\n"
    )
    output = (
        "2026-11-27T00:26:22.796137Z [ndbd] WARNING  -- The long message buffer is out of free "
        "elements. This may cause the data node to crash.\n"
        "2026-11-27T00:26:22.796137Z [ndbd] INFO     -- Received signal 6. Running error handler.\n"
        "2026-11-27T00:26:22.958133Z [ndbd] WARNING  -- Ndb kernel thread 0 is stuck in: "
        "JobHandling in block: 250, gsn: 334 elapsed=100\n"
    )
    reason = node_log.reason("ndbmtd", own, output)
    assert reason.startswith("The long message buffer is out of free elements")
    assert "crash; Error OS signal" in reason
    assert "stuck" not in reason
    assert "Signal 6 received; Aborted" in reason
    unwarned = node_log.reason("ndbmtd", own, output.partition("\n")[2])
    assert unwarned.startswith("Error OS signal received")
