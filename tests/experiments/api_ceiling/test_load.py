"""Key lookups through the NDB API, with a stand-in for flexAsynch; and on a real cluster."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pymysql
import pytest
from stand_ins import put_program

import spawning
from ndblab import install
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.api_ceiling import load as generator
from ndblab.install import ndb_tools
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Job

STAND_IN = """#!/bin/sh
echo "$NDB_CONNECTSTRING $*" >> {folder}/calls
case "$*" in
*-create_table) ;;
*-insert) echo "Total number of transactions is {inserted}" ;;
*) echo "Executing reads"; {reads} ;;
esac
"""
READS = "sleep 1.5; echo 'Total number of transactions is 900'"
ERROR = "NDBT: ErrorCode = 626 occurred 3 times"


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """The stand-in needs no warm-up."""
    monkeypatch.setattr(generator, "WARM_S", 0.1)


class Cluster(spawning.Cluster):
    """A cluster that starts processes, and says whether the table is there."""

    plan = SimpleNamespace(servers=[None])

    def __init__(self, there: bool = False, counted: tuple[object, ...] = (1000, 1900)) -> None:
        self.there, self.counted = there, list(counted)

    def connect(self, server: int) -> Cluster:
        return self

    def cursor(self) -> Cluster:
        return self

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        assert "ndbinfo.counters" in sql

    def fetchall(self) -> list[tuple]:
        value = self.counted.pop(0)
        if isinstance(value, Exception):
            raise value
        return [(value,)]

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        return [(int(self.there),)]


def job(folder: Path, at_once: int = 1, *, inserted: int = 1024, reads: str = READS) -> Job:
    text = STAND_IN.format(folder=folder, inserted=inserted, reads=reads)
    put_program(folder / "bin/flexAsynch", text)
    binaries = SimpleNamespace(
        basedir=folder, ndbmtd=folder / "bin/ndbmtd", ndb_version="9.7.4", sysbench_version="1.0.20"
    )
    size = profile.get(
        "smoke", {"tables": 1, "table_size": 1100, "clients": (2, 8), "duration_s": 1}
    )
    point = Point(1, 2, workload="ndb_api", variant="ndb-api")
    options = {"at-once": at_once}
    return Job(binaries, size, point, [], options=options, connectstring="127.0.0.1:19000")


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def test_its_table_is_filled_once_with_rows_for_the_most_threads(tmp_path):
    """Together about as many as sysbench has; the cluster is found by its connect string."""
    with generator.running(Cluster(), job(tmp_path)) as load:
        assert load.finish().status == "ok"
    with generator.running(Cluster(there=True), job(tmp_path)) as load:
        assert load.finish().status == "ok"
    made = calls(tmp_path)
    assert [line.split()[-1] for line in made[:2]] == ["-create_table", "-insert"]
    assert len(made) == 4
    assert all(line.startswith("127.0.0.1:19000 ") for line in made)
    assert "-t 8 -p 32 -o 4 " in made[1]


def test_whatever_is_at_once_the_same_rows_are_read(tmp_path):
    """A thread has 128 of them; reads take no locks, as those of SELECT."""
    [single] = generator.commands(job(tmp_path))
    [batch] = generator.commands(job(tmp_path, 32))
    assert " ".join(single.argv[1:7]) == "-t 2 -p 1 -o 128"
    assert " ".join(batch.argv[1:7]) == "-t 2 -p 32 -o 4"
    assert "-ndbrecord" in single.argv
    at = single.argv.index("-execution_time")
    assert single.argv[at + 1] == "1"


def test_a_run_is_what_the_data_nodes_counted_after_the_warm_up(tmp_path):
    """Whatever flexAsynch says: 9.7 counts more than it has read."""
    with generator.running(Cluster(there=True), job(tmp_path)) as load:
        [at] = load.wait_began(5)
        report = load.finish()
    assert (report.status, report.began, report.whole) == ("ok", at, True)
    assert report.lasted_s == pytest.approx(1, abs=0.1)
    assert report.metrics["queries"] == 900
    assert report.metrics["qps"] == pytest.approx(900 / report.lasted_s, rel=0.001)


@pytest.mark.parametrize(
    ("reads", "counted", "reason"),
    [
        (f"echo '{ERROR}'; {READS}", (1, 2), "errors: 3 of NDB error 626"),
        ("exit 1", (1, 2), "flexAsynch: exit status 1"),
        (READS.replace("1.5", "0.5"), (1, 2), "flexAsynch ended before its time"),
        (READS, (1, 1), "the data nodes counted no lookup"),
        (READS, (1, pymysql.OperationalError(2013, "Lost")), "the data nodes' counters cannot"),
        (READS, (pymysql.OperationalError(2013, "Lost"),), "the data nodes' counters cannot"),
    ],
)
def test_a_run_with_errors_is_a_failed_run(tmp_path, reads, counted, reason):
    """It has no numbers, and what flexAsynch printed is kept."""
    cluster = Cluster(there=True, counted=counted)
    with generator.running(cluster, job(tmp_path, reads=reads)) as load:
        report = load.finish()
    assert report.status.startswith(reason)
    assert not report.metrics
    assert "Executing reads" in report.logs["flexAsynch.txt"]


PRINTED = """
Executing reads
Total number of transactions is 12345
NDBT_ProgramExit: 0 - OK
"""


@pytest.mark.parametrize(
    ("text", "code", "result"),
    [
        (PRINTED, 0, ("ok", 12345)),
        ("NDBT: ErrorCode = 626 occurred 7 times\n" + PRINTED, 0, ("errors: 7 of NDB error 626",)),
        (PRINTED.replace("12345", "0"), 0, ("flexAsynch reported no transaction",)),
        ("Executing reads\n", 0, ("flexAsynch reported no transaction",)),
        ("NDBT_ProgramExit: 1 - Failed\n", 1,
         ("flexAsynch: exit status 1: NDBT_ProgramExit: 1 - Failed",)),
        (PRINTED, None, ("flexAsynch did not end within 10 s",)),
    ],
)  # fmt: skip
def test_failed_operations_and_early_ends_do_not_count(text, code, result):
    """flexAsynch counts operations that failed, and ends with 0. The texts follow its source."""
    assert generator.read(text, code, 10) == generator.Result(*result)


def test_a_table_that_lacks_rows_is_not_read(tmp_path):
    """Reads of missing rows would be fast."""
    with (
        pytest.raises(LabError, match="could not be filled") as caught,
        generator.running(Cluster(), job(tmp_path, inserted=1000)),
    ):
        pass
    assert (caught.value.found, caught.value.expected) == ("1000 rows", "1024 rows")


def test_a_missing_flexasynch_is_named_before_anything_starts(tmp_path):
    """With the command that builds it."""
    wanted = job(tmp_path)
    assert generator.versions(wanted.binaries)["flexAsynch"] == "9.7.4"
    (tmp_path / "bin/flexAsynch").unlink()
    with pytest.raises(LabError, match="flexAsynch is not installed") as caught:
        generator.versions(wanted.binaries)
    assert "./lab install --tools" in caught.value.next_step


@pytest.mark.slow
@pytest.mark.cluster
def test_keys_are_looked_up_in_a_real_cluster(measure):
    """Through both interfaces, over shared memory, without an error."""
    if ndb_tools.missing(install.ensure(progress=False)):
        pytest.skip("NDB's tools are not installed")
    experiment = catalogue.find("api-ceiling")
    assert registry.find("ndb_api") is generator
    data = measure(experiment)
    assert list(data.runs["status"]) == ["ok"] * 3
    assert set(data.slices["status"]) == {"ok"}
    assert {"client", "sysbench"} <= set(data.processes["role"])
    assert data.manifest["versions"].keys() >= {"flexAsynch", "sysbench"}
