"""The report of a load of TPC-C."""

from __future__ import annotations

import dataclasses

import pytest

from ndblab.dataset import table
from ndblab.experiments.tpc_c import load as generator
from ndblab.experiments.tpc_c.output import Interval, Kind, Outcome
from ndblab.measuring import slices
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import registry
from ndblab.workloads.load_generator import Job

LOCAL = {"reads": 100, "local_reads": 90, "scans": 9, "pruned_scans": 8, "transactions": 50,
         "probes": 10, "hinted": 10}  # fmt: skip
FOUND = Outcome(
    "ok",
    (Interval(1.02, 10, 0), Interval(2.01, 20, 1), Interval(3.04, 30, 0), Interval(4.0, 4, 0)),
    {"new_order": Kind(40, 0, 20.0, 30.0), "delivery": Kind(25, 2, 46.0, 60.0)},
    {(1205, "SELECT new_order FOR UPDATE"): 2},
)


def job(warmup_s: int = 1, duration_s: int = 2) -> Job:
    size = profile.get("smoke", {"warmup_s": warmup_s, "duration_s": duration_s})
    return Job(None, size, Point(1, 4, workload="tpc_c"), [])


def reported(status: str = "ok", warmup_s: int = 1):
    return generator.report(job(warmup_s), FOUND, status, 100.0, LOCAL, "printed")


def test_the_workload_has_this_generator() -> None:
    """It is no query of TPC-H."""
    assert registry.find("tpc_c") is generator


def test_the_warm_up_and_the_end_are_left_out() -> None:
    """Of the transactions, the time and the intervals: clients end one after another."""
    found = reported()
    assert found.status == "ok"
    assert found.began == pytest.approx(101.02)
    assert found.lasted_s == pytest.approx(2.02)
    assert found.metrics["queries"] == 50
    assert found.metrics["qps"] == pytest.approx(50 / 2.02)
    assert list(found.intervals["t_s"]) == [1, 2]
    assert found.intervals["qps"].iloc[0] == pytest.approx(20 / 0.99)
    assert found.metrics["latency_avg_ms"] == pytest.approx((40 * 20 + 25 * 46) / 65)


def test_transactions_that_ndb_gave_up_are_no_errors_of_the_run() -> None:
    """They have a table of their own, and a run with them is averaged."""
    found = reported()
    assert found.metrics["errors"] == 0
    assert list(found.tables["aborts"]["error"]) == [1205]
    for name, rows in {**found.tables, "intervals": found.intervals}.items():
        assert table.render(name, rows.assign(run_id="x"), name)


def test_inconsistent_rows_are_a_failed_run_and_never_a_number() -> None:
    """The message is all that is left of it."""
    found = reported("inconsistent rows, condition 1: warehouse 1 has 2.00")
    assert found.status.startswith("inconsistent rows, condition 1")
    assert found.metrics == found.tables == {}
    assert found.intervals.empty
    assert found.logs["go-tpc.txt"] == "printed"


def test_a_load_without_intervals_after_its_warm_up_has_failed() -> None:
    """There would be nothing to tell a steady load by."""
    assert reported(warmup_s=4).status == "go-tpc printed nothing after the warm-up"


def test_an_idle_second_at_the_end_of_the_run_is_counted() -> None:
    """go-tpc prints nothing for it: the run goes on to the next line before the load ends."""

    def of(*intervals: Interval):
        outcome = dataclasses.replace(FOUND, intervals=(*FOUND.intervals[:2], *intervals))
        return generator.report(job(), outcome, "ok", 100.0, LOCAL, "printed")

    idle = of(Interval(4.1, 40, 0), Interval(5.0, 4, 0))
    assert idle.metrics["queries"] == 60
    assert idle.lasted_s == pytest.approx(3.08)
    assert list(idle.intervals["t_s"]) == [1, 2]
    ended = of(Interval(6.1, 40, 0))
    assert ended.metrics["queries"] == 20
    assert ended.lasted_s == pytest.approx(0.99)


def test_a_slice_cuts_its_own_warm_up() -> None:
    """Totals are what is left of the whole execution."""
    found = generator.report(job(0, 3), FOUND, "ok", 100.0, LOCAL, "printed")
    totals = slices._totals(found, job().profile)
    assert totals["queries"] == 50
    assert totals["duration_s"] == pytest.approx(2.02)
