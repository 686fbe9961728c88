"""Checks on throughput. The datasets are made up, never a measurement."""

from __future__ import annotations

import pytest

from made_up import contrasted, decided, double, verdict


@pytest.mark.parametrize("ratio", [1.9, 1.2])
def test_one_doubling_does_not_stand_for_both(ratio: float) -> None:
    """Neither for the claim nor against it."""
    sides = {"a": (2, 16, {"qps": 1000 * ratio}), "b": (1, 8, {"qps": 1000.0})}
    row = decided(contrasted(double(), "servers-1-2", sides), "F6-double-servers")
    assert row.verdict == "not testable here"
    assert "this dataset has no contrast servers-2-4" in row.reason


@pytest.mark.parametrize("name", ["F4-peak-clients", "F6-peak-clients"])
def test_the_clients_of_the_best_mean_are_shown_and_not_judged(name: str) -> None:
    """Whether they are those published or not: no contrast compares them with their neighbours."""
    for peak in (32, 64):
        data = double(lambda n, c, peak=peak: 1000.0 - abs(c - peak), budget="pinned", cpus=256)
        row = verdict(data, name)
        assert (row.verdict, row.measured) == ("inconclusive", peak)
        assert "no contrast" in row.reason
