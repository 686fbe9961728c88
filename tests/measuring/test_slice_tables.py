"""Slices of one load: which of its intervals are whose, by when sysbench's reports came."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from ndblab.dataset import table
from ndblab.machine.interference import NO_COMPANY
from ndblab.measuring import slice_tables
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import sysbench_output
from ndblab.workloads.load_generator import OK, Job, Report

REPORT = (Path(__file__).parents[1] / "captured/sysbench/ndb_c8.txt").read_text()
TOO_LATE = "the load reported too late, or ended before its time"
BEGAN_BEFORE = "its first report covers more than 0.5 s before it"
IDLE = {"host_busy_pct": 50.0, "host_steal_pct": 0.0}


def test_the_rate_of_a_slow_query_keeps_its_digits() -> None:
    """Two decimals would make 22 and 23 s differ by a fifth."""
    cells = pd.DataFrame({"errors_per_s": [0.0], "latency_p95_ms": [23200.0]})
    assert slice_tables._measured(1, 23.2, cells)["qps"] == pytest.approx(1 / 23.2, rel=1e-6)


@pytest.mark.parametrize(("queries", "status"), [(0, slice_tables.NO_QUERY), (2, OK)])
def test_a_slice_in_which_no_query_ended_is_void_and_says_so(queries: int, status: str) -> None:
    """No block of it counts, so it would be measured again until the time is over."""
    cells = pd.DataFrame({"errors_per_s": [0.0] * 3, "latency_p95_ms": [0.0] * 3})
    report = SimpleNamespace(status="overran: 5 s for 4 s")
    assert slice_tables._status(report, slice_tables._measured(queries, 3.0, cells)) == status


def slices(came_s: dict[int, float], seconds: int = 1) -> list[pd.Series]:
    """Return the slices of three seconds after a warm-up of 1 s; `came_s` has reports off time."""
    lines = REPORT.split("\n")
    named = {line: int(line[1 : line.index("s")]) for line in lines if line.startswith("[")}
    arrived_s = [came_s.get(named.get(line, 0), named.get(line, 0)) for line in lines]
    result = sysbench_output.parse(REPORT, arrived_s)
    report = Report(
        status=result.status, began=0.0, lasted_s=result.duration_s, warmup_s=0,
        metrics=result.metrics, intervals=result.intervals, ended_s=result.ended_s,
    )  # fmt: skip
    size = profile.get("smoke", {"warmup_s": 1, "duration_s": seconds})
    samples = SimpleNamespace(company=lambda: NO_COMPANY)
    rows = []
    for place in range(3 // seconds):
        columns = {"run_id": f"x_b001_{place + 1}a", "contrast": "x", "block": 1}
        columns |= {"slot": place + 1, "side": "a", "of": 3 // seconds, "start": 1}
        asked = slice_tables.Asked(columns, Job(None, size, Point(1, 8), []))
        loaded = slice_tables.Loaded(report, samples, IDLE, "2026-11-27T12:00:00Z")
        run = slice_tables.of_load(asked, loaded, place)
        for name, cells in run.tables.items():
            table.render(name, cells, name)
        rows.append(run.tables["slices"].iloc[0])
    return rows


def test_reports_in_time_make_good_slices() -> None:
    """A tenth of a second either way is usual."""
    assert [slice_["status"] for slice_ in slices({2: 2.1, 3: 2.95})] == [OK] * 3


def test_a_slice_whose_first_report_began_long_before_it_is_void_and_says_why() -> None:
    """Its report covers the second before, too, that of the other side."""
    first, second, third = slices({2: 2.7})
    assert first["status"] == TOO_LATE
    assert second["status"] == BEGAN_BEFORE
    assert second["duration_s"] == pytest.approx(2)
    assert third["status"] == OK


def test_the_first_slice_is_void_if_its_report_covers_the_warm_up() -> None:
    """No neighbour is void that would tell."""
    first, *others = slices({1: 1.6})
    assert first["status"] == BEGAN_BEFORE
    assert [slice_["status"] for slice_ in others] == [OK, OK]


def test_a_longer_slice_is_whole_although_a_report_within_it_came_late() -> None:
    """All of that is its own."""
    [only] = slices({3: 3.3}, seconds=3)
    assert only["status"] == OK
