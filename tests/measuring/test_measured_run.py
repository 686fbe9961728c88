"""One run, with a scripted sysbench and a cluster that only answers: what becomes of failures."""

from __future__ import annotations

import dataclasses
import os
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from measuring.scripted import Scripted
from ndblab import dataset
from ndblab.error import LabError
from ndblab.machine import interference as company
from ndblab.measuring import measured_run
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.workload import CLIENT
from ndblab.workloads import registry, sysbench
from ndblab.workloads.load_generator import Job, Report
from small_runs import BASE, IDENTITY

REPORT = (Path(__file__).parents[1] / "captured/sysbench/ndb_c8.txt").read_text()
DURATION_S = 6


def job(cluster: Scripted, warmup_s: int = 0) -> Job:
    size = profile.get("smoke", {"warmup_s": warmup_s, "duration_s": DURATION_S})
    return Job(cluster.binaries, size, Point(1, 8), cluster.plan.servers[:1])


def measure(folder: Path, program: str, warmup_s: int = 0) -> measured_run.Run:
    cluster = Scripted(folder, program)
    return measured_run.measure(cluster, job(cluster, warmup_s), 1)


def recorded(folder: Path, run: measured_run.Run, run_id: str = "s01_c0008_r1") -> dataset.Dataset:
    """Write a run into a dataset and read it again, which checks every table."""
    base = {**BASE, "profile": {"name": "smoke", "duration_s": DURATION_S}}
    with dataset.Writer.open(folder / "data", "scaling", IDENTITY, base) as writer:
        writer.append(run_id, run.tables, run.logs)
    return dataset.read(writer.path)


def test_what_sysbench_reports_is_the_row_of_its_run(tmp_path: Path):
    """Numbers of a captured report arrive in the dataset as they were printed."""
    data = recorded(tmp_path, measure(tmp_path, f"print({REPORT!r})"))
    row = data.runs.iloc[0]
    assert row["status"] == "ok"
    assert row["queries"] > 0
    assert f"total number of events:              {int(row['queries'])}" in REPORT
    assert len(data.intervals) > 0


def test_nodes_are_checked_after_the_warm_up_and_after_the_run(tmp_path: Path):
    """A node that dies in the warm-up ends the run before an hour is measured without it."""
    cluster = Scripted(tmp_path, "pass")
    measured_run.measure(cluster, job(cluster, warmup_s=1), 1)
    assert cluster.alive_checks == 2


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit('FATAL: unable to connect')", "sysbench exited 1"),
        ("pass", "sysbench printed no result"),
        ("print('garbage'); sys.exit(3)", "sysbench exited 3"),
    ],
)
def test_a_sysbench_that_fails_at_once_is_a_row_with_its_reason(tmp_path: Path, program, reason):
    """It is recorded with its raw output, and is not a crash of the lab."""
    run = measure(tmp_path, program)
    data = recorded(tmp_path, run)
    assert reason in data.runs["status"].iloc[0]
    assert data.runs["qps"].isna().all()
    assert run.logs.keys() == {"s01_c0008_r1.sysbench.txt"}


def test_a_server_that_lost_its_data_nodes_is_waited_for(tmp_path: Path):
    """The run that lost them has failed; the next one would fail with it."""
    cluster = Scripted(tmp_path, "sys.exit(1)")
    cluster.ready_data_nodes = [2, 1, 0]
    run = measured_run.measure(cluster, job(cluster), 1)
    assert run.tables["runs"]["status"].iloc[0] == "sysbench exited 1"
    assert cluster.ready_data_nodes == []


def test_a_run_after_a_failed_warm_up_is_not_ok(tmp_path: Path):
    """What was measured cold is not averaged with what was measured warm."""
    program = f"sys.exit(1) if '--time=1' in sys.argv else print({REPORT!r})"
    row = measure(tmp_path, program, warmup_s=1).tables["runs"].iloc[0]
    assert row["status"].startswith("warm-up failed")


def test_a_warm_up_that_lasts_too_long_does_not_fail_its_run(tmp_path: Path):
    """On a slow host, hundreds of clients take longer to connect than the warm-up lasts."""
    row = measure(tmp_path, f"print({REPORT!r})", warmup_s=1).tables["runs"].iloc[0]
    assert row["status"] == "ok"


def test_tables_that_were_not_filled_end_it_at_once(tmp_path: Path):
    """sysbench may exit with 0 though a thread of it gave up: the rows are counted."""
    cluster = Scripted(tmp_path, "print('FATAL: error 410')")
    with pytest.raises(LabError, match="could not be filled") as caught:
        sysbench.prepare(cluster, job(cluster))
    assert "0 in sbtest1, 0 in sbtest2" in str(caught.value)


def test_a_new_generator_needs_nothing_but_its_module(tmp_path, monkeypatch):
    """Its metrics are recorded under its workload, and those it does not measure are empty."""
    cluster = Scripted(tmp_path, "pass")
    metrics = {"queries": 30, "errors": 0, "qps": 15.0}
    report = Report("ok", time.monotonic() - 2, 2.0, 0, metrics, pd.DataFrame())
    load = SimpleNamespace(pids=[os.getpid()], finish=lambda: report)
    tpcc = SimpleNamespace(ROLE=CLIENT, running=lambda cluster, job: nullcontext(load))
    monkeypatch.setitem(registry._generators(), "tpcc", tpcc)
    asked = dataclasses.replace(job(cluster), point=Point(1, 8, workload="tpcc"))
    run = measured_run.measure(cluster, asked, 1)
    row = recorded(tmp_path, run, "s01_c0008_r1_tpcc").runs.iloc[0]
    assert (row["workload"], row["status"], row["qps"]) == ("tpcc", "ok", 15.0)
    assert pd.isna(row["latency_p95_ms"])


def test_a_run_beside_other_processes_says_who_disturbed_it(tmp_path: Path, monkeypatch):
    """Its numbers and its company are kept; `analysis` marks it, and verdicts leave it out."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    monkeypatch.setattr(company, "between", lambda *_: company.Company(31.2, "chromium"))
    run = measure(tmp_path, f"print({REPORT!r})")
    row = recorded(tmp_path, run).runs.iloc[0]
    assert row["status"] == "ok"
    assert (row["company_pct"], row["company"]) == (31.2, "chromium")
    assert row["qps"] > 0
    assert run.disturbance == "chromium uses 31 % of the CPUs"
