"""Bounds of claims and goals by contrast."""

from __future__ import annotations

from ndblab.judging import contrasted, publication

CLAIMS = publication.claims()


def of(name: str, *claims: str):
    table = contrasted.bounds([{"name": name, "claims": list(claims)}], CLAIMS)
    return list(table.itertuples(index=False, name=None))


def test_a_claim_on_throughput_bounds_its_contrast():
    """One that is published as equal with its tolerance; each claim has a row."""
    rows = of("x", "T-low", "T-shm-gain")
    assert rows[0] == ("x", "T-low", 0.95, 1.05)
    assert rows[1][1] == "T-shm-gain"
    assert rows[1][2] < 1.2 < rows[1][3]


def test_claims_on_other_quantities_do_not():
    """Latency and CPU have no place among ratios of throughput."""
    assert of("x", "F7-growth", "B-less-cpu", "F9-tc-bottleneck") == []
