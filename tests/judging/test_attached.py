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


@pytest.mark.parametrize("name", ["F6-overload", "F6-double-servers", "B-split", "R-nosql"])
def test_a_condition_on_its_cpus_cannot_be_known(name: str) -> None:
    """Whatever was measured, and before anything was: so nothing is measured for it."""
    sides = {"a": (16, 64, {"qps": 80.0}), "b": (16, 32, {"qps": 100.0})}
    data = contrasted(double(budget="attached"), "overload", sides, claims=(name,))
    for found in (data, replace(data, slices=data.slices.iloc[:0])):
        row = verdict(found, name)
        assert row.verdict == "not testable here"
        assert "did not start" in row.reason


def test_what_needs_no_division_of_cpus_is_judged() -> None:
    """The management node is compared with its cluster wherever that runs."""
    sides = {"a": (16, 512, {}), "b": (16, 256, {})}
    data = contrasted(double(budget="attached"), "overload", sides)
    used = slices_use(data, lambda _: {"ndb_mgmd": 0.5, "ndbmtd": 50.0, "mysqld": 100.0})
    assert verdict(used, "B-mgmd-idle").verdict == "reproduced"
