"""Checks on connection pools. The datasets are made up, never a measurement."""

from __future__ import annotations

import pytest

from made_up import Double, contrasted, decided, double, slices_use, verdict

MANY = 12


def pools(whole: float, share: float = 1.0, *, cpus: int = MANY):
    """Slices of one pair of pools, with these ratios of throughput."""
    dataset: Double = double(lambda n, c: 100.0, cpus=cpus)
    for suffix, ratio in (("", whole), ("-share", share)):
        sides = {"a": (1, 32, {"qps": 1000 * ratio}), "b": (1, 32, {"qps": 1000.0})}
        dataset = contrasted(dataset, f"pools-1-8{suffix}", sides)
    return dataset


@pytest.mark.parametrize(
    ("whole", "share", "expected"),
    [(1.3, 0.8, "reproduced"), (0.9, 1.3, "contradicted"), (1.0, 1.3, "inconclusive")],
)
def test_servers_with_all_cpus_to_themselves_decide(whole: float, share: float, expected: str):
    """What the pools do under quotas is shown, and decides nothing."""
    row = decided(pools(whole, share), "P-pool-8")
    assert row.verdict == expected
    assert row.measured == pytest.approx(whole, rel=0.02)
    assert "both at once under quotas (not judged)" in row.reason
    assert "with 32 clients each" in row.reason


def test_a_small_host_decides_nothing_and_shows_what_it_measured():
    """Two CPUs are not the eight cores of the source's servers."""
    row = verdict(pools(0.9, cpus=2), "P-pool-8")
    assert row.verdict == "not testable here"
    assert row.measured == pytest.approx(0.9, rel=0.02)
    assert "measured: throughput of a server with 8 connections is 0.9" in row.reason


def test_without_quotas_none_are_named():
    """Under a shared budget the second comparison is one of two servers at once, no more."""
    dataset = pools(1.3)
    dataset.budget = "shared"
    reason = verdict(dataset, "P-pool-8").reason
    assert "both at once (not judged)" in reason
    assert "quotas" not in reason


def test_the_cpu_of_idle_servers_is_told_for_both_sides():
    """It is more beside the smaller pool, when the larger one is idle: a bias of small hosts."""
    dataset = slices_use(
        pools(0.9, cpus=2),
        lambda row: {"mysqld1": 80.0, "mysqld2": 4.0 if row["side"] == "a" else 9.0},
    )
    reason = verdict(dataset, "P-pool-8").reason
    assert "idle servers used 2.00 % of the CPUs beside the larger pool, 4.50 % beside" in reason
