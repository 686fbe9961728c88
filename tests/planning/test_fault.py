"""Faults as data: what is done, in words that a figure and a dry run can show."""

from __future__ import annotations

import json

import pytest

from ndblab.error import LabError
from ndblab.planning import fault
from ndblab.planning.fault import FAULTS, Action


@pytest.mark.parametrize("each", FAULTS.values(), ids=lambda f: f.name)
def test_every_node_that_is_hurt_serves_again(each: fault.Fault):
    """Every node that is killed, frozen or stopped is started and waited for, in this order."""
    for node in {a.node for a in each.actions if a.what in ("kill", "freeze", "stop")}:
        done = [a.what for a in each.actions if a.node == node]
        assert done[-2:] == ["start", "wait"]


def test_a_survivor_that_may_have_given_up_is_started_too():
    """Without an arbitrator either data node may be gone, and the servers have to find them."""
    done = [a.words for a in FAULTS["lose-arbitrator"].actions]
    assert {"start ndbmtd.1", "wait for mysqld.1", "wait for mysqld.2"} <= set(done)
    assert done.index("SIGKILL ndb_mgmd.1") < done.index("SIGKILL ndbmtd.2")


@pytest.mark.parametrize("each", FAULTS.values(), ids=lambda f: f.name)
def test_actions_are_in_the_order_of_their_times(each: fault.Fault):
    """Each has a name that is a run's, and its first action is when it begins."""
    times = [action.at_s for action in each.actions]
    assert times == sorted(times)
    assert times[0] == 0
    assert FAULTS[each.name] is each


def test_a_frozen_data_node_is_thawed_after_it_was_declared_dead():
    """Four heartbeats of 5 s, NDB's own, are 20 s; thawed sooner it would only have been slow."""
    thaw = next(a for a in FAULTS["freeze-data-node"].actions if a.what == "thaw")
    assert thaw.at_s > 4 * 5


def test_a_rolling_restart_takes_every_node_in_turn():
    """One is stopped only when the one before serves again."""
    actions = FAULTS["rolling-restart"].actions
    nodes = [a.node for a in actions[::3]]
    assert nodes == ["ndb_mgmd.1", "ndbmtd.1", "ndbmtd.2", "mysqld.1", "mysqld.2"]
    assert [a.what for a in actions] == ["stop", "start", "wait"] * 5


def test_a_fault_says_what_it_does_when():
    """Seconds count from the begin of the load."""
    lines = FAULTS["kill-data-node"].describe(10)
    assert lines == ["10 s: SIGKILL ndbmtd.2", "15 s: start ndbmtd.2", "15 s: wait for ndbmtd.2"]


def test_a_fault_goes_into_a_manifest():
    """The actions are recorded with the measurements."""
    data = json.loads(json.dumps(FAULTS["kill-server"].to_dict()))
    assert data["actions"][0] == [0, "kill", "mysqld", 2]


@pytest.mark.parametrize(
    "action", [(0, "bend", "mysqld", 1), (0, "kill", "ndbd", 1), (-1, "kill", "mysqld", 1)]
)
def test_an_unknown_action_is_refused(action):
    """A misspelt action fails before any cluster is started."""
    with pytest.raises(LabError, match="Unknown fault action"):
        Action(*action)
