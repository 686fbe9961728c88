"""Alternation and duet: how exact a block is, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest

import made_up_slices
from ndblab.analysis import trust
from ndblab.analysis.trust import precision
from ndblab.experiments.designs.contrast import ALTERNATION, DUET, Contrast, Side
from ndblab.planning.point import Point

SIDE = Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 60, 15)
A_A_DUET = Contrast(trust.A_A_DUET, DUET, SIDE, SIDE, ())


def test_a_design_costs_its_blocks():
    """A duet of equal slices has half the slots, so it takes half the time to the same interval."""
    both = [made_up_slices.of(A_A, 60), made_up_slices.of(A_A_DUET, 60, seed=2)]
    tables = [precision.designs(slices) for slices in both]
    alternation, duet = (table.iloc[0] for table in tables)
    assert alternation["block_s"] == pytest.approx(made_up_slices.seconds_of_block(A_A), abs=0.6)
    assert duet["block_s"] == pytest.approx(made_up_slices.seconds_of_block(A_A_DUET), abs=0.6)
    assert alternation["low"] < alternation["sd_pct"] < alternation["high"]
    assert alternation["sd_pct"] == pytest.approx(3, rel=0.25)
    assert duet["minutes"] < alternation["minutes"]


def test_a_single_block_has_a_length_and_no_deviation():
    """The length is that of its slots."""
    row = precision.designs(made_up_slices.of(A_A, 1)).iloc[0]
    assert row["block_s"] == 20
    assert np.isnan([row["sd_pct"], row["minutes"], row["ratio_low"]]).all()
