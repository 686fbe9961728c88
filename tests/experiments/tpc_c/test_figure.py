"""TPC-C, drawn. The runs are made up."""

from __future__ import annotations

import pytest

from drawn import caption, outside, said, written
from experiments.tpc_c import made_up
from ndblab import figures
from ndblab.error import LabError

KEY = "tpc-c"


def test_every_question_has_its_panel_and_no_word_leaves_the_picture() -> None:
    """Servers, partitioning, shares, times, ratios."""
    figure = figures.draw(KEY, made_up.tables(), [], caption())
    words = written(figure)
    for each in ("4 servers", "by whole key", "scans of one", "stock-level", "2 servers over 1"):
        assert each in words
    assert outside(figure) == []
    assert "All rows were checked" in said(figure)


def test_the_description_says_what_the_picture_shows() -> None:
    """Points, shares, ratios."""
    words = figures.describe(KEY, made_up.tables(), [])
    assert "75 % of the scans read one partition" in words
    assert "1.5 % of the transactions fail" in words
    assert "2 servers over 1, transactions/s: 1." in words


def test_one_run_of_each_point_is_drawn_without_intervals() -> None:
    """As the smoke profile has it."""
    made = made_up.tables(repeats=1, blocks=1)
    assert outside(figures.draw(KEY, made, [], caption())) == []


def test_inconsistent_rows_are_not_drawn() -> None:
    """The message says which condition they violate."""
    made = made_up.tables()
    made["runs"]["status"] = "inconsistent rows, condition 1: warehouse 1 has 2.00"
    with pytest.raises(LabError, match="nothing to draw") as caught:
        figures.draw(KEY, made, [], caption())
    assert "condition 1" in str(caught.value)
