"""One run, with a scripted sysbench and a cluster that only answers: what is kept of failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab import dataset
from ndblab.error import LabError
from ndblab.experiments.sweep import Point
from ndblab.machine.local import LOCAL
from ndblab.planning import profile
from ndblab.workloads import sysbench_run

CAPTURED = Path(__file__).parents[1] / "captured/sysbench"
SIZE = profile.get("smoke")


class Double:
    """A cluster of this process, whose sysbench is a Python program."""

    def __init__(self, folder: Path, program: str) -> None:
        script = folder / "sysbench"
        script.write_text(f"#!{sys.executable}\nimport sys, time\n{program}\n")
        script.chmod(0o700)
        self.folder = folder
        nodes = tuple(SimpleNamespace(socket=f"{folder}/mysql.{n}.sock") for n in (1, 2))
        self.plan = SimpleNamespace(servers=nodes)
        self.log = str
        self.machine = LOCAL
        self.binaries = SimpleNamespace(
            sysbench=script,
            sysbench_env={},
            sysbench_version="1.0.20",
            sysbench_script=lambda name: name,
        )

    def pids(self) -> list[tuple[str, int, int]]:
        return [("mysqld", 11, os.getpid())]

    def servers(self, count: int, transporter: str) -> list[SimpleNamespace]:
        return self.plan.servers[:count]

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        return []

    def spawn_client(self, argv: list[str], env=None, **streams) -> subprocess.Popen:
        return subprocess.Popen(argv, env={**os.environ, **(env or {})}, **streams)

    def check_alive(self) -> None:
        pass


def measure(folder: Path, program: str, warmup_s: float = 0) -> sysbench_run.Run:
    return sysbench_run.measure(Double(folder, program), SIZE, Point(1, 8), 1, warmup_s, 5)


def kept(folder: Path, run: sysbench_run.Run) -> dataset.Dataset:
    """Write a run into a dataset and read it again, which checks every table."""
    from small_runs import BASE, IDENTITY

    with dataset.Writer.open(folder / "data", "scaling", IDENTITY, BASE) as writer:
        writer.append("s01_c0008_r1", run.tables, run.logs)
    return dataset.read(writer.path)


def test_what_sysbench_reports_is_the_row_of_its_run(tmp_path: Path):
    """Numbers of a captured report arrive in the dataset as they were printed."""
    report = (CAPTURED / "ndb_c8.txt").read_text()
    data = kept(tmp_path, measure(tmp_path, f"print({report!r})"))
    row = data.runs.iloc[0]
    assert row["status"] == "ok"
    assert row["queries"] > 0
    assert f"total number of events:              {int(row['queries'])}" in report
    assert len(data.intervals) > 0


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit('FATAL: unable to connect')", "sysbench exited 1"),
        ("pass", "sysbench printed no result"),
        ("print('garbage'); sys.exit(3)", "sysbench exited 3"),
    ],
)
def test_a_sysbench_that_fails_at_once_is_a_row_with_its_reason(tmp_path: Path, program, reason):
    """It is kept, it is not a crash of the lab, and its raw output is there."""
    run = measure(tmp_path, program)
    data = kept(tmp_path, run)
    assert reason in data.runs["status"].iloc[0]
    assert data.runs["qps"].isna().all()
    assert run.logs.keys() == {"s01_c0008_r1.sysbench.txt"}


def test_a_run_after_a_failed_warm_up_is_not_ok(tmp_path: Path):
    """What was measured cold is not averaged with what was measured warm."""
    report = (CAPTURED / "ndb_c8.txt").read_text()
    program = f"sys.exit(1) if '--time=1' in sys.argv else print({report!r})"
    row = measure(tmp_path, program, warmup_s=1).tables["runs"].iloc[0]
    assert row["status"].startswith("warm-up failed")


def test_tables_that_were_not_filled_end_it_at_once(tmp_path: Path):
    """sysbench may exit with 0 though a thread of it gave up: the rows are counted."""
    with pytest.raises(LabError, match="could not be filled") as caught:
        sysbench_run.prepare(Double(tmp_path, "print('FATAL: error 410')"), SIZE)
    assert "0 in sbtest1, 0 in sbtest2" in str(caught.value)
