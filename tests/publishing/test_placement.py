"""Who runs where: every process of a plan with its CPUs, on one host or several."""

from __future__ import annotations

import pytest

from drawn import outside, written
from ndblab.figures import sheet
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
        ("network-faults", ["host d", "1 mysqld, TCP"]),
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


@pytest.mark.parametrize("experiment", ["costs", "connection-pool", "network-cost"])
def test_on_a_phone_all_boxes_are_below_each_other(experiment: str) -> None:
    """So that a narrow picture says as much as a wide one, in letters as large."""
    plan = recorded.obtain(experiment).manifest["plan"]
    wide = placement.draw(plan, 2.0, 512)
    with sheet.tall():
        tall = placement.draw(plan, 2.0, 512)
    assert tall.get_figwidth() == sheet.TALL_IN < wide.get_figwidth()
    assert sorted(written(tall).split()) == sorted(written(wide).split())
    assert outside(tall) == []
    middles = {sum(patch.get_window_extent().intervalx) / 2 for patch in tall.axes[0].patches}
    assert max(middles) - min(middles) < 1


def test_pinned_processes_have_cpus_of_their_own() -> None:
    """Counted, not listed."""
    plan = dict(recorded.obtain("costs").manifest["plan"])
    share = {"cpus": [0, 1, 2], "memory_nodes": [0], "quota_cpus": None}
    plan["data_nodes"] = [{**node, "share": share} for node in plan["data_nodes"]]
    assert "2 ndbmtd (each 3 CPUs of its own)" in placement.describe(plan, 8.0, 64)
