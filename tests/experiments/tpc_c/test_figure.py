"""TPC-C, drawn. The runs are made up."""

from __future__ import annotations

import pytest

from drawn import caption, outside, said, title, written
from experiments.tpc_c import made_up
from ndblab import figures
from ndblab.error import LabError

KEY = "tpc-c"


def test_ratios_lead_and_no_word_leaves_the_picture() -> None:
    """Servers and partitioning follow."""
    figure = figures.draw(KEY, made_up.tables(), [], caption())
    words = written(figure)
    for each in ("4 servers", "by whole key", "2 servers over 1", "node CPU per transaction"):
        assert each in words
    assert title(figure).startswith("Transactions/s: by warehouse over by whole key ")
    assert figure.axes[1].get_ylabel() == "Throughput, transactions/s"
    assert outside(figure) == []
    assert "All rows were checked" in said(figure)


def test_the_description_says_what_the_picture_shows() -> None:
    """Points and ratios."""
    words = figures.describe(KEY, made_up.tables(), [])
    assert "by whole key with 4 servers and 16 clients" in words
    assert "2 servers over 1 1." in words


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
