"""Counters of reads: their differences over a run, what contradicts them, and a real cluster."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace

import pymysql
import pytest

from ndblab import install
from ndblab.analysis.read_locality import shares
from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.dataset import table
from ndblab.error import LabError
from ndblab.experiments import catalogue
from ndblab.machine import host
from ndblab.planning import deployment
from ndblab.planning.point import Point
from ndblab.planning.workload import POINT_SELECT, READ_ONLY
from ndblab.workloads import measured_run, read_locality, registry, slices
from ndblab.workloads.load_generator import Job
from ndblab.workloads.read_locality import LOCAL_ROWS, ROWS

PORT = 18060
EXPERIMENT = catalogue.find("read-locality")
SMOKE = EXPERIMENT.size("smoke")


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

    def job(self, counts_reads: bool = True) -> Job:
        point = Point(2, 8)
        servers = self.plan.servers[:2]
        return Job(SimpleNamespace(), SMOKE, point, servers, counts_reads=counts_reads)


def test_what_counts_is_the_difference_over_the_run():
    """Each server has its row; what comes from its own data node is near."""
    cluster = Answering()
    before = read_locality.read(cluster, cluster.job())
    cluster.rows = {1: (300, 140), 2: (150, 150)}
    cluster.sent |= {(2, 11): 4000, (4, 11): 2000, (3, 12): 1500}
    found = read_locality.tables(before, cluster, cluster.job())["reads"]
    assert found.to_dict("list") == {
        "node_id": [11, 12], "rows": [200, 100], "local_rows": [50, 100],
        "received_bytes": [4000, 500], "near_bytes": [3000, 500],
    }  # fmt: skip
    assert read_locality.status({"reads": found}, 300) == "ok"


def test_with_domains_all_data_nodes_of_the_own_one_are_near():
    """Nodes 2 and 4 are in the domain of the first server."""
    cluster = Answering(domains=True)
    before = read_locality.read(cluster, cluster.job())
    cluster.sent |= {(2, 11): 4000, (4, 11): 2000, (5, 11): 2000}
    found = read_locality.tables(before, cluster, cluster.job())["reads"]
    assert found.loc[0, ["received_bytes", "near_bytes"]].tolist() == [5000, 4000]


def test_a_job_that_does_not_ask_costs_nothing():
    """No other experiment has the table."""
    cluster = Answering()
    cluster.broken = True
    before = read_locality.read(cluster, cluster.job(counts_reads=False))
    assert read_locality.tables(before, cluster, cluster.job(counts_reads=False)) == {}


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


class TestRealCluster:
    """Four data nodes with tables of every kind, and with location domains."""

    pytestmark = pytest.mark.cluster

    @pytest.fixture(scope="class", params=["default", "domains"])
    def cluster(self, request, tmp_path_factory) -> Iterator[Cluster]:
        places = start_stop.places(tmp_path_factory.mktemp("ndb") / "cluster", PORT)
        plan = EXPERIMENT.plans(SMOKE, "auto", host.read(), places)[request.param]
        with start_stop.running(plan, install.ensure(progress=False), False) as started:
            for name in EXPERIMENT.filled(request.param):
                job = self.job(started, name)
                assert registry.find(POINT_SELECT).prepare(started, job).rows == SMOKE.rows
            yield started

    def job(self, cluster: Cluster, variant: str, workload: str = POINT_SELECT) -> Job:
        point = Point(4, 8, workload=workload, variant=variant)
        return EXPERIMENT.job(SMOKE, cluster.binaries, cluster.plan, point)

    def shares_of(self, cluster: Cluster, variant: str, workload: str):
        cluster.tell_neighbours(EXPERIMENT.variant(variant).neighbours)
        run = measured_run.measure(cluster, self.job(cluster, variant, workload), 1)
        assert run.tables["runs"]["status"].iloc[0] == "ok"
        for name, rows in run.tables.items():
            table.render(name, rows, name)
        return shares.of_runs(run.tables["reads"]).iloc[0]

    def test_every_kind_of_table_is_read_where_it_should_be(self, cluster: Cluster):
        """By chance alone, as computed; and tables are of the kind that was asked for."""
        if cluster.plan.servers[0].domain:
            pytest.skip("location domains have their own test")
        kinds = {
            database: flags
            for database, *flags in cluster.query(
                "SELECT DISTINCT d.database_name, t.read_backup, t.fully_replicated"
                " FROM ndbinfo.dictionary_tables d JOIN ndbinfo.table_info t USING (table_id)"
                " WHERE d.table_name = 'sbtest1'"
            )
        }
        assert kinds == {"sbtest": [1, 0], "sbtest2": [0, 0], "sbtest3": [1, 1]}
        for variant in ("read-backup", "primary-only", "fully-replicated"):
            found = self.shares_of(cluster, variant, READ_ONLY)
            expected = shares.expected_local(variant, 4)
            assert found["local"] == pytest.approx(expected, abs=0.04)
            single = self.shares_of(cluster, variant, POINT_SELECT)
            assert single["local"] == pytest.approx(1.0, abs=0.001)
            readers = {"primary-only": 1, "read-backup": 2, "fully-replicated": 4}[variant]
            assert single["near"] == pytest.approx(readers / 4, abs=0.05)
        untold = self.shares_of(cluster, "default", POINT_SELECT)
        assert untold["near"] == pytest.approx(0.25, abs=0.05)

    def test_location_domains_keep_reads_to_themselves(self, cluster: Cluster):
        """Where every replica may be read; else half of the rows are in the other domain."""
        if not cluster.plan.servers[0].domain:
            pytest.skip("a cluster without location domains")
        assert self.shares_of(cluster, "domains", READ_ONLY)["near"] > 0.95
        other = self.shares_of(cluster, "domains-primary-only", READ_ONLY)["near"]
        assert other == pytest.approx(0.5, abs=0.06)

    def test_a_slice_has_its_reads_too(self, cluster: Cluster):
        """Two sides, one after the other."""
        if cluster.plan.servers[0].domain:
            pytest.skip("one cluster is enough")
        job = self.job(cluster, "primary-only", READ_ONLY)
        place = {"run_id": "x_b001_1a", "contrast": "x", "block": 1, "slot": 1, "side": "a"}
        asked = slices.Asked({**place, "of": 4, "start": 1}, dataclasses.replace(job))
        [run] = slices.measure(cluster, [asked])
        assert run.tables["slices"]["status"].iloc[0] == "ok"
        assert len(run.tables["reads"]) == 4
        for name, rows in run.tables.items():
            table.render(name, rows, name)
