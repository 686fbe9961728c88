"""Checks on latency and steadiness. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from made_up import (
    BRIEF_MODEL,
    INTERVALS,
    Double,
    contrasted,
    decided,
    double,
    slices_use,
    verdict,
    with_plan,
)
from ndblab.judging import evidence


def p95_of(ratio: float, spread: float = 0.01) -> Double:
    """8 and 16 servers of this ratio of p95, in turns on 8 CPUs."""
    sides = {"a": (16, 16, {"latency_p95_ms": ratio}), "b": (8, 16, {"latency_p95_ms": 1.0})}
    claims = ("F7-8-vs-16",)
    return contrasted(double(cpus=8), "early-8-16", sides, claims=claims, spread=spread)


def test_p95_is_never_judged_finer_than_its_histogram() -> None:
    """A p95 within one bucket of the threshold is inconclusive, however many blocks agree."""
    row = decided(p95_of(1.24, spread=0.0), "F7-8-vs-16")
    assert row.verdict == "inconclusive"
    assert row.high / row.low == pytest.approx(evidence.P95_STEP**2)


@pytest.mark.parametrize(("ratio", "word"), [(1.0, "reproduced"), (2.0, "differs here")])
@pytest.mark.parametrize(
    ("condition", "mysqld_pct", "free"),
    [("idle-spinner", 300.0, True), ("idle-spinner", 580.0, False), ("", 300.0, False)],
)
def test_latency_is_compared_where_the_cpus_are_not_used_up(
    condition: str, mysqld_pct: float, free: bool, ratio: float, word: str
) -> None:
    """Processes of idle priority make a host busy; the CPUs are still there for the servers."""
    data = p95_of(ratio)
    data = replace(data, slices=data.slices.assign(host_busy_pct=100.0))
    for side in "ab":
        data.manifest["contrasts"][-1][side]["condition"] = condition
    data = slices_use(data, lambda row: {"mysqld": mysqld_pct, "ndbmtd": 100.0})
    row = verdict(with_plan(data, 1.0, None, 6.0), "F7-8-vs-16")
    assert row.verdict == (word if free else "not testable here")
    assert row.reason.startswith("this recording has an older design, with quotas") != free
    assert row.reason.count(" wanted)") == (not free)


def test_a_dataset_without_the_contrast_says_so() -> None:
    """Where 16 clients saturate 8 servers nothing is planned, and no sweep stands for it."""
    other = contrasted(double(), "overload", {"a": (16, 512, {}), "b": (16, 256, {})})
    row = verdict(double(), "F7-8-vs-16")
    assert row.verdict == "unknown"
    row = verdict(other, "F7-8-vs-16")
    assert row.verdict == "not testable here"
    assert "8 servers reach their best with 32 clients, and 16 were given 16 or more" in row.reason


def test_values_of_the_brief_are_judged_on_its_own_machine() -> None:
    """On two EPYC 7742 a published p95 is judged; elsewhere it is shown."""
    fast: dict[str, Any] = {"p95": lambda n, c: 0.4, "budget": "pinned", "cpus": 256}
    assert verdict(double(**fast, model=BRIEF_MODEL), "F7-one").verdict == "reproduced"
    row = verdict(double(**fast), "F7-one")
    assert (row.verdict, round(row.measured, 2)) == ("not comparable", 0.4)


@pytest.mark.parametrize(("carried", "word"), [(1.0, "reproduced"), (0.8, "not testable here")])
def test_an_equal_rate_is_compared_where_both_carry_it(carried: float, word: str) -> None:
    """A side that falls behind its rate is saturated, and its p95 is that of its queue."""
    qps = 1000.0 * carried
    sides = {
        "a": (16, 32, {"latency_p95_ms": 1.0, "qps": 1000.0}),
        "b": (8, 32, {"latency_p95_ms": 1.0, "qps": qps}),
    }
    rate = {"rate": 1000}
    data = contrasted(double(cpus=8), "early-8-16", sides, claims=("F7-8-vs-16",), options=rate)
    data = slices_use(data, lambda row: {"mysqld": 100.0, "ndbmtd": 50.0})
    row = verdict(with_plan(data), "F7-8-vs-16")
    assert row.verdict == word
    assert f"carry {100 * carried:.0f} % of 1000 queries/s" in row.reason


def test_the_time_in_which_clients_stop_is_no_lack_of_throughput() -> None:
    """A load with a rate ends late: its last report has time in which few queries came."""
    values = {"latency_p95_ms": 1.0, "qps": 920.0}
    sides = {"a": (16, 32, values), "b": (8, 32, values)}
    rate = {"rate": 1000}
    data = contrasted(double(cpus=8), "early-8-16", sides, claims=("F7-8-vs-16",), options=rate)
    reports = [
        (run_id, second, 32, qps, 1.0)
        for run_id in data.slices["run_id"]
        for second, qps in ((1, 990.0), (2, 860.0))
    ]
    data = replace(data, intervals=pd.DataFrame(reports, columns=INTERVALS))
    data = slices_use(data, lambda row: {"mysqld": 100.0, "ndbmtd": 50.0})
    row = verdict(with_plan(data), "F7-8-vs-16")
    assert row.verdict == "reproduced"
    assert "carry 99 % of 1000 queries/s" in row.reason


@pytest.mark.parametrize(("clients", "sent"), [(32, 156), (64, 78.1)])
def test_what_connections_cost_at_first_is_no_latency_of_servers(clients: int, sent: float) -> None:
    """Each slice opens new connections: clients that send few queries on them wait for that."""
    values = {"latency_p95_ms": 1.0, "qps": 1000.0}
    sides = {"a": (16, clients, values), "b": (8, clients, values)}
    rate = {"rate": 1000}
    data = contrasted(double(cpus=8), "early-8-16", sides, claims=("F7-8-vs-16",), options=rate)
    data = slices_use(data, lambda row: {"mysqld": 100.0, "ndbmtd": 50.0})
    row = verdict(with_plan(data), "F7-8-vs-16")
    assert row.verdict == ("reproduced" if sent >= 100 else "not testable here")
    assert f"a client sends {sent:g} queries on its new connection" in row.reason
