"""Who runs where: every process of a plan with its CPUs, on one host or several."""

from __future__ import annotations

import pytest

from drawn import outside, written
from ndblab.measuring import recorded
from ndblab.publishing import placement


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        ("multi-server-scaling", ["16 mysqld, SHM", "each at most 0.234 CPU", "2 ndbmtd",
                                  "up to 512 clients", "together: at most 1.5 CPUs"]),
        ("connection-pool", ["1 mysqld, SHM x 4", "1 mysqld, SHM x 16"]),
        ("costs", ["16 mysqld, SHM", "no limit"]),
        ("network-cost", ["host a", "host e", "1 mysqld, TCP", "ndb_mgmd"]),
    ],
)  # fmt: skip
def test_every_process_is_drawn_with_its_cpus(experiment: str, words: list[str]) -> None:
    """And described; no word leaves the picture."""
    plan = recorded.obtain(experiment).manifest["plan"]
    figure = placement.draw(plan, 2.0, 512)
    described = placement.describe(plan, 2.0, 512)
    for word in words:
        assert word in written(figure)
        assert word.lower() in described.lower()
    assert outside(figure) == []


def test_pinned_processes_have_cpus_of_their_own() -> None:
    """Counted, not listed."""
    plan = dict(recorded.obtain("costs").manifest["plan"])
    share = {"cpus": [0, 1, 2], "memory_nodes": [0], "quota_cpus": None}
    plan["data_nodes"] = [{**node, "share": share} for node in plan["data_nodes"]]
    assert "2 ndbmtd (each 3 CPUs of its own)" in placement.describe(plan, 8.0, 64)
