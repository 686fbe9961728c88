"""How the client is started, and what becomes of what it prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.tpc_h import load as generator
from ndblab.experiments.tpc_h import loading, queries
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import Command, Job
from spawning import Cluster

FOUND = {
    "rows": 5, "innodb_ms": 12.5, "tables": 6, "joins": 1, "joined": 4, "defined": 1, "dropped": 0,
    "executed": 3, "reads": 900, "status": "ok",
    "took_s": {"executions": 3, "sum": 1.5, "min": 0.4, "p95": 0.6, "max": 0.6},
}  # fmt: skip
BEGIN = "print('began', 1.0, flush=True)"


def job(folder: str = "/x", **options: object) -> Job:
    size = profile.get("smoke", {"warmup_s": 0, "duration_s": 1, "tables": 8, "table_size": 10_830})
    server = SimpleNamespace(socket=f"{folder}/mysql.1.sock", data_dir=f"{folder}/mysqld.1")
    return Job(None, size, Point(1, 1, workload="tpc_h_q05"), [server], options=options)


def test_commands_name_what_is_asked_for() -> None:
    """The query, the scale factor, the time, and the option of the variant."""
    [command] = generator.commands(job(**{"join-pushdown": 0}))
    for word in ("--query=5", "--seconds=1", "--join-pushdown=0", "/x/mysql.1.sock"):
        assert word in command.argv
    filling = generator.prepare_command(job())
    assert "--scale=0.01" in filling.argv
    assert "--folder=/x/tpc_h" in filling.argv


def test_a_good_run_has_metrics_and_what_was_pushed() -> None:
    """Both obey their schemas."""
    text = f"began 100.0\n{json.dumps(FOUND)}\n"
    report = generator.report(job(), text, began=100.0)
    assert report.status == "ok"
    assert report.lasted_s == 1.5
    assert report.metrics["qps"] == pytest.approx(2)
    assert report.metrics["latency_avg_ms"] == pytest.approx(500)
    pushed = report.tables["pushed"].assign(run_id="x")
    assert table.parse("pushed", table.render("pushed", pushed, "x"), "x")["reads"][0] == 900
    intervals = report.intervals.assign(run_id="x")
    assert table.render("intervals", intervals, "x")


def test_a_wrong_result_is_a_failed_run_and_never_a_number() -> None:
    """The message is the client's own."""
    wrong = "Q5 has another result than InnoDB: 4 rows instead of 5"
    report = generator.report(job(), json.dumps({**FOUND, "status": wrong}), began=100.0)
    assert report.status == wrong
    assert report.metrics == report.tables == {}


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("raise SystemExit('no such')", "the client ended with exit status 1: no such"),
        (BEGIN, "the client printed no result: began 1.0"),
        (f"{BEGIN}; import time; time.sleep(0.2); print({json.dumps(FOUND)!r})", "ok"),
    ],
)
def test_a_client_that_ends_early_says_why(
    program: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last line is the reason."""
    monkeypatch.setattr(generator, "commands", lambda _: [Command([sys.executable, "-c", program])])
    with generator.running(Cluster(), job()) as load:
        [began] = load.wait_began()
        report = load.finish()
    assert report.status == status
    assert began == (None if "such" in program else 1.0)


def test_a_missing_generator_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message says how to get it."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="tpchgen-cli") as caught:
        loading.program()
    assert "pip install" in caught.value.next_step


def test_rows_with_a_repeated_key_are_kept_once(tmp_path: Path) -> None:
    """The first of them, in the order of the file."""
    file = tmp_path / "partsupp.tbl"
    file.write_text("1|2|a|\n1|3|b|\n1|2|c|\n2|2|d|\n")
    loading._keep_once(file)
    assert file.read_text() == "1|2|a|\n1|3|b|\n2|2|d|\n"


EXPERIMENT = catalogue.find("tpc-h")
QUICK = EXPERIMENT.size("quick")


def test_every_query_is_measured_once_in_both_variants() -> None:
    """All of them on one cluster."""
    todo = EXPERIMENT.sweep(QUICK)
    assert len(todo) == 2 * len(queries.NUMBERS) == 44
    assert todo.clusters == (("default", "no-pushdown"),)
    assert EXPERIMENT.variant("no-pushdown").options == {"join-pushdown": 0}


def test_a_contrast_of_each_query_compares_pushed_joins_with_none() -> None:
    """Its blocks are enough for an interval, though no claim waits for it."""
    contrasts = EXPERIMENT.contrasts(EXPERIMENT, QUICK, pd.DataFrame())
    assert [contrast.name for contrast in contrasts] == [f"q{n:02d}" for n in queries.NUMBERS]
    for contrast in contrasts:
        assert (contrast.a.point.variant, contrast.b.point.variant) == ("default", "no-pushdown")
        assert contrast.a.point.workload == contrast.b.point.workload
        assert (contrast.blocks, contrast.claims) == (6, ())
