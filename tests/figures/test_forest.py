"""Forests: nothing covers a value, and what is beyond the axis is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from drawn import said
from ndblab.figures import forest, sheet
from ndblab.judging.publication import Anchor

ROWS = pd.DataFrame({"name": ["a", "b"], "ratio": [1.1, np.nan], "low": [1.05, np.nan],
                     "high": [1.15, np.nan], "text": [None, "about +10 %"]})  # fmt: skip
PUBLISHED = Anchor("x", "a", 0, 0, 1.1, "ratio", "about", "", "T-top", "source")


def draw(**given) -> Figure:
    with sheet.page(3.0) as figure:
        forest.draw(figure.subplots(), ROWS, "Throughput, ratio", **given)
        sheet.sign(figure, sheet.Head("Title"), "Source")
    figure.draw_without_rendering()
    return figure


def test_a_star_leaves_the_measured_value_free() -> None:
    """It stands above its row, or in it where nothing was measured."""
    ax = draw(anchors={"a": [PUBLISHED], "b": [PUBLISHED]}).axes[0]
    stars = [float(line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "*"]
    row, star = (ax.transData.transform((1.1, y))[1] * 72 / ax.figure.dpi for y in (0, stars[0]))
    assert star - row > 10
    assert stars[1] == 1


def test_what_is_allowed_is_behind_the_values() -> None:
    """Yellow does not cover dots and whiskers."""
    ax = draw(allowed={"a": (1.0, 1.2)}).axes[0]
    [band] = ax.patches
    assert band.get_zorder() < min(marks.get_zorder() for marks in ax.collections)


def test_few_circles_are_all_shown_whole_and_many_are_counted() -> None:
    """None is cut by the edge of its panel."""
    few = pd.DataFrame({"name": "a", "ratio": [0.6, *[1.1] * 20, 1.9]})
    figure = draw(each=few)
    [circles] = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(circles.get_xdata()) == len(few)
    assert not circles.get_clip_on()
    assert "beyond" not in said(figure)
    many = pd.DataFrame({"name": "a", "ratio": [0.2, *np.linspace(1, 1.2, 200), 9.0]})
    assert "Circles beyond the axis: 2." in said(draw(each=many))


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (2.1, "2.1 times the CPU of send"),
        (1.11, "11 % more CPU than send"),
        (0.8, "20 % less CPU than send"),
        (1.003, "about the CPU of send"),
    ],
)
def test_a_ratio_is_said_with_what_is_compared(ratio: float, words: str) -> None:
    """However large it is."""
    assert forest.compared(ratio, "CPU", "send") == words
