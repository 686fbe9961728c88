"""Counters of reads: their differences over a run, and what contradicts them."""

from __future__ import annotations

from types import SimpleNamespace

import pymysql
import pytest

from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.read_locality import probe as read_locality
from ndblab.experiments.read_locality.probe import LOCAL_ROWS, ROWS
from ndblab.machine import host
from ndblab.measuring import measured_run
from ndblab.planning import deployment
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import Job

SMOKE = catalogue.find("read-locality").size("smoke")


class Answering:
    """A cluster of four data nodes that only answers with counters."""

    def __init__(self, domains: bool = False) -> None:
        shape = deployment.Shape(4, 1000, 8, node_groups=2, domains=domains)
        self.plan = deployment.make(host.read(), shape)
        self.rows = {1: (100, 90), 2: (50, 50)}
        self.sent = {(data, api): 1000 for data in (2, 3, 4, 5) for api in (11, 12)}
        self.broken = False

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        if self.broken:
            raise pymysql.OperationalError(2013, "Lost connection")
        if "transporters" in sql:
            return [(*pair, sent) for pair, sent in self.sent.items()]
        rows, local = self.rows[server]
        return [(ROWS, str(rows)), (LOCAL_ROWS, str(local))]

    def check_alive(self) -> None:
        """Every node runs."""

    def job(self) -> Job:
        return Job(SimpleNamespace(), SMOKE, Point(2, 8), self.plan.servers[:2])


def test_what_counts_is_the_difference_over_the_run():
    """Each server has its row; what comes from its own data node is near."""
    cluster = Answering()
    before = read_locality.read(cluster, cluster.job())
    cluster.rows = {1: (300, 140), 2: (150, 150)}
    cluster.sent |= {(2, 11): 4000, (4, 11): 2000, (3, 12): 1500}
    reads = read_locality.tables(before, cluster, cluster.job())["reads"]
    assert reads.to_dict("list") == {
        "node_id": [11, 12], "rows": [200, 100], "local_rows": [50, 100],
        "received_bytes": [4000, 500], "near_bytes": [3000, 500],
    }  # fmt: skip
    assert read_locality.status({"reads": reads}, 300) == "ok"


def test_with_domains_all_data_nodes_of_the_own_one_are_near():
    """Nodes 2 and 4 are in the domain of the first server."""
    cluster = Answering(domains=True)
    before = read_locality.read(cluster, cluster.job())
    cluster.sent |= {(2, 11): 4000, (4, 11): 2000, (5, 11): 2000}
    reads = read_locality.tables(before, cluster, cluster.job())["reads"]
    assert reads.loc[0, ["received_bytes", "near_bytes"]].tolist() == [5000, 4000]


def test_only_what_asks_for_the_probe_is_probed():
    """A job without probes reads nothing, and its run has no such table."""
    cluster = Answering()
    cluster.broken = True
    assert measured_run.probed([], cluster, cluster.job()) == {}
    assert measured_run.status_of_probes(cluster.job(), {}, 300) == "ok"


@pytest.mark.parametrize(
    ("rows", "message"),
    [({1: (20, 10), 2: (10, 10)}, "ran backwards"), ({1: (100, 90), 2: (50, 50)}, "of no row")],
)
def test_counters_that_contradict_the_load_fail_the_run(rows, message: str):
    """A restarted server counts from zero; a load without reads cannot have had queries."""
    cluster = Answering()
    before = read_locality.read(cluster, cluster.job())
    cluster.rows = rows
    counted = read_locality.tables(before, cluster, cluster.job())
    assert message in read_locality.status(counted, 300)


def test_a_server_that_does_not_answer_is_named():
    """With the error of its client library."""
    cluster = Answering()
    cluster.broken = True
    with pytest.raises(LabError, match="Lost connection"):
        read_locality.read(cluster, cluster.job())
