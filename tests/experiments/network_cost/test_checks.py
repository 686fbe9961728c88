"""Checks on the network between hosts. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_up import Double, contrasted, decided, double, verdict

HOSTS = {name: {"roles": ["sql"]} for name in "abcde"}


def compared(ratio: float, **manifest: object) -> Double:
    """Clients on another host and on their server's, with this ratio of throughput."""
    sides = {"a": (1, 16, {"qps": 1000 * ratio}), "b": (1, 16, {"qps": 1000.0})}
    dataset = contrasted(double(lambda n, c: 100.0), "clients", sides)
    return replace(dataset, manifest={**dataset.manifest, **manifest})


@pytest.mark.parametrize(
    ("ratio", "expected"), [(0.9, "reproduced"), (1.1, "contradicted"), (1.0, "inconclusive")]
)
def test_clients_on_another_host_are_compared_with_those_on_their_servers(ratio, expected):
    """Less throughput is what was published."""
    row = decided(compared(ratio, hosts=HOSTS), "N-clients")
    assert row.verdict == expected
    assert row.measured == pytest.approx(ratio, rel=0.02)
    assert "5 hosts; TLS on both sides" in row.reason


def test_the_reason_says_that_namespaces_have_no_cable():
    """Their network is the memory of one machine."""
    row = verdict(compared(0.9, hosts=HOSTS, namespaces=True), "N-clients")
    assert "namespaces of one machine" in row.reason
    assert "without a cable" in row.reason


def test_a_cluster_on_one_host_says_nothing_about_the_network():
    """Its clients are on the servers' host in any case."""
    row = verdict(compared(0.9), "N-clients")
    assert row.verdict == "unknown"
    assert "one host" in row.reason
