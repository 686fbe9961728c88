"""The points and contrasts of TPC-H's queries."""

from __future__ import annotations

import pandas as pd

from ndblab.design import catalogue, time_needed
from ndblab.experiments.tpc_h import queries

EXPERIMENT = catalogue.find("tpc-h")
QUICK = EXPERIMENT.size("quick")


def test_every_query_is_measured_once_in_both_variants() -> None:
    """All of them on one cluster."""
    todo = EXPERIMENT.sweep(QUICK)
    assert len(todo) == 2 * len(queries.NUMBERS) == 44
    assert todo.clusters == (("default", "no-pushdown"),)
    assert EXPERIMENT.variant("no-pushdown").options == {"join-pushdown": 0}


def test_a_contrast_of_each_query_compares_pushed_joins_with_none() -> None:
    """Its blocks are enough for an interval, though no claim waits for it."""
    found = EXPERIMENT.contrasts(EXPERIMENT, QUICK, pd.DataFrame())
    assert [each.name for each in found] == [f"q{n:02d}" for n in queries.NUMBERS]
    for each in found:
        assert (each.a.point.variant, each.b.point.variant) == ("default", "no-pushdown")
        assert each.a.point.workload == each.b.point.workload
        assert (each.blocks, each.claims) == (6, ())


def test_the_quick_profile_fits_its_time() -> None:
    """Its short slices are its own; without loading, sweep and blocks take 12 minutes."""
    contrasts = EXPERIMENT.contrasts(EXPERIMENT, QUICK, pd.DataFrame())
    blocks_s = sum(6 * time_needed.block_s(each, EXPERIMENT, QUICK) for each in contrasts)
    needed_s = time_needed.sweep_s(EXPERIMENT, QUICK) + blocks_s
    assert needed_s - time_needed.start_s(EXPERIMENT, QUICK) < 12 * 60
    assert needed_s < time_needed.MOST_S["quick"]
    smoke = EXPERIMENT.size("smoke")
    once = EXPERIMENT.contrasts(EXPERIMENT, smoke, pd.DataFrame())
    blocks_s = sum(time_needed.block_s(each, EXPERIMENT, smoke) for each in once)
    assert time_needed.sweep_s(EXPERIMENT, smoke) + blocks_s < 60
