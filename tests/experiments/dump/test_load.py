"""Dumps: with a stand-in for mysqldump and real compressors; and of a real cluster."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_ins import put_program

from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.dump import load as generator
from ndblab.experiments.dump import tools
from ndblab.measuring import dry_run
from ndblab.measuring.request import Request
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Job, Report
from spawning import Cluster

ROW = "({0},1,'12345-12345-12345','98765')"
MYSQLDUMP = """#!/bin/sh
case "$*" in *--version*) echo "$0  Ver 9.7.4 for Linux on x86_64 (Debian)"; exit;; esac
cat <<'END'
CREATE TABLE `sbtest1` (
INSERT INTO `sbtest1` VALUES {rows};
{end}
END
exit {code}
"""
needs_compressors = pytest.mark.skipif(
    not (shutil.which("zstd") and shutil.which("gzip")), reason="zstd and gzip are not installed"
)


@pytest.fixture(autouse=True)
def _without_shell(monkeypatch):
    """MySQL Shell, which may be on a developer's PATH, is not what these tests run."""
    monkeypatch.setattr(tools, "tool", lambda: "mysqldump")


def job(folder: Path, compression: str, *, rows: int = 50, end: str = "-- Dump completed on x",
        code: int = 0) -> Job:  # fmt: skip
    text = ",".join(ROW.format(i) for i in range(rows))
    put_program(folder / "bin/mysqldump", MYSQLDUMP.format(rows=text, end=end, code=code))
    size = profile.get("smoke", {"tables": 1, "table_size": 50})
    server = SimpleNamespace(socket="/no.sock", data_dir=str(folder / "mysqld.1"))
    binaries = SimpleNamespace(basedir=folder, origin="PATH", sysbench_version="1.0.20")
    point = Point(1, 1, workload="dump", variant=compression)
    return Job(binaries, size, point, [server], options={"compression": compression})


def dumped(folder: Path, compression: str, **what: object) -> Report:
    wanted = job(folder, compression, **what)
    assert generator.warm_up(Cluster(), wanted) == "ok"
    with generator.running(Cluster(), wanted) as load:
        report = load.finish()
    assert not list((folder / "dump").iterdir())
    return report


@needs_compressors
@pytest.mark.parametrize("compression", ["none", "zstd", "gzip"])
def test_a_dump_is_read_back_and_its_sizes_are_kept(tmp_path, compression):
    """All rows are there, and what compression saved; the files are not kept."""
    report = dumped(tmp_path, compression)
    assert report.status == "ok"
    [row] = report.tables["dumps"].itertuples()
    assert (row.tool, row.compression, row.tables, row.rows) == ("mysqldump", compression, 1, 50)
    if compression == "none":
        assert row.written_bytes == row.content_bytes
    else:
        assert 0 < row.written_bytes < row.content_bytes


@needs_compressors
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ({"rows": 49}, "the dump holds 1 tables and 49 rows, not 1 and 50"),
        ({"end": "-- cut"}, "The dump is not complete: it ends with: -- cut"),
        ({"code": 2}, "exit status 2: no message"),
    ],
)
def test_a_dump_that_lacks_anything_is_a_failed_run(tmp_path, what, reason):
    """A short dump is a fast dump: it must not be averaged."""
    report = dumped(tmp_path, "zstd", **what)
    assert report.status == reason
    assert not report.tables


@pytest.mark.parametrize("missing", ["zstd", "gzip", "mysqldump"])
def test_a_missing_program_is_named_before_anything_starts(tmp_path, monkeypatch, missing):
    """With the package to install, instead of a dump that is silently left out."""
    wanted = job(tmp_path, "zstd")
    if missing == "mysqldump":
        (tmp_path / "bin/mysqldump").unlink()
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else "/bin/true")
    with pytest.raises(LabError, match=f"{missing} is not installed") as caught:
        generator.versions(wanted.binaries)
    assert "apt-get install" in caught.value.next_step


@needs_compressors
def test_versions_of_all_programs_are_known(tmp_path):
    """They are part of a dataset's identity."""
    versions = generator.versions(job(tmp_path, "zstd").binaries)
    assert versions["mysqldump"] == "9.7.4"
    assert versions.keys() == {"sysbench", "mysqldump", "zstd", "gzip"}
    assert all(version[0].isdigit() for version in versions.values())


def test_mysql_shell_dumps_with_its_own_compression(tmp_path, monkeypatch):
    """One call of its utility, with the folder, the compression and its default threads."""
    monkeypatch.setattr(tools, "tool", lambda: "mysqlsh")
    [command] = generator.commands(job(tmp_path, "gzip"))
    assert command.argv[0] == "mysqlsh"
    assert command.argv[-1] == (
        f'util.dumpSchemas(["sbtest"], "{tmp_path}/dump", '
        '{"compression": "gzip", "threads": 4, "showProgress": false})'
    )


@pytest.mark.slow
@pytest.mark.cluster
def test_a_real_cluster_is_dumped(measure):
    """Every kind of dump holds all tables and rows of the cluster, and the dry run names it."""
    experiment = catalogue.find("dump")
    assert registry.find(experiment.workload) is generator
    assert "mysqldump" in dry_run.dry_run(experiment, Request("smoke"))
    data = measure(experiment)
    assert list(data.runs["status"]) == ["ok"] * 3
    assert set(data.dumps["compression"]) == {"none", "zstd", "gzip"}
    assert set(data.dumps["rows"]) == {experiment.size("smoke").rows}
    assert data.manifest["versions"].keys() >= {"mysqldump", "zstd", "gzip"}
