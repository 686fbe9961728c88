"""The benchmark task: its registry, its table and its arithmetic. No test measures a speed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ndblab import benchmarks, dataset, install
from ndblab.benchmarks import commands, reading
from ndblab.benchmarks.row import Row
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.machine.local import MARK
from ndblab.measuring import recorded

Benchmark = Callable[[], list[Row]]


def failing() -> list[Row]:
    """A benchmark that cannot be run."""
    raise LabError("No cluster here")


def slow() -> list[Row]:
    """A benchmark whose goal is missed."""
    return [Row("a thing", (9.0, 8.0, 10.0), "s", at_most=7, note="as an example")]


def registered(monkeypatch: pytest.MonkeyPatch, **chosen: Benchmark) -> None:
    """Put these benchmarks in the place of the real ones."""
    monkeypatch.setattr(benchmarks, "BENCHMARKS", chosen)


def test_an_unknown_name_gives_an_error_with_the_known_ones():
    """A misspelt benchmark gives one error that lists all names, before anything runs."""
    with pytest.raises(LabError) as error:
        benchmarks.run("raed")
    assert error.value.found == "raed"
    assert all(name in error.value.expected for name in benchmarks.BENCHMARKS)


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        ({"at_most": 2.0}, True),
        ({"at_most": 1.9}, False),
        ({"at_least": 2.0}, True),
        ({"at_least": 2.1}, False),
        ({}, None),
    ],
)
def test_the_median_is_compared_with_the_goal(goal: dict[str, float], met: bool | None):
    """A goal is met by the median, also if it is met exactly."""
    assert Row("a thing", (2.0, 1.0, 50.0), "s", **goal).met is met


def test_a_row_shows_goal_median_range_and_number():
    """A reader sees the range and the number of values, not only the median."""
    cells = Row("a thing", (2.0, 1.0, 50.0), "s", at_most=2).cells()
    assert cells == ("a thing", "<= 2 s", "2 s (1 to 50, 3)", "yes")
    assert Row("one value", (0.5,), at_least=0.98).cells()[1:] == (">= 0.98", "0.5", "no")
    assert Row("no goal", (3.0,), "s").cells()[1:] == ("-", "3 s", "-")


def test_a_missed_goal_is_no_error(monkeypatch, capsys):
    """The task succeeds with any values, and prints them with their note."""
    registered(monkeypatch, slow=slow)
    benchmarks.run()
    printed = capsys.readouterr().out
    assert "9 s (8 to 10, 3)" in printed
    assert "as an example" in printed
    assert printed.splitlines()[2].endswith("no")


def test_a_benchmark_that_cannot_run_does_not_hide_the_others(monkeypatch, capsys):
    """The rest is still measured; then the task fails and names what is missing."""
    registered(monkeypatch, failing=failing, slow=slow)
    with pytest.raises(LabError) as error:
        benchmarks.run()
    assert error.value.found == "failing"
    printed = capsys.readouterr()
    assert "could not be measured" in printed.out
    assert "9 s" in printed.out
    assert "No cluster here" in printed.err


def test_a_named_benchmark_that_cannot_run_gives_its_own_error(monkeypatch):
    """Run alone, a benchmark fails with its own reason."""
    registered(monkeypatch, failing=failing)
    with pytest.raises(LabError, match="No cluster here"):
        benchmarks.run("failing")


def test_a_command_that_fails_is_not_timed():
    """The error contains the exit status and the reason."""
    with pytest.raises(LabError) as error:
        commands.whole_process_s([sys.executable, "-c", "import sys; sys.exit('it broke')"])
    assert "exit status 1" in error.value.what
    assert "it broke" in error.value.found


@pytest.fixture
def stand_in(tmp_path, monkeypatch) -> Callable[[str], Path]:
    """Put a shell script in the place of `./lab`, with a cache of its own; returns its log."""

    def make(body: str) -> Path:
        lab, log = tmp_path / "lab", tmp_path / "log"
        lab.write_text(f'#!/bin/sh\necho "$XDG_CACHE_HOME|$NDB_HOME|$*" >> {log}\n{body}\n')
        lab.chmod(0o755)
        monkeypatch.setattr(recorded, "ROOT", tmp_path)
        monkeypatch.setattr(install.requirements, "missing_packages", lambda: ["cmake"])
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("NDB_HOME", "/elsewhere")
        return log

    return make


def test_an_installation_is_timed_in_an_empty_cache_that_goes_away(stand_in):
    """Earlier installations are not used, neither the user's cache nor NDB_HOME."""
    log = stand_in('mkdir -p "$XDG_CACHE_HOME/ndblab/ndb-1"')
    first, again = benchmarks.BENCHMARKS["install"]()
    assert (len(first.values), len(again.values)) == (1, commands.WHOLE_PROCESSES)
    assert "1 build packages" in first.note
    calls = set(log.read_text().splitlines())
    scratch, ndb_home, arguments = calls.pop().split("|")
    assert (calls, ndb_home, arguments) == (set(), "", "install")
    assert install.location() in Path(scratch).parents
    assert not Path(scratch).exists()


def test_an_installation_that_installs_nothing_is_not_timed(stand_in):
    """Where the programs are on PATH there is nothing to time, and the error says so."""
    stand_in("true")
    with pytest.raises(LabError, match="Nothing was installed"):
        benchmarks.BENCHMARKS["install"]()


def test_the_first_redrawing_only_warms_up(stand_in):
    """One process runs before those that are timed."""
    log = stand_in("true")
    (redrawn,) = benchmarks.BENCHMARKS["recorded"]()
    assert len(redrawn.values) == commands.WHOLE_PROCESSES
    assert len(log.read_text().splitlines()) == commands.WHOLE_PROCESSES + 1


def test_a_large_dataset_leaves_no_results(stand_in, monkeypatch, tmp_path):
    """They would replace those of the recorded dataset from which it is made."""
    monkeypatch.setattr(commands, "LARGE_ROWS", 1)
    log = stand_in(f'mkdir -p "{tmp_path}/out/$(basename "$5")"')
    commands.large()
    assert [*(tmp_path / "out").iterdir()] == []
    assert not log.read_text().strip().endswith(recorded.folder(catalogue.find(figure=6)).name)


def test_memory_counts_the_lab_and_not_its_cluster():
    """A child with the mark of a cluster is left out; one without it is counted."""
    body = f"""
import os, subprocess, sys
nap = [sys.executable, "-c", "print(flush=True); input()"]
piped = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
own = subprocess.Popen(nap, **piped)
node = subprocess.Popen(nap, env=os.environ | {{"{MARK}": "/somewhere"}}, **piped)
own.stdout.readline(), node.stdout.readline()
print(own.pid, node.pid, flush=True)
input()
"""
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", body], **piped) as lab:
        own, node = map(int, lab.stdout.readline().split())
        counted = commands.own_processes(lab.pid)
        lab.communicate("\n")
    assert {lab.pid, own} == set(counted)
    assert node not in counted
    assert commands.own_processes(lab.pid) == []


def test_a_peak_between_two_samples_is_not_missed():
    """Memory that was freed before a sample still counts."""
    body = "b = bytearray(80_000_000); del b; print(flush=True); input()"
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", body], **piped) as child:
        child.stdout.readline()
        peak_bytes = commands._peak_rss_bytes(child.pid)
        child.communicate("\n")
    assert peak_bytes > 80_000_000


def test_a_recorded_dataset_is_tiled_in_time(tmp_path):
    """It passes the checks of any dataset; each run lasts longer, at the rate that it had."""
    source = recorded.folder(catalogue.find(figure=6))
    known, longer = dataset.read(source), dataset.read(reading.tiled(tmp_path, 80_000))
    rows = {name: len(longer.tables[name]) for name in reading.SAMPLED}
    assert 80_000 <= sum(rows.values()) < 110_000
    copies = rows["processes"] / len(known.processes)
    lasted_s = list(known.runs["duration_s"] * copies)
    assert list(longer.runs["duration_s"]) == pytest.approx(lasted_s, nan_ok=True)
    twice = [
        d.processes.duplicated(["run_id", "t_s", "role", "node_id"]).sum() for d in (known, longer)
    ]
    assert twice[1] == copies * twice[0]
    assert longer.processes["cpu_pct"].mean() == pytest.approx(known.processes["cpu_pct"].mean())


def test_the_sweep_whose_memory_is_measured_imports_what_there_is():
    """It runs in a process of its own, where no other test would find a module that moved."""
    before = commands._SWEEP.rpartition("measurement.measure(")[0]
    called = before + "print(catalogue.find(figure=6).name, measurement.measure)"
    done = subprocess.run(
        [sys.executable, "-c", called, "x", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "function measure" in done.stdout
