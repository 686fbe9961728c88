"""Parts of the variance of a slice: found where they were put, with intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

import made_up_slices
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import variance
from ndblab.planning.point import Point

SIDE = Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 60, 15)


def test_parts_are_found_where_they_were_put():
    """Of many blocks and starts, within a tenth or two; in percent."""
    many = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 600, 10)
    slices = made_up_slices.of(many, 600, sd=(0.02, 0.04, 0.08))
    table = variance.components(slices).set_index("part")
    assert table["sd_pct"].to_list() == pytest.approx([2, 4, 8], rel=0.2)
    assert table["number"].to_list() == [2400, 600, 60]


def test_intervals_of_few_starts_hold_the_truth():
    """In 100 made-up experiments of the recorded size, about 95 % of the intervals do."""
    truth, held = np.array([2, 3, 6]), np.zeros(3)
    for seed in range(100):
        slices = made_up_slices.of(A_A, 60, sd=tuple(truth / 100), seed=seed)
        table = variance.components(slices)
        held += (table["low"] <= truth) & (truth <= table["high"])
    assert ((held >= 88) & (held <= 100)).all(), held


def test_slices_far_apart_differ_more():
    """By what blocks and starts add; without either, by nothing."""
    table = variance.apart(made_up_slices.of(A_A, 60, sd=(0.02, 0.04, 0.08))).set_index("apart")
    near, block, start = table["sd_pct"]
    assert near == pytest.approx(2 * 2**0.5, rel=0.15)
    assert near < block < start
    assert table.loc["another block, same start", "times"] == pytest.approx(block / near)
    assert table.loc["another block, same start", "times_low"] > 1
    steady = variance.apart(made_up_slices.of(A_A, 60)).set_index("apart")
    assert steady.loc["another block, same start", "times"] == pytest.approx(1, abs=0.05)


def test_one_block_tells_nothing_of_blocks_and_starts():
    """Their parts are unknown, not zero; that of the slice is known."""
    table = variance.components(made_up_slices.of(A_A, 1)).set_index("part")
    assert table["sd_pct"].isna().to_list() == [False, True, True]
    assert table["high"].isna().to_list() == [False, True, True]
