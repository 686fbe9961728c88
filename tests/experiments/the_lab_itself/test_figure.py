"""Parts of the variance, drawn. The slices are made up."""

from __future__ import annotations

import pytest

import made_up_slices
from drawn import caption, dots, outside, said, written
from ndblab import figures
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import variance
from ndblab.planning.point import Point

SIDE = Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 60, 15)


def test_every_part_and_distance_is_a_mark():
    """At its value, which is written beside it."""
    slices = made_up_slices.of(A_A, 60, sd=(0.03, 0.03, 0.06))
    figure = figures.draw("variance", {"slices": slices}, [], caption())
    for ax, table in zip(
        figure.axes, (variance.components(slices), variance.apart(slices)), strict=True
    ):
        assert dots(ax) == pytest.approx(table["sd_pct"].to_list())
    words = figures.describe("variance", {"slices": slices}, [])
    assert f"slice {variance.components(slices)['sd_pct'][0]:.1f} %" in words


def test_what_few_blocks_cannot_tell_is_unknown():
    """One start says nothing of starts."""
    slices = made_up_slices.of(A_A, 6)
    figure = figures.draw("variance", {"slices": slices}, [], caption())
    assert "unknown" in written(figure)
    assert "Too few to tell: cluster start." in said(figure)
    assert outside(figure) == []
