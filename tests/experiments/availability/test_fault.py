"""Faults as data: what is done, in words that a figure and a dry run can show."""

from __future__ import annotations

import json

import pytest

from ndblab.design import catalogue
from ndblab.experiments.availability import fault
from ndblab.experiments.availability.fault import EVERY_FAULT, FAULTS, NETWORK_FAULTS


@pytest.mark.parametrize("injected", FAULTS.values(), ids=lambda f: f.name)
def test_every_node_that_is_hurt_serves_again(injected: fault.Fault):
    """Every node that is killed, frozen or stopped is started and waited for, in this order."""
    for node in {a.node for a in injected.actions if a.what in ("kill", "freeze", "stop")}:
        done = [a.what for a in injected.actions if a.node == node]
        assert done[-2:] == ["start", "wait"]


def test_a_survivor_that_may_have_given_up_is_started_too():
    """Without an arbitrator either data node may be gone, and the servers have to find them."""
    done = [a.words for a in FAULTS["lose-arbitrator"].actions]
    assert {"start ndbmtd.1", "wait for mysqld.1", "wait for mysqld.2"} <= set(done)
    assert done.index("SIGKILL ndb_mgmd.1") < done.index("SIGKILL ndbmtd.2")


@pytest.mark.parametrize("injected", EVERY_FAULT.values(), ids=lambda f: f.name)
def test_actions_are_in_the_order_of_their_times(injected: fault.Fault):
    """Each has a name that is a run's and words for all it does; its first action is its begin."""
    times = [action.at_s for action in injected.actions]
    assert times == sorted(times)
    assert times[0] == 0
    assert EVERY_FAULT[injected.name] is injected
    assert all(action.words for action in injected.actions)


@pytest.mark.parametrize("injected", NETWORK_FAULTS.values(), ids=lambda f: f.name)
def test_every_network_is_healed_and_every_node_that_may_have_ended_serves_again(injected):
    """Cut links are healed and hosts powered on before data nodes are started and waited for."""
    done = [action.what for action in injected.actions]
    healed = done.index("power-on" if "power-off" in done else "heal")
    assert set(done[:healed]) <= {"cut", "drop", "power-off"}
    assert done[healed + 1 :] == ["start", "start", "wait", "wait", "wait", "wait"]
    waited = [action.node for action in injected.actions if action.what == "wait"]
    assert waited == ["ndbmtd.1", "ndbmtd.2", "mysqld.1", "mysqld.2"]


def test_a_link_is_cut_until_a_node_without_the_arbitrator_has_given_up():
    """Five heartbeats of 5 s, then ArbitrationTimeout, 7.5 s: NDB's own defaults."""
    times = {a.at_s for f in NETWORK_FAULTS.values() for a in f.actions if a.what == "heal"}
    assert min(times) > 5 * 5 + 7.5


@pytest.mark.parametrize("name", ["freeze-data-node", "freeze-with-short-heartbeats"])
def test_a_frozen_data_node_is_thawed_well_after_it_was_declared_dead(name: str):
    """Five heartbeats after it froze, and not at that time: its return would end the gap."""
    variant = catalogue.find("availability").variant(name)
    heartbeat_ms = variant.config_ini.get("ndbd default", {}).get("HeartbeatIntervalDbDb", 5000)
    thaw = next(a for a in FAULTS[name].actions if a.what == "thaw")
    assert thaw.at_s >= 1.5 * 5 * heartbeat_ms / 1000
    assert FAULTS[name].lasts_s > thaw.at_s


def test_faults_that_compare_a_setting_differ_in_nothing_else():
    """The same is done to a cluster with another line in config.ini, in a cluster of its own."""
    experiment = catalogue.find("availability")
    assert FAULTS["lose-arbitrator"].actions == FAULTS["lose-one-of-three-arbitrators"].actions
    assert ("lose-one-of-three-arbitrators",) in experiment.clusters()
    assert ("freeze-with-short-heartbeats",) in experiment.clusters()
    others = {"kill-data-node", "freeze-data-node", "lose-arbitrator"}
    assert any(others <= set(together) for together in experiment.clusters())


def test_a_rolling_restart_takes_every_node_in_turn():
    """One is stopped only when the one before serves again."""
    actions = FAULTS["rolling-restart"].actions
    nodes = [a.node for a in actions[::3]]
    assert nodes == ["ndb_mgmd.1", "ndbmtd.1", "ndbmtd.2", "mysqld.1", "mysqld.2"]
    assert [a.what for a in actions] == ["stop", "start", "wait"] * 5


def test_a_fault_goes_into_a_manifest():
    """The actions are recorded with the measurements."""
    data = json.loads(json.dumps(FAULTS["kill-server"].to_dict()))
    assert data["actions"][0] == [0, "kill", "mysqld", 2]
