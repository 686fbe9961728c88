"""The queries on a real cluster, with very few rows."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from ndblab.cluster.cluster import Cluster
from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.experiments import tpc_h
from ndblab.experiments.tpc_h import database as tables
from ndblab.experiments.tpc_h import load as generator
from ndblab.experiments.tpc_h import of_query, queries
from ndblab.measuring import measured_run, slices
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

EXPERIMENT = catalogue.find("tpc-h")
SIZE = EXPERIMENT.size("smoke")
QUICK = dataclasses.replace(SIZE, duration_s=0.1)


@pytest.fixture(scope="module", autouse=True)
def filled(cluster: Cluster) -> None:
    """Fill the tables."""
    filled = generator.prepare(cluster, job(cluster, 1))
    assert filled.rows == pytest.approx(SIZE.rows, rel=0.05)
    assert min(filled.data_memory_bytes.values()) > 0


def job(cluster: Cluster, query: int, variant: str = "default") -> Job:
    [point] = [
        point
        for point in EXPERIMENT.grid(EXPERIMENT, EXPERIMENT.size("quick"))
        if (point.workload, point.variant) == (of_query(query), variant)
    ]
    return EXPERIMENT.job(QUICK, cluster.binaries, cluster.plan, point)


def test_both_engines_have_the_same_rows(cluster: Cluster) -> None:
    """In all tables, each of its own engine; nothing of the generated files is left."""
    for name in tables.ROWS_AT_1:
        counts = {
            database: cluster.query(f"SELECT COUNT(*) FROM {database}.{name}")
            for database in (tpc_h.DATABASE, tpc_h.REFERENCE)
        }
        assert counts[tpc_h.DATABASE] == counts[tpc_h.REFERENCE]
    engines = cluster.query(
        "SELECT DISTINCT table_schema, engine FROM information_schema.tables"
        f" WHERE table_schema LIKE '{tpc_h.DATABASE}%' ORDER BY 1"
    )
    assert engines == [(tpc_h.DATABASE, "ndbcluster"), (tpc_h.REFERENCE, "InnoDB")]
    assert [path.name for path in (cluster.folder / "tpc_h").iterdir()] == [tpc_h.ANSWERS]


@pytest.mark.parametrize("query", queries.NUMBERS)
def test_every_query_has_the_result_of_innodb(cluster: Cluster, query: int) -> None:
    """With pushed joins and without, which NDB's counters tell apart."""
    for variant, pushes in (("default", True), ("no-pushdown", False)):
        with generator.running(cluster, job(cluster, query, variant)) as load:
            report = load.finish()
        assert report.status == "ok"
        measured = report.tables["pushed"].iloc[0]
        assert measured["executions"] == report.metrics["queries"] >= 1
        if not pushes:
            assert (measured["joins"], measured["executed"], measured["reads"]) == (0, 0, 0)
        elif query in (3, 5, 7, 10):
            assert measured["joins"] > 0
            assert measured["executed"] > 0


def test_a_run_and_a_slice_have_all_their_tables(cluster: Cluster) -> None:
    """Each obeys its schema."""
    run = measured_run.measure(cluster, job(cluster, 3), 1)
    place = {"run_id": "q03_b001_1a", "contrast": "q03", "block": 1, "slot": 1, "side": "a"}
    [piece] = slices.measure(
        cluster, [slices.Asked({**place, "of": 4, "start": 1}, job(cluster, 3))]
    )
    for measured, own in ((run, "runs"), (piece, "slices")):
        assert measured.tables[own]["status"].iloc[0] == "ok"
        assert measured.tables[own]["qps"].iloc[0] > 0
        assert len(measured.tables["pushed"]) == 1
        for name, rows in measured.tables.items():
            table.render(name, rows, name)


def test_a_wrong_result_fails_a_run(cluster: Cluster) -> None:
    """Whatever its time was: the message says what was found."""
    answers: Path = cluster.folder / "tpc_h" / tpc_h.ANSWERS
    text = answers.read_text()
    known = json.loads(text)
    known["answers"]["1"]["rows"][0][2] = "1.00"
    answers.write_text(json.dumps(known))
    try:
        run = measured_run.measure(cluster, job(cluster, 1), 1)
    finally:
        answers.write_text(text)
    status = run.tables["runs"]["status"].iloc[0]
    assert status.startswith("Q1 has another result than InnoDB: row 1 is (A, F, ")
    assert "pushed" not in run.tables
    assert run.tables["runs"]["qps"].isna().all()
