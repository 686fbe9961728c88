"""Checks on latency and steadiness. The datasets are made up, never a measurement."""

from __future__ import annotations

from typing import Any

import pytest

from made_up import BRIEF_MODEL, double, verdict
from ndblab.claims import evidence


def test_clients_of_a_server_are_counted_in_its_own_knee() -> None:
    """In `scaled` the knee of one server stands for 32 clients, and the reason says so."""
    row = verdict(double(), "F7-doubling")
    assert row.verdict == "reproduced"
    assert "4 clients, where one server saturates here, correspond to the" in row.reason
    assert row.measured == pytest.approx(1, rel=0.02)


def test_p95_that_grows_with_the_servers_contradicts() -> None:
    """Twice the p95 at four servers is not the same p95."""
    row = verdict(double(p95=lambda n, c: 2.0 if n < 4 else 4.0), "F7-doubling")
    assert (row.verdict, round(row.measured, 2)) == ("contradicted", 2)


def test_p95_is_never_judged_finer_than_its_histogram() -> None:
    """A p95 within one bucket of the threshold is inconclusive, however many runs agree."""
    dataset = double(p95=lambda n, c: 1.24 if n > 1 else 1.0, spread=0.0)
    row = verdict(dataset, "F7-doubling")
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


def test_values_of_the_brief_are_judged_on_its_own_machine() -> None:
    """On two EPYC 7742 a published p95 is judged; elsewhere it is shown."""
    fast: dict[str, Any] = {"p95": lambda n, c: 0.4, "budget": "pinned", "cpus": 256}
    assert verdict(double(**fast, model=BRIEF_MODEL), "F7-one").verdict == "reproduced"
    row = verdict(double(**fast), "F7-one")
    assert (row.verdict, round(row.measured, 2)) == ("not testable here", 0.4)
