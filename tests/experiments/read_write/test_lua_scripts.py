"""The lab's own scripts for sysbench, on a real cluster."""

from __future__ import annotations

import pytest

from ndblab.cluster.cluster import Cluster
from ndblab.experiments.read_write import FILTERED, IN_LISTS
from ndblab.planning import profile, workload
from ndblab.planning.point import Point
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Job, Report

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("sbtest")]

SIZE = profile.get("smoke", {"warmup_s": 0, "duration_s": 2})
TRANSACTION_QUERIES = 20  # of a read/write transaction, filtered or not, BEGIN and COMMIT included
COUNTERS = ("Ndb_api_pk_op_count", "Ndb_api_read_row_count")


def job(cluster: Cluster, name: str, **more: object) -> Job:
    servers = cluster.plan.servers[:1]
    return Job(cluster.binaries, SIZE, Point(1, 4, workload=name), servers, **more)


def counts(cluster: Cluster) -> dict[str, int]:
    rows = cluster.query("SHOW GLOBAL STATUS LIKE 'Ndb_api_%_count'")
    values = {name.lower(): int(value) for name, value in rows}
    return {name: values[name.lower()] for name in COUNTERS}


def run(cluster: Cluster, name: str, **more: object) -> tuple[Report, dict[str, float]]:
    """Run a script; its report, and what the server counted for each of its queries."""
    before = counts(cluster)
    with sysbench.running(cluster, job(cluster, name, **more)) as load:
        report = load.finish()
    # On a busy host a run takes longer, and its queries count all the same.
    assert workload.is_good(report.status), report.logs
    queries = report.metrics["queries"]
    return report, {name: (n - before[name]) / queries for name, n in counts(cluster).items()}


@pytest.mark.parametrize("keys", [1, 10, 100])
def test_a_list_looks_up_each_of_its_keys(cluster: Cluster, keys: int):
    """By primary key, not by a scan; each comes back as a row."""
    _, per_query = run(cluster, IN_LISTS, options={"in_list": keys})
    assert per_query["Ndb_api_pk_op_count"] == pytest.approx(keys, rel=0.05)
    assert per_query["Ndb_api_read_row_count"] == pytest.approx(keys, rel=0.05)


def test_the_filter_works_in_the_data_nodes(cluster: Cluster):
    """A server reads about one row of each filtered range, not a hundred."""
    _, plain = run(cluster, workload.READ_WRITE)
    _, filtered = run(cluster, FILTERED)
    plain_rows, filtered_rows = (
        TRANSACTION_QUERIES * per_query["Ndb_api_read_row_count"] for per_query in (plain, filtered)
    )
    assert plain_rows - filtered_rows == pytest.approx(4 * 99, rel=0.15)
    assert filtered_rows < 40
    sql = "SELECT c FROM sbtest.sbtest1 FORCE INDEX (PRIMARY) WHERE id BETWEEN 1 AND 100"
    [plan] = cluster.query(f"EXPLAIN FORMAT=TRADITIONAL {sql} AND k BETWEEN 500 AND 509")
    assert "Using pushed condition" in plan[-1]
    assert plan[6] == "PRIMARY"


def test_processes_of_a_divided_load_run_together(cluster: Cluster):
    """Two processes with two clients each are one load of four."""
    report, _ = run(cluster, FILTERED, processes=2)
    assert report.intervals["clients"].max() == 4
    assert report.metrics["latency_p95_ms"] is None
    assert set(report.logs) == {"sysbench.1.txt", "sysbench.2.txt"}


def test_a_list_longer_than_a_table_is_refused(cluster: Cluster):
    """It could not be filled with different keys."""
    asked = job(cluster, IN_LISTS, options={"in_list": SIZE.table_size + 1})
    with sysbench.running(cluster, asked) as load:
        assert "--in_list must be" in load.finish().status
