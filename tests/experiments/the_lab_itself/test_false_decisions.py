"""False decisions between identical sides."""

from __future__ import annotations

import numpy as np
import pytest

import made_up_slices
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.error import MissingData
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import false_decisions
from ndblab.planning.point import Point

SIDE = Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 60, 15)


def counted(**changes):
    slices = made_up_slices.of(A_A, 60, **changes)
    return false_decisions.counted(slices).set_index("analyses")


def test_identical_sides_differ_in_no_more_analyses_than_promised():
    """Steady blocks or not: at most 5 %, of at least 200 analyses, and not never."""
    for sd in ((0.03, 0.0, 0.0), (0.03, 0.1, 0.2)):
        row = counted(sd=sd).loc["resampled"]
        assert row["number"] >= 200
        assert 1 < row["false_pct"] <= 5
        assert row["low"] < row["false_pct"] < row["high"]


def test_analyses_as_recorded_are_counted_apart():
    """One of all blocks, and one of each cluster start."""
    table = counted()
    assert table["number"].to_list()[:2] == [1, 4]
    assert table["blocks"].to_list() == [60, 15, 60]


def test_sides_that_do_differ_are_found_as_recorded():
    """A bias between sides is no chance of the labels: it shows in the recorded sequences."""
    table = counted(ratio=1.1)
    assert table.loc["as recorded", "false"] == 1
    assert table.loc["each start", "false"] == 4


def test_blocks_that_are_like_their_neighbours_are_found():
    """Resampling hides it; the correlation of independent blocks includes zero."""
    slices = made_up_slices.of(A_A, 60)
    correlation = false_decisions.correlation(slices)
    assert correlation.low < 0 < correlation.high
    waves = np.exp(0.1 * np.sin(slices["block"] / 2) * (slices["side"] == "a"))
    assert false_decisions.correlation(slices.assign(qps=slices["qps"] * waves)).low > 0.5
    assert not false_decisions.correlation(made_up_slices.of(A_A, 4)).bounded


def test_without_a_whole_block_there_is_nothing_to_count():
    """It says so."""
    slices = made_up_slices.of(A_A, 1).iloc[:3]
    with pytest.raises(MissingData, match="a-a"):
        false_decisions.counted(slices)
