"""Alternation and duet: how exact a block is, and what that costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import made_up_slices
from ndblab.design.contrast import ALTERNATION, DUET, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import precision
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


def test_a_block_lasts_until_the_next_one_whatever_its_contrast():
    """Contrasts take turns, so the next block of its own may begin minutes later."""
    lasts_s = made_up_slices.seconds_of_block(A_A)
    slices = {contrast.name: made_up_slices.of(contrast, 8) for contrast in (A_A, A_A_DUET)}
    for late_s, table in zip((0, lasts_s), slices.values(), strict=True):
        first = pd.Timestamp("2021-09-30T12:00:00Z")
        later = pd.to_timedelta(1000 * table["block"] + late_s, unit="s")
        table["started_utc"] = first + later
    both = pd.concat(slices.values(), ignore_index=True).assign(start=1)
    assert precision.block_s(both, trust.A_A) == pytest.approx(lasts_s)


def test_a_single_block_has_a_length_and_no_deviation():
    """The length is that of its slots."""
    row = precision.designs(made_up_slices.of(A_A, 1)).iloc[0]
    assert row["block_s"] == 20
    assert np.isnan([row["sd_pct"], row["minutes"], row["ratio_low"]]).all()
