"""What an attached cluster decides."""

from __future__ import annotations

from made_up import BY_ID, CLAIMS, double, verdict
from ndblab.judging import attached


def test_it_decides_no_more_than_an_undivided_host() -> None:
    """No absolute value, and nothing that depends on the division of its CPUs."""
    for claim in CLAIMS:
        answer = attached.answer(claim.id, claim.kind, claim.budgets["shared"])
        if answer == "yes":
            assert claim.budgets["shared"] == "yes"
            assert claim.kind != "absolute"
    for name in ("F6-peak", "P-servers-1-2", "F4-peak-clients", "B-split", "B-row-bytes", "F7-one"):
        assert BY_ID[name].why_not("attached", 256, "AMD EPYC 7742 64-Core Processor")


def test_loads_of_one_cluster_are_compared() -> None:
    """As on an undivided host; what more servers bring depends on the CPUs that they have."""
    data, undivided = double(budget="attached"), double(budget="shared")
    assert verdict(data, "F6-overload").verdict == verdict(undivided, "F6-overload").verdict
    assert verdict(data, "F6-overload").verdict != "not testable here"
    assert "not the same question" in verdict(data, "F8-steady").reason
    found = verdict(data, "F6-double-servers")
    assert found.verdict == "not testable here"
    assert "did not start" in found.reason
