"""Checks on latency and steadiness. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from made_up import BRIEF_MODEL, Double, contrasted, decided, double, slices_use, verdict
from ndblab.judging import evidence


def test_clients_of_a_server_are_counted_in_its_own_knee() -> None:
    """In `scaled` the knee of one server stands for 32 clients, and the reason says so."""
    row = decided(double(), "F7-doubling")
    assert row.verdict == "reproduced"
    assert "4 clients, where one server saturates here, correspond to the" in row.reason
    assert row.measured == pytest.approx(1, rel=0.02)


def test_p95_that_grows_with_the_servers_contradicts() -> None:
    """Twice the p95 at four servers is not the same p95."""
    row = decided(double(p95=lambda n, c: 2.0 if n < 4 else 4.0), "F7-doubling")
    assert (row.verdict, round(row.measured, 2)) == ("contradicted", 2)


def test_p95_is_never_judged_finer_than_its_histogram() -> None:
    """A p95 within one bucket of the threshold is inconclusive, however many runs agree."""
    dataset = double(p95=lambda n, c: 1.24 if n > 1 else 1.0, spread=0.0)
    row = decided(dataset, "F7-doubling")
    assert row.verdict == "inconclusive"
    assert row.high / row.low == pytest.approx(evidence.P95_STEP**2)


def test_equal_latency_past_saturation_is_not_credited() -> None:
    """If 8 servers have all the CPUs of 16, equal p95 follows and means nothing."""
    row = verdict(double(clients=(1, 2, 4, 64, 128, 256)), "F7-8-vs-16")
    assert row.verdict == "not testable here"


def test_equal_latency_below_saturation_counts() -> None:
    """With few clients 8 servers are not saturated, and p95 may differ or not."""
    assert verdict(double(), "F7-8-vs-16").verdict == "reproduced"


def test_a_difference_of_latency_counts_also_past_saturation() -> None:
    """Nothing forces 16 servers to be slower than 8 at equal clients."""
    dataset = double(p95=lambda n, c: 2.0 if n == 16 and c >= 128 else 1.0)
    assert verdict(dataset, "F7-8-vs-16").verdict == "contradicted"


def p95_of_equals(condition: str, mysqld_pct: float) -> Double:
    """8 and 16 servers of equal p95 in turns on 8 CPUs that seem all busy."""
    sides = {"a": (16, 16, {"latency_p95_ms": 1.0}), "b": (8, 16, {"latency_p95_ms": 1.0})}
    dataset = contrasted(double(cpus=8), "early-8-16", sides)
    dataset = replace(dataset, slices=dataset.slices.assign(host_busy_pct=100.0))
    for side in "ab":
        dataset.manifest["contrasts"][-1][side]["condition"] = condition
    return slices_use(dataset, lambda row: {"mysqld": mysqld_pct, "ndbmtd": 100.0})


@pytest.mark.parametrize(
    ("condition", "mysqld_pct", "expected"),
    [
        ("idle-spinner", 300.0, "reproduced"),
        ("idle-spinner", 580.0, "not testable here"),
        ("", 300.0, "not testable here"),
    ],
)
def test_what_keeps_cpus_awake_does_not_use_them_up(
    condition: str, mysqld_pct: float, expected: str
) -> None:
    """Processes of idle priority make a host busy; the CPUs are still there for the servers."""
    assert verdict(p95_of_equals(condition, mysqld_pct), "F7-8-vs-16").verdict == expected


def test_p95_of_8_and_16_servers_is_not_compared_if_16_clients_saturate_both() -> None:
    """A dataset whose contrasts lack this one says why, and waits for nothing."""
    sides = {"a": (16, 512, {}), "b": (16, 256, {})}
    row = verdict(contrasted(double(), "overload", sides), "F7-8-vs-16")
    assert row.verdict == "not testable here"
    assert "with 16 clients, the fewest for 16 servers, 8 servers carry" in row.reason


def test_values_of_the_brief_are_judged_on_its_own_machine() -> None:
    """On two EPYC 7742 a published p95 is judged; elsewhere it is shown."""
    fast: dict[str, Any] = {"p95": lambda n, c: 0.4, "budget": "pinned", "cpus": 256}
    assert verdict(double(**fast, model=BRIEF_MODEL), "F7-one").verdict == "reproduced"
    row = verdict(double(**fast), "F7-one")
    assert (row.verdict, round(row.measured, 2)) == ("not comparable", 0.4)
