"""Bulk loads: their commands, and what becomes of those that lack rows; and on a real cluster."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pymysql
import pytest
from stand_ins import NDB_TOOL, put_program

import spawning
from ndblab import install
from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.bulk_load import LOADERS, client, rows, ways
from ndblab.experiments.bulk_load import experiment as bulk_loads
from ndblab.experiments.bulk_load import load as generator
from ndblab.install import ndb_tools
from ndblab.machine import HostUse
from ndblab.machine import interference as company
from ndblab.machine.local import LOCAL
from ndblab.measuring import dry_run, slices
from ndblab.measuring.request import Request
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Command, Job, Report

ROWS, SUM = 50, 1234
LOADED = {"sbtest1": (ROWS, SUM), "sbtest2": (ROWS, SUM)}


class Cluster(spawning.Cluster):
    """A cluster that starts processes, and answers what its tables hold."""

    machines: ClassVar = {"": LOCAL}
    plan = SimpleNamespace(load_host="")

    def __init__(self, held: dict[str, tuple[int, int]]) -> None:
        self.held, self.asked = held, []

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        self.asked.append(sql)
        if not sql.startswith("SELECT"):
            return []
        name = sql.rpartition(".")[2]
        if name not in self.held:
            raise pymysql.ProgrammingError(1146, f"Table '{name}' doesn't exist")
        return [self.held[name]]


def job(folder: Path, way: str = "load-data", clients: int = 2) -> Job:
    put_program(folder / "bin/ndb_import", NDB_TOOL.format(version="9.7.4"))
    binaries = SimpleNamespace(
        basedir=folder, ndbmtd=folder / "sbin/ndbmtd", ndb_version="9.7.4", mysqld_version="9.7.4",
        sysbench="sysbench", sysbench_env={}, sysbench_version="1.0.20",
        sysbench_script=lambda name: name,
    )  # fmt: skip
    size = profile.get("smoke", {"tables": 2, "table_size": ROWS, "clients": (clients,)})
    server = SimpleNamespace(socket="/no.sock", data_dir=str(folder / "mysqld.1"))
    return Job(
        binaries, size, Point(1, clients, workload="bulk_load"), [server],
        options={"way": way}, connectstring="127.0.0.1:19000",
    )  # fmt: skip


def loaded(folder: Path, monkeypatch, held, line: str = "sleep 0.1", way="load-data") -> Report:
    """Load with a shell's line in place of a program, into tables that hold this."""
    wanted = job(folder, way)
    ways.folder(wanted).mkdir()
    sums = dict.fromkeys(ways.tables(wanted), SUM)
    (ways.folder(wanted) / rows.SUMS).write_text(json.dumps(sums))
    monkeypatch.setattr(ways, "command", lambda job: Command(["bash", "-c", line]))
    with generator.running(Cluster(held), wanted) as load:
        return load.finish()


def test_a_load_that_is_read_back_whole_has_a_rate(tmp_path, monkeypatch):
    """Its rows count as queries; the time is that of the program."""
    report = loaded(tmp_path, monkeypatch, LOADED)
    assert (report.status, report.metrics["queries"]) == ("ok", 2 * ROWS)
    assert report.metrics["qps"] == pytest.approx(2 * ROWS / report.lasted_s, abs=0.01)
    assert 0.1 <= report.lasted_s < 5


@pytest.mark.parametrize(
    ("held", "line", "reason"),
    [
        ({**LOADED, "sbtest2": (ROWS - 1, SUM)}, "true", "sbtest2 holds 49 rows, not 50"),
        ({**LOADED, "sbtest1": (ROWS, 9)}, "true", "sbtest1 holds other rows than its file"),
        ({"sbtest1": (ROWS, SUM)}, "true", "sbtest2 cannot be read back: (1146, "),
        (LOADED, "echo 'job-1 rejected 1 rows (limit 0)' >&2; exit 1", "exit status 1: job-1 rej"),
        (
            LOADED, "echo 'job-1 error[db] 410: REDO log files overloaded' >&2; exit 1",
            "exit status 1: job-1 error[db] 410: REDO log files overloaded",
        ),
    ],
)  # fmt: skip
def test_a_load_that_lacks_anything_is_a_failed_run(tmp_path, monkeypatch, held, line, reason):
    """However fast it was; the message says what was found."""
    report = loaded(tmp_path, monkeypatch, held, line)
    assert report.status.startswith(reason)
    assert not report.metrics


def test_sysbench_draws_rows_of_its_own(tmp_path, monkeypatch):
    """They are counted, and not compared with the files."""
    held = {"sbtest1": (ROWS, 1), "sbtest2": (ROWS, 2)}
    assert loaded(tmp_path, monkeypatch, held, way="sysbench").status == "ok"


def test_every_load_begins_with_empty_tables_of_one_kind(tmp_path):
    """Those that sysbench makes have no secondary index either."""
    own = ways.statements(job(tmp_path))
    assert own[0] == "DROP DATABASE IF EXISTS bulk_load"
    assert sum("CREATE TABLE bulk_load.sbtest" in statement for statement in own) == 2
    assert not any("KEY k" in statement for statement in own)
    assert len(ways.statements(job(tmp_path, "sysbench"))) == 2
    made = ways.command(job(tmp_path, "sysbench", clients=1))
    assert {"--threads=1", "--create_secondary=off", "--mysql-db=bulk_load"} <= set(made.argv)
    assert made.argv[-1] == "prepare"


def test_ndb_import_writes_to_the_data_nodes_and_tolerates_nothing(tmp_path):
    """It takes the tables' names from the files, and keeps its state beside them."""
    argv = ways.command(job(tmp_path, "ndb-import")).argv
    assert argv[0] == str(tmp_path / "bin/ndb_import")
    assert "--ndb-connectstring=127.0.0.1:19000" in argv
    assert f"--ndb-tls-search-path={tmp_path}/no-tls" in argv
    files = [f"{tmp_path}/bulk_load/{name}.txt" for name in ("sbtest1", "sbtest2")]
    assert argv[-3:] == ["bulk_load", *files]
    assert not any(word.startswith(("--rejects", "--temperrors")) for word in argv)


def test_more_connections_than_tables_are_refused(tmp_path):
    """Some would be idle, and their number a false label."""
    with pytest.raises(LabError, match="a table of its own"):
        ways.command(job(tmp_path, clients=3))


def test_a_missing_ndb_import_is_named_before_anything_starts(tmp_path):
    """With the command that builds it."""
    wanted = job(tmp_path)
    assert generator.versions(wanted.binaries)["ndb_import"] == "9.7.4"
    (tmp_path / "bin/ndb_import").unlink()
    with pytest.raises(LabError, match="ndb_import is not installed") as caught:
        generator.versions(wanted.binaries)
    assert "./lab install --tools" in caught.value.next_step


def test_files_of_rows_are_written_once_for_a_cluster(tmp_path):
    """One for each table; a full disk is a message."""
    wanted = job(tmp_path)
    filled = generator.prepare(Cluster({}), wanted)
    assert filled.rows == 2 * ROWS
    assert len(rows.file(ways.folder(wanted), "sbtest2").read_text().splitlines()) == ROWS
    (ways.folder(wanted) / rows.SUMS).unlink()
    (ways.folder(wanted) / rows.SUMS).mkdir()
    with pytest.raises(LabError, match="could not be written") as caught:
        generator.prepare(Cluster({}), wanted)
    assert "Is a directory" in caught.value.found


def test_the_client_says_what_failed(tmp_path):
    """A server that is not there is its last word."""
    wanted = job(tmp_path)
    assert ways.command(wanted).argv[-3:] == ["/no.sock", "sbtest1", "sbtest2"]
    with generator.running(Cluster(LOADED), wanted) as load:
        report = load.finish()
    assert report.status.startswith("exit status 1: load-data: (2003, ")


class Busy:
    """A cursor whose first statements meet an error."""

    def __init__(self, error: int, times: int) -> None:
        self.error, self.times, self.done = error, times, []

    def execute(self, statement: str) -> None:
        if self.times:
            self.times -= 1
            raise pymysql.OperationalError(self.error, "Got temporary error 410 from NDBCLUSTER")
        self.done.append(statement)


def test_an_insert_is_tried_again_while_the_redo_log_is_full(monkeypatch):
    """Every other error ends the load at once, and so does one that does not pass."""
    monkeypatch.setattr(client, "PAUSE_S", 0)
    busy = Busy(client.TEMPORARY, 3)
    client.patiently(busy, "INSERT")
    assert busy.done == ["INSERT"]
    with pytest.raises(pymysql.Error, match="1062"):
        client.patiently(Busy(1062, 1), "INSERT")
    monkeypatch.setattr(client, "PATIENCE_S", -1)
    with pytest.raises(pymysql.Error, match="410"):
        client.patiently(Busy(client.TEMPORARY, 1), "INSERT")


@pytest.mark.slow
@pytest.mark.cluster
def test_rows_are_loaded_into_a_real_cluster_in_every_way(measure):
    """All are read back; checkpoints and CPU are those of the load; slices need no warm-up."""
    if ndb_tools.missing(install.ensure(progress=False)):
        pytest.skip("NDB's tools are not installed")
    # The smoke profile has one contrast; here all are measured.
    experiment = replace(
        catalogue.find("bulk-load"),
        contrasts=lambda experiment, size, points: bulk_loads.contrasts(
            experiment, replace(size, name="quick"), points
        ),
    )
    assert registry.find(experiment.workload) is generator
    assert "ndb_import" in dry_run.dry_run(experiment, Request("smoke"))
    data = measure(experiment)
    assert list(data.runs["status"]) == ["ok"] * len(LOADERS)
    assert set(data.runs["queries"]) == {experiment.size("smoke").rows}
    assert set(data.slices["status"]) == {"ok"}
    assert set(data.slices["contrast"]) == {"redo", "import", "local"}
    assert "client" in set(data.processes["role"])
    assert data.manifest["versions"].keys() >= {"ndb_import", "pymysql", "sysbench"}


def test_a_slice_of_a_load_is_the_whole_of_it(tmp_path, monkeypatch):
    """However long it takes; CPU that the hypervisor took from it disturbs it like any other."""
    wanted = job(tmp_path)
    monkeypatch.setattr(ways, "command", lambda job: Command(["sleep", "0.2"]))
    ways.folder(wanted).mkdir()
    sums = dict.fromkeys(ways.tables(wanted), SUM)
    (ways.folder(wanted) / rows.SUMS).write_text(json.dumps(sums))
    cluster = Cluster(LOADED)
    monkeypatch.setattr(slices.monitor, "of", lambda cluster: slices.monitor.Samples({}))
    stolen = iter([(10.0, 5.0, 100.0, 1.0), (10.2, 5.1, 101.0, 1.0)])
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", 5)
    monkeypatch.setattr(
        type(LOCAL), "host_use", lambda machine: HostUse(time.monotonic(), *next(stolen))
    )
    place = {"run_id": "x_b001_1a", "contrast": "x", "block": 1, "slot": 1, "side": "a",
             "of": 4, "start": 1}  # fmt: skip
    [run] = slices.measure(cluster, [slices.Asked(place, wanted)])
    measured = run.tables["slices"].iloc[0]
    assert (measured["status"], measured["queries"]) == ("ok", 2 * ROWS)
    assert measured["qps"] == pytest.approx(2 * ROWS / measured["duration_s"], abs=0.01)
    assert (measured["host_busy_pct"], measured["host_steal_pct"]) == (20, 10)
    assert run.disturbance == "the hypervisor takes 10 % of the CPUs"
    for name, frame in run.tables.items():
        table.render(name, frame, name)
