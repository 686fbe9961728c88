"""Contrasts: ratios, blocks, intervals, allowed ranges. The slices are made up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import made_up_slices
from drawn import caption, dots, outside, said, title, written
from ndblab import figures, formatting
from ndblab.design.contrast import ALTERNATION, LEVEL, Contrast, Side
from ndblab.error import LabError
from ndblab.planning.point import Point
from ndblab.statistics import contrasts

ONE, TWO = Side(Point(1, 8)), Side(Point(2, 16))


def contrast(name: str = "doubled") -> Contrast:
    return Contrast(name, ALTERNATION, TWO, ONE, ("P-servers-1-2",))


def tables(*parts: pd.DataFrame, low: float = 1.75, high: float = np.inf):
    bounds = {"contrast": "doubled", "of": "P-servers-1-2", "low": [low], "high": [high]}
    return {
        "slices": pd.concat(parts, ignore_index=True), "bounds": pd.DataFrame(bounds)
    }  # fmt: skip


def draw(given):
    return figures.draw("contrast", given, [], caption())


def circles(ax) -> np.ndarray:
    [line] = [line for line in ax.lines if line.get_marker() == "o"]
    return np.asarray(line.get_xdata())


def test_every_whole_block_is_a_circle():
    """A block that lost a slice is left out, as in the verdicts."""
    slices = made_up_slices.of(contrast(), 9, ratio=1.9)
    slices.loc[slices["block"] == 3, "status"] = "errors: 1"
    [ax] = draw(tables(slices)).axes
    expected = np.exp(contrasts.of_blocks(contrasts.log_ratios(slices, "doubled")))
    assert expected.size == 8
    assert set(circles(ax)) <= set(expected)
    assert len(circles(ax)) >= 6


def test_the_interval_is_that_of_the_verdict():
    """As a mark with a whisker and as a number; the title says the change."""
    slices = made_up_slices.of(contrast(), 10, ratio=1.9)
    figure = draw(tables(slices, low=0.0))
    last = contrasts.ratio(contrasts.log_ratios(slices, "doubled"))
    assert dots(figure.axes[0]) == pytest.approx([last.value])
    assert formatting.change(*last[:3]) in written(figure)
    assert title(figure) == (
        f"Servers 2 over 1, clients 16 over 8: {100 * (last.value - 1):.0f} % more throughput"
    )


def test_the_range_that_a_claim_allows_is_shaded():
    """Up to the edge of the panel where it has no end; without a claim there is none."""
    slices = made_up_slices.of(contrast(), 6, ratio=1.9)
    figure = draw(tables(slices))
    assert "Yellow: allowed by a claim or goal." in said(figure)
    [ax] = figure.axes
    assert [bar.get_x() for bar in ax.patches] == [1.75]
    assert not draw({"slices": slices}).axes[0].patches


def test_before_the_first_look_there_is_a_value_and_no_interval():
    """It says so."""
    figure = draw(tables(made_up_slices.of(contrast(), 3)))
    assert "doubled, 3 blocks" in written(figure)
    assert " to " not in written(figure).replace("due to", "")
    assert "without an interval yet" in title(figure)


@pytest.mark.parametrize("number", [1, 5, 12])
def test_no_text_leaves_the_figure(number: int):
    """With any number of contrasts; those beyond the tenth are named."""
    names = [f"a-contrast-{i}" for i in range(1, number + 1)]
    figure = draw(tables(*(made_up_slices.of(contrast(name), 13, ratio=1.9) for name in names)))
    assert outside(figure) == []
    assert len(figure.axes[0].get_yticks()) == min(number, 10)
    assert ("Not shown: a-contrast-11 and a-contrast-12." in said(figure)) == (number > 10)


def test_a_level_has_no_ratio_and_is_named():
    """A contrast of one side compares nothing."""
    level = made_up_slices.of(Contrast("busiest", LEVEL, TWO, None, ()), 6)
    figure = draw(tables(made_up_slices.of(contrast(), 6), level))
    assert "Not shown: busiest." in said(figure)
    with pytest.raises(LabError, match="nothing to draw"):
        draw(tables(level))


def test_words_for_those_who_cannot_see_it():
    """Name, sides, result, and how the interval narrowed."""
    words = figures.describe("contrast", tables(made_up_slices.of(contrast(), 9, ratio=1.9)), [])
    assert "doubled (servers 2 over 1, clients 16 over 8): +9" in words
    assert "% after 4 blocks" in words


def test_sides_that_should_be_equal_have_a_panel_and_a_scale_of_their_own():
    """A large effect beside them does not hide how near to equal they came."""
    alike = Contrast("a-a", ALTERNATION, ONE, ONE, ())
    parts = [made_up_slices.of(alike, 12), made_up_slices.of(contrast(), 12, ratio=1.9)]
    figure = draw(tables(*parts))
    equal, others = figure.axes
    assert equal.get_xlim()[1] < 1.5 < others.get_xlim()[1]
    assert [len(ax.get_yticks()) for ax in figure.axes] == [1, 1]
    assert "of equal; 1 of 1 others differ" in title(figure)
    assert outside(figure) == []
