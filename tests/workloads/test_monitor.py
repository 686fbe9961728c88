"""What is sampled of a cluster, from real rows of ndbinfo and a real process."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.workloads import monitor

CAPTURED = Path(__file__).parents[1] / "captured/ndbinfo"


def rows(name: str) -> list[tuple]:
    """Read what the mysql client printed of a table."""
    with (CAPTURED / name).open() as lines:
        _, *body = csv.reader(lines, delimiter="\t")
    return [tuple(int(v) if v.isdigit() else v for v in row) for row in body]


THREADS = [row[:3] for row in rows("threads.tsv")]
_ORDER = ("node_id", "thr_no", "OS_user", "OS_system", "OS_idle", "exec", "sleep", "spin", "send",
          "buffer_full", "elapsed")  # fmt: skip
NEWEST_FIRST = [
    tuple(dict(zip(_ORDER, row, strict=True))[name] for name in
          ("node_id", "thr_no", "OS_user", "OS_system", "OS_idle", "exec", "send", "sleep", "spin",
           "elapsed"))
    for row in rows("cpustat_1sec.tsv")
]  # fmt: skip


class Double:
    """A cluster of this very process, whose data node answers with the captured rows."""

    def __init__(self, history: list[tuple]) -> None:
        self.history = history
        self.plan = SimpleNamespace(servers=(1,))

    def pids(self) -> list[tuple[str, int, int]]:
        return [("mysqld", 11, os.getpid())]

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        return THREADS if "ndbinfo.threads" in sql else self.history


def test_samples_of_a_data_node_are_dated_backwards_from_the_newest():
    """Twenty samples of about a second, the first row the latest; named by ndbinfo.threads."""
    with monitor.sampling(Double(NEWEST_FIRST)) as samples:
        pass
    now = time.monotonic()
    table = samples.ndb_threads(now - 25, 25)
    assert len(table) == 20
    assert set(table["thread"]) == {"ldm"}
    assert table["t_s"].is_monotonic_increasing
    assert table["t_s"].iloc[-1] == pytest.approx(24.5, abs=0.2)
    newest = NEWEST_FIRST[0]
    assert table["exec_pct"].iloc[-1] == pytest.approx(100 * newest[5] / newest[-1], abs=0.01)


def test_two_fetches_that_overlap_count_each_sample_once():
    """In a long run, what a data node still remembers of the last fetch is passed over."""
    double = Double(NEWEST_FIRST[5:])
    with monitor.sampling(double) as samples:
        samples._fetch_threads()
        double.history = NEWEST_FIRST
    assert len(samples._threads) == len(NEWEST_FIRST)


def test_only_samples_inside_the_run_are_its_own():
    """What was before a run of six seconds, or reaches over its ends, is left out."""
    with monitor.sampling(Double(NEWEST_FIRST)) as samples:
        pass
    table = samples.ndb_threads(time.monotonic() - 6, 6)
    assert 4 <= len(table) <= 5
    assert table["t_s"].between(1.5, 5.6).all()


def test_a_run_too_short_for_a_whole_sample_gets_the_nearest():
    """One sample per thread, rather than none."""
    with monitor.sampling(Double(NEWEST_FIRST)) as samples:
        pass
    assert len(samples.ndb_threads(time.monotonic() - 1, 1)) == 1


def test_a_busy_process_shows_as_busy():
    """A process that only counts uses much of one logical CPU, and has memory."""
    counting = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        with monitor.sampling(Double(NEWEST_FIRST)) as samples:
            samples.watch("sysbench", 0, counting.pid)
            began = time.monotonic()
            time.sleep(2.3)
    finally:
        counting.kill()
    table = samples.processes(began, 2.3)
    busy = table[table["role"] == "sysbench"]
    assert busy["cpu_pct"].max() > 30
    assert (busy["rss_bytes"] > 10**6).all()
    host = samples.host(began, 2.2)
    assert 0 < host["host_busy_pct"] <= 100
    assert 0 <= host["host_steal_pct"] <= 100
