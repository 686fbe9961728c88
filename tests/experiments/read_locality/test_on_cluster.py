"""Where reads go on a real cluster of four data nodes: tables of every kind, location domains."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.experiments.read_locality import analysis as shares
from ndblab.machine import host
from ndblab.measuring import measured_run, slices
from ndblab.planning.point import Point
from ndblab.planning.workload import POINT_SELECT, READ_ONLY, is_good
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

PORT = 18060
EXPERIMENT = catalogue.find("read-locality")
SMOKE = EXPERIMENT.size("smoke")


@pytest.fixture(scope="module")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """The cluster of a variant, with tables of every kind that it has."""
    variant = getattr(request, "param", "default")
    places = start_stop.places(tmp_path_factory.mktemp("ndb") / "cluster", PORT)
    plan = EXPERIMENT.plans(SMOKE, "auto", host.read(), places)[variant]
    with start_stop.running(plan, install.ensure(progress=False), False) as started:
        for name in EXPERIMENT.filled(variant):
            filled = registry.find(POINT_SELECT).prepare(started, job(started, name))
            assert filled.rows == SMOKE.rows
        yield started


def job(cluster: Cluster, variant: str, workload: str = POINT_SELECT) -> Job:
    point = Point(4, 8, workload=workload, variant=variant)
    return EXPERIMENT.job(SMOKE, cluster.binaries, cluster.plan, point)


def measured(cluster: Cluster, variant: str, workload: str) -> pd.Series:
    """Return the shares of a run, after one in which the servers opened the tables."""
    cluster.tell_neighbours(EXPERIMENT.variant(variant).neighbours)
    asked = job(cluster, variant, workload)
    measured_run.measure(cluster, asked, 1)
    run = measured_run.measure(cluster, asked, 2)
    assert is_good(run.tables["runs"]["status"].iloc[0])
    for name, rows in run.tables.items():
        table.render(name, rows, name)
    return shares.of_runs(run.tables["reads"]).iloc[0]


def test_tables_are_of_the_kind_that_was_asked_for(cluster: Cluster):
    """Each kind in its own database."""
    kinds = {
        database: flags
        for database, *flags in cluster.query(
            "SELECT DISTINCT d.database_name, t.read_backup, t.fully_replicated"
            " FROM ndbinfo.dictionary_tables d JOIN ndbinfo.table_info t USING (table_id)"
            " WHERE d.table_name = 'sbtest1'"
        )
    }
    assert kinds == {"sbtest": [1, 0], "sbtest2": [0, 0], "sbtest3": [1, 1]}


@pytest.mark.parametrize("variant", ["primary-only", "read-backup", "fully-replicated"])
def test_rows_of_a_transaction_are_as_local_as_chance_makes_them(cluster: Cluster, variant: str):
    """A quarter, half or all of those after the first."""
    expected = shares.expected_local(variant, 4)
    assert measured(cluster, variant, READ_ONLY)["local"] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
    ("variant", "near"),
    [("read-backup", 0.5), ("default", 0.25), ("primary-only", 0.25), ("fully-replicated", 1.0)],
)
def test_a_lookup_is_always_local_but_not_always_near(cluster: Cluster, variant: str, near: float):
    """Unless a server knows its data node, even the rows that this one has come from any."""
    local_and_near = measured(cluster, variant, POINT_SELECT)
    assert local_and_near["local"] > 0.95
    assert local_and_near["near"] == pytest.approx(near, abs=0.05)


def test_a_slice_has_its_reads_too(cluster: Cluster):
    """Of its warm-up and its measured time; every table obeys its schema."""
    place = {"run_id": "x_b001_1a", "contrast": "x", "block": 1, "slot": 1, "side": "a"}
    asked = slices.Asked({**place, "of": 4, "start": 1}, job(cluster, "primary-only", READ_ONLY))
    [run] = slices.measure(cluster, [asked])
    assert len(run.tables["reads"]) == 4
    for name, rows in run.tables.items():
        table.render(name, rows, name)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["domains"], indirect=True)
def test_location_domains_keep_reads_to_themselves(cluster: Cluster):
    """Where every replica may be read; else half of the rows are in the other domain.

    The near data node coordinates, and its own replies count, too: 0.53 to 0.56 of all bytes in
    seven runs.
    """
    assert measured(cluster, "domains", READ_ONLY)["near"] > 0.95
    other = measured(cluster, "domains-primary-only", READ_ONLY)["near"]
    assert other == pytest.approx(0.55, abs=0.06)
