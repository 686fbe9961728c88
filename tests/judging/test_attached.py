"""What an attached cluster decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_up import BY_ID, CLAIMS, contrasted, double, slices_use, verdict
from ndblab.judging import attached


def test_it_decides_no_more_than_an_undivided_host() -> None:
    """No absolute value, and nothing that depends on the division of its CPUs."""
    for claim in CLAIMS:
        answer = attached.answer(claim.id, claim.kind, claim.budgets["shared"])
        if answer == "yes":
            assert claim.budgets["shared"] == "yes"
            assert claim.kind != "absolute"
    for name in ("F4-peak-clients", "B-row-bytes", "F7-one", "R-filter-servers"):
        assert BY_ID[name].why_not("attached", 256, "AMD EPYC 7742 64-Core Processor")
    assert attached.reasons().keys() <= BY_ID.keys()
    assert all(attached.reasons().values())


@pytest.mark.parametrize("name", ["F6-overload", "F6-double-servers", "B-split", "R-nosql"])
def test_a_condition_on_its_cpus_cannot_be_known(name: str) -> None:
    """Whatever was measured, and before anything was: so nothing is measured for it."""
    sides = {"a": (16, 64, {"qps": 80.0}), "b": (16, 32, {"qps": 100.0})}
    data = contrasted(double(budget="attached"), "overload", sides, claims=(name,))
    for recorded in (data, replace(data, slices=data.slices.iloc[:0])):
        row = verdict(recorded, name)
        assert row.verdict == "not testable here"
        assert "did not start" in row.reason


def test_what_was_measured_is_told_where_its_condition_cannot_be_known() -> None:
    """The management node's share of its cluster's CPU, wherever that runs."""
    sides = {"a": (16, 512, {}), "b": (16, 256, {})}
    data = contrasted(double(budget="attached"), "overload", sides, claims=("B-mgmd-idle",))
    used = slices_use(data, lambda _: {"ndb_mgmd": 0.5, "ndbmtd": 50.0, "mysqld": 100.0})
    row = verdict(used, "B-mgmd-idle")
    assert row.verdict == "not testable here"
    assert "measured: ndb_mgmd uses 0.0033" in row.reason
