"""What trials start a cluster with, and what they set on it. Nothing is started here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ndblab.comparing import knobs, made
from ndblab.comparing.sides import Setting
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, TWINS, A, B, Contrast, Side
from ndblab.design.variant import NO_QUOTAS
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring import blocks
from ndblab.planning.point import Point
from ndblab.tuning import space
from ndblab.tuning.executing import Executor
from ndblab.tuning.history import SCREEN, Trial
from ndblab.tuning.space import BASELINE, Row
from ndblab.tuning.wanted import Request, Wanted

ROWS = (
    Row("servers", "1|2|4"), Row("ndb_batch_size", "8K"), Row("ndb_cluster_connection_pool", "1"),
    Row("data_nodes", "25%"), Row("table_open_cache_instances", "4"),
    Row("SchedulerResponsiveness", "8"),
)  # fmt: skip
NOW = {"servers": 1, "ndb_batch_size": 32768, "ndb_cluster_connection_pool": 8,
       "table_open_cache_instances": 16, "SchedulerResponsiveness": 5}  # fmt: skip


def wanted(*settings: tuple[str, int], clients: int = 16) -> Wanted:
    """Return a search from the user's own settings."""
    baseline = tuple(Setting(knobs.find(name), value) for name, value in settings)
    now = {knobs.find(name).key: value for name, value in (NOW | dict(settings)).items()}
    block_s = {ALTERNATION: 20.0, RESTARTS: 25.0, TWINS: 70.0}
    servers = int(dict(settings).get("servers", 1))
    searched = space.Space(space.tunables(ROWS, now, 2), block_s, servers=servers)
    load = made.Load("oltp_point_select", 1, clients)
    return Wanted(baseline, searched, load, Request())


def test_a_trial_in_one_cluster_changes_nothing_that_it_was_started_with():
    """All such trials share a start of the baseline: the rest is set while it runs."""
    search = wanted(("ndb_cluster_connection_pool", 8), ("ndb_force_send", "OFF"))
    own = space.made({"ndb_batch_size": 8192})
    base, switched = search.variant(BASELINE, "default"), search.switched(own, BASELINE, "tried")
    assert switched.set_global == {"ndb_batch_size": 8192}
    assert (switched.shape, switched.overlay) == (base.shape, base.overlay)
    assert base.shape["connection_pools"] == (8,)
    assert search.point(own, "tried").servers == 1
    assert search.space.design(own) == ALTERNATION


def test_without_a_setting_the_confirmed_one_runs_on():
    """A setting that is left out goes back to its baseline value."""
    search = wanted(("ndb_cluster_connection_pool", 8))
    whole = space.made({"ndb_batch_size": 8192, "ndb_cluster_connection_pool": 1})
    fewer = space.without(whole, "ndb_batch_size")
    switched = search.switched(fewer, whole, "tried")
    assert switched.set_global == {"ndb_batch_size": 32768}
    assert switched.shape["connection_pools"] == (1,)
    assert switched.my_cnf["ndb_batch_size"] == 8192
    assert search.space.design(fewer, whole) == ALTERNATION


def test_a_configuration_with_starts_of_its_own_is_what_one_would_deploy():
    """All of it is in its files, the user's own settings too."""
    search = wanted(("ndb_force_send", "OFF"))
    own = space.made({"ndb_batch_size": 8192, "ndb_cluster_connection_pool": 1})
    variant = search.variant(own, "tried")
    assert variant.my_cnf["ndb_batch_size"] == 8192
    assert variant.my_cnf["ndb_force_send"] == "OFF"
    assert not variant.set_global


NAMES = {A: "default", B: "tried"}


def test_what_needs_a_restart_of_mysqld_is_the_own_option_of_one_of_two_servers():
    """So is what could change live; the cluster itself is the baseline's."""
    search = wanted(("ndb_force_send", "OFF"))
    own = space.made({"ndb_batch_size": 8192, "table_open_cache_instances": 4})
    trial = Trial(SCREEN, own, 1, search.space.design(own))
    assert trial.design == RESTARTS
    a, b = search.variants(trial, NAMES)
    assert a.my_cnf == b.my_cnf == {"ndb_force_send": "OFF"}
    assert (a.name, b.name) == ("default", "tried")
    assert not a.server_options
    assert b.server_options == {"ndb_batch_size": 8192, "table_open_cache_instances": 4}
    assert search.shape(trial)["server_options"] == (a.server_options, b.server_options)
    [names] = search.experiment([a, b], []).clusters()
    assert names == ("default", "tried")


def test_what_the_user_sets_himself_is_an_option_of_the_baselines_server():
    """So the user's value does not stand beside the tried one."""
    search = wanted(("ndb_cluster_connection_pool", 8))
    own = space.made({"ndb_cluster_connection_pool": 1})
    trial = Trial(SCREEN, own, 1, search.space.design(own))
    assert trial.design == RESTARTS
    assert [variant.connections for variant in search.variants(trial, NAMES)] == [8, 1]
    assert search.shape(trial)["connection_pools"] == (8, 1)


def test_a_baseline_of_several_servers_needs_clusters_of_its_own():
    """In one cluster, each side would have only one of two servers."""
    own = space.made({"table_open_cache_instances": 4})
    assert wanted().space.design(own) == RESTARTS
    assert wanted(("servers", 2)).space.design(own) == TWINS


@pytest.mark.parametrize("more", [{"servers": 2}, {"SchedulerResponsiveness": 8}])
def test_several_servers_and_data_nodes_need_clusters_of_their_own(more: dict[str, int]):
    """Two servers can be the sides only if each side has one, and data nodes are alike."""
    own = space.made({"table_open_cache_instances": 4} | more)
    assert wanted().space.design(own) == TWINS


def test_clusters_of_many_servers_start_without_native_io():
    """Linux's default is enough for 28 servers; all configurations and starts have the same."""
    search, few = wanted(("servers", 16)), space.made({"servers": 1})
    off = {"innodb_use_native_aio": 0}
    assert off.items() <= search.variant(BASELINE, "default").my_cnf.items()
    assert off.items() <= search.variant(few, "tried").my_cnf.items()
    assert off.items() <= search.switched(few, BASELINE, "tried").my_cnf.items()
    assert not off.items() & wanted(("servers", 7)).variant(BASELINE, "default").my_cnf.items()


@pytest.mark.parametrize(
    ("settings", "design", "started"),
    [
        ({"servers": 4, "SchedulerResponsiveness": 8}, TWINS, [1, 4]),
        ({"servers": 4, "SchedulerResponsiveness": 8}, STARTS, [1, 4]),
        ({"servers": 4}, TWINS, [1, 4]),
    ],
)
def test_each_of_two_clusters_starts_the_servers_of_its_own_configuration(
    monkeypatch, settings, design, started
):
    """Those of the other would be idle, and use CPU."""
    search, own = wanted(), space.made(settings)
    trial = Trial(SCREEN, own, 1, design)
    monkeypatch.setattr(Executor, "_check", lambda *_: None)
    clusters = SimpleNamespace(machine=host.read())
    [contrast] = Executor(search, clusters)._prepare([trial])
    variants = [contrast.side(side).point.variant for side in (A, B)]
    assert [len(clusters.plans[variant].servers) for variant in variants] == started


def test_cpus_are_divided_only_where_the_user_divides_them():
    """A configuration that leaves the split alone keeps the user's."""
    assert "data_nodes" not in [tunable.word for tunable in wanted().space.tunables]
    assert not wanted().variant(BASELINE, "default").quotas
    search = wanted(("data_nodes", 40))
    split = search.switched(space.made({"data_nodes": 25}), BASELINE, "tried")
    assert split.quotas["ndbmtd"] == 0.125
    assert search.variant(BASELINE, "default").quotas["ndbmtd"] == 0.2
    assert set(split.quotas) == set(NO_QUOTAS)


def test_a_quota_of_the_user_s_servers_stays_while_the_split_is_tried():
    """It is no knob of its own: a higher quota never harms."""
    assert "server_cpus" not in [row.name for row in space.table()]
    search = wanted(("data_nodes", 40), ("server_cpus", 25))
    split = search.switched(space.made({"data_nodes": 25}), BASELINE, "tried")
    assert split.quotas == {"ndbmtd": 0.125, "mysqld": 0.25, "sql": 0.75}
    alone = wanted(("server_cpus", 25))
    assert alone.experiment([], []).budget == "scaled"
    assert alone.variant(BASELINE, "default").quotas == {
        "ndbmtd": None, "mysqld": 0.25, "sql": None,
    }  # fmt: skip


def test_more_servers_than_clients_are_refused_before_a_start():
    """Some would be idle."""
    with pytest.raises(LabError, match="too many for 2 clients"):
        wanted(clients=2).point(space.made({"servers": 4}), "tried")


def test_why_trials_that_shared_a_baseline_are_measured_alone_is_said(monkeypatch):
    """A cluster that does not come up may be any trial's; each alone shows whose."""

    def fail(*_: object) -> None:
        raise LabError("Side B (tried): mysqld.1 ended by itself", found="exit status 1")

    side, said = Side(Point(1, 16)), []
    monkeypatch.setattr(blocks, "measure_jointly", fail)
    monkeypatch.setattr(
        Executor, "_prepare",
        lambda _, trials: [Contrast(t.contrast, TWINS, side, side, ()) for t in trials],
    )  # fmt: skip
    for name, value in (("_fitting", 2), ("_takes_turns", True), ("_whole", 0)):
        monkeypatch.setattr(Executor, name, lambda *_, value=value: value)
    clusters = SimpleNamespace(
        writer=None, size=SimpleNamespace(seed=1), close=lambda: said.append("closed")
    )
    trials = [Trial(SCREEN, space.made({"servers": number}), 1, TWINS) for number in (2, 4, 1)]
    assert Executor(wanted(), clusters, said.append)._measure_jointly(trials) == trials[:2]
    assert said == [
        "Side B (tried): mysqld.1 ended by itself: exit status 1: each trial is measured alone",
        "closed",
    ]
