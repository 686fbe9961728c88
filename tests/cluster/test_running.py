"""A running cluster of two data nodes and two MySQL servers: how it is linked, what a run shows."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from ndblab.cluster import readiness
from ndblab.cluster.cluster import Cluster
from ndblab.measuring import measured_run
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.workload import is_good
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

SMOKE = profile.get("smoke", {"warmup_s": 1, "duration_s": 3})


@pytest.fixture
def limited(sbtest: Cluster) -> Iterator[Cluster]:
    """The shared cluster, under its CPU limits until the end of the test."""
    sbtest.limit()
    yield sbtest
    sbtest.limit(dict.fromkeys(("ndbmtd", "mysqld", "sql")))


def test_servers_reach_data_nodes_over_shared_memory_and_nobody_listens_outside(cluster: Cluster):
    """Every transporter of a server is SHM, every port is on loopback."""
    types = {kind for _, remote, kind in readiness.transporters(cluster) if remote in (11, 12)}
    assert types == {"SHM"}
    pids = {pid for _, _, pid, _ in cluster.pids()}
    connections = psutil.net_connections("tcp")
    listening = {c.laddr.ip for c in connections if c.pid in pids and c.status == "LISTEN"}
    assert listening == {"127.0.0.1"}


def test_a_run_measures_every_process_and_thread(limited: Cluster):
    """Both servers see the tables, and no server uses more CPU than its limit."""
    assert limited.query("SELECT COUNT(*) FROM sbtest.sbtest2", server=2) == [(1000,)]
    job = Job(limited.binaries, SMOKE, Point(2, 4), limited.plan.servers)
    run = measured_run.measure(limited, job, 1)
    row = run.tables["runs"].iloc[0]
    assert (is_good(row.status), row.errors) == (True, 0)
    if row.status == "ok":  # a busy host makes a run of seconds overrun
        assert row.queries == pytest.approx(row.qps * row.duration_s, rel=0.01)
    # sysbench may end before its reporter wakes for the last second.
    assert len(run.tables["intervals"]) in (2, 3)
    processes, threads = run.tables["processes"], run.tables["ndb_threads"]
    seen = processes.groupby("role")["node_id"].nunique().to_dict()
    assert seen == {"lab": 1, "mysqld": 2, "ndb_mgmd": 1, "ndbmtd": 2, "sysbench": 1}
    assert {"ldm", "query", "tc", "send", "recv", "main"} <= set(threads["thread"])
    busy = threads.groupby("thread")[["os_user_pct", "os_system_pct"]].mean().sum(axis=1)
    assert busy["recv"] > busy["recover"]
    if limited.plan.budget.kind == "scaled":
        used_pct = processes.query("role == 'mysqld'").groupby("node_id")["cpu_pct"].mean()
        assert (used_pct <= 100 * limited.plan.servers[0].share.quota_cpus * 1.15).all()
