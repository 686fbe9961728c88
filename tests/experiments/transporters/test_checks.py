"""Checks on transporters and spinning. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from made_up import Double, contrasted, decided, double, slices_use, verdict, with_plan


def compared(ratio: float, *names: str, **more: Any) -> Double:
    """Give contrasts of one server, whose side A has this ratio of throughput."""
    data = double(servers=(1,), **more)
    claims = ("T-shm-gain", "T-top", "T-low", "T-high", "T-spin-low", "T-allspin-low")
    for name in names:
        sides = {"a": (1, 8, {"qps": 1000 * ratio}), "b": (1, 8, {"qps": 1000.0})}
        data = contrasted(data, name, sides, claims=claims)
    return data


@pytest.mark.parametrize(
    ("gain", "expected"), [(1.2, "reproduced"), (1.05, "contradicted"), (1.4, "contradicted")]
)
def test_about_20_percent_has_a_tolerance(gain: float, expected: str) -> None:
    """A gain within a quarter of the published one is equal to it, and the reason says so."""
    row = decided(compared(gain, "reads-best"), "T-shm-gain")
    assert row.verdict == expected
    assert "1.15 to 1.25 counts as equal" in row.reason


@pytest.mark.parametrize("gain", [1.0, 1.1, 1.3])
def test_data_nodes_at_their_quota_make_both_transporters_alike(gain: float) -> None:
    """They are shared by both sides: then nothing is judged, whatever the ratio."""
    data = compared(gain, "writes-top")
    for pct, testable in ((47.0, False), (30.0, True)):
        used = slices_use(data, lambda row, pct=pct: {"ndbmtd": pct, "mysqld": 20.0})
        row = verdict(with_plan(used, 0.25), "T-top")
        assert (row.verdict == "not testable here") != testable
        assert f"the data nodes use {2 * pct:.0f} % of their quota" in row.reason


@pytest.mark.parametrize("name", ["T-low", "T-high"])
def test_a_contrast_that_is_missing_is_named(name: str) -> None:
    """One of two numbers of clients does not stand for both, nor the top for overload."""
    row = decided(compared(1.0, "writes-1", "writes-top"), name)
    assert row.verdict == "not testable here"
    assert "this dataset has no contrast writes-" in row.reason


def test_less_than_a_cpu_for_a_server_says_nothing_of_very_many_clients() -> None:
    """Threads that never run at once do not contend, whatever the transporter."""
    row = verdict(compared(1.1, "writes-high"), "T-high")
    assert row.verdict == "not testable here"
    assert "1.10" in row.reason


SPINNING = {
    "T-spin-low": ("spin-1", "spin-2"),
    "T-spin-top": ("spin-top",),
    "T-allspin-low": ("all-spin-1", "all-spin-2"),
}


@pytest.mark.parametrize("name", SPINNING)
def test_spinning_is_judged_where_it_has_cpus_of_its_own(name: str) -> None:
    """With spare CPUs spinning decides; under quotas and on 2 CPUs it takes CPU from work."""
    good = 1.0 if name == "T-spin-top" else 1.5
    large = compared(good, *SPINNING[name], budget="shared", cpus=32)
    assert decided(large, name).verdict == "reproduced"
    harm = compared(0.8, *SPINNING[name], budget="shared", cpus=32)
    assert decided(harm, name).verdict == "contradicted"
    two = {"logical_cpus": 2, "cpu_model": "x"}
    for small in (replace(large, budget="scaled"), replace(large, host=two)):
        row = verdict(small, name)
        assert row.verdict == "not testable here"
        assert row.measured > 0.9


def test_another_version_of_ndb_is_needed_for_one_claim() -> None:
    """What compares NDB 7.6 with 7.5.9 is never testable, whatever the data."""
    row = verdict(compared(1.0, "writes-top"), "T-all-1536")
    assert row.verdict == "not testable here"
    assert "7.5.9" in row.reason
