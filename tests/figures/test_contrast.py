"""Contrasts block by block: marks, intervals, allowed ranges. The slices are made up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import made_up_slices
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.design.contrast import ALTERNATION, LEVEL, Contrast, Side
from ndblab.error import LabError
from ndblab.planning.point import Point
from ndblab.statistics import contrasts
from ndblab.statistics.sequential import LOOKS

ONE, TWO = Side(Point(1, 8)), Side(Point(2, 16))


def contrast(name: str = "doubled", per_start: int = 0) -> Contrast:
    return Contrast(name, ALTERNATION, TWO, ONE, ("P-servers-1-2",), 0, per_start)


def tables(*parts: pd.DataFrame, low: float = 1.75, high: float = np.inf):
    bounds = {"contrast": "doubled", "of": "P-servers-1-2", "low": [low], "high": [high]}
    return {
        "slices": pd.concat(parts, ignore_index=True), "bounds": pd.DataFrame(bounds)
    }  # fmt: skip


def draw(given):
    return figures.draw("contrast", given, [], caption())


def marks(ax) -> np.ndarray:
    [line] = [line for line in ax.lines if line.get_marker() == "o"]
    return np.asarray(line.get_ydata())


def test_every_whole_block_is_a_mark_in_the_order_of_measuring():
    """A block that lost a slice is left out, as in the verdicts."""
    slices = made_up_slices.of(contrast(), 9, ratio=1.9)
    slices.loc[slices["block"] == 3, "status"] = "errors: 1"
    [ax] = draw(tables(slices)).axes
    expected = np.exp(contrasts.of_blocks(contrasts.log_ratios(slices, "doubled")))
    assert expected.size == 8
    np.testing.assert_allclose(marks(ax), expected)


def test_the_interval_changes_at_looks_only_and_ends_as_in_the_verdict():
    """One band for each look so far."""
    slices = made_up_slices.of(contrast(), 10, ratio=1.9)
    [ax] = draw(tables(slices, low=0.0)).axes
    paths = [band.get_paths()[0].vertices for band in ax.collections]
    bands = [(path[:, 0].min(), path[:, 1].min(), path[:, 1].max()) for path in paths]
    assert [begin for begin, _, _ in bands] == [look for look in LOOKS if look <= 10]
    last = contrasts.ratio(contrasts.log_ratios(slices, "doubled"))
    assert bands[-1][1:] == pytest.approx((last.low, last.high))
    assert f"{last.value:.3f} ({last.low:.3f} to {last.high:.3f}), 10 blocks" in written(ax.figure)


def test_the_range_that_a_claim_allows_is_shaded():
    """Up to the edge of the panel where it has no end; without a claim there is none."""
    slices = made_up_slices.of(contrast(), 6, ratio=1.9)
    figure = draw(tables(slices))
    assert "allowed by the claim or goal" in " ".join(
        text.get_text() for text in figure.legends[0].get_texts()
    )
    [ax] = figure.axes
    assert 1.75 in {line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"}
    without = draw({"slices": slices})
    assert len(without.axes[0].patches) == 0
    assert len(figure.axes[0].patches) == 1


def test_before_the_first_look_there_are_marks_and_no_interval():
    """It says so."""
    figure = draw(tables(made_up_slices.of(contrast(), 3)))
    assert "no interval from 3 blocks" in written(figure)
    assert not figure.axes[0].collections


def test_cluster_starts_are_marked():
    """Where a contrast goes on in another start."""
    figure = draw(tables(made_up_slices.of(contrast(per_start=5), 15)))
    dotted = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == [5.5, 10.5]
    assert "new cluster start" in said(figure)


@pytest.mark.parametrize("number", [1, 2, 5, 8, 10])
def test_no_text_leaves_the_figure(number: int):
    """With any number of contrasts; those beyond the eighth are named."""
    names = [f"a-contrast-{i}" for i in range(1, number + 1)]
    figure = draw(tables(*(made_up_slices.of(contrast(name), 13, ratio=1.9) for name in names)))
    assert outside(figure) == []
    assert len(figure.axes) == min(number, 8)
    assert ("Not shown: a-contrast-9 and a-contrast-10." in said(figure)) == (number > 8)


def test_a_level_has_no_ratio():
    """Its blocks are shown over their mean, and no result is given."""
    level = Contrast("busiest", LEVEL, TWO, None, ())
    given = tables(made_up_slices.of(level, 6))
    figure = draw(given)
    assert marks(figure.axes[0]).mean() == pytest.approx(1, abs=0.01)
    assert "one side, 6 blocks" in written(figure)
    assert not figure.axes[0].collections


def test_words_for_those_who_cannot_see_it():
    """Name, sides, result, and how the interval narrowed."""
    words = figures.describe("contrast", tables(made_up_slices.of(contrast(), 9, ratio=1.9)), [])
    assert "doubled (servers 2 over 1, clients 16 over 8): 1.9" in words
    assert "% after 4 blocks" in words


def test_a_dataset_without_contrasts_is_refused():
    """A message, not an empty picture."""
    with pytest.raises(LabError, match="nothing to draw"):
        draw(tables(made_up_slices.of(contrast(), 1).iloc[:0]))
