"""The figure of OLTP read/write and its variations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from drawn import caption, outside, said, written
from experiments.read_write import made_up
from ndblab import figures
from ndblab.error import LabError

TABLES = made_up.tables()


def draw(tables=TABLES):
    return figures.draw("read-write", tables, [], caption())


def test_each_question_has_its_panel() -> None:
    """With the numbers that were measured."""
    figure = draw()
    titles = " ".join(ax.get_title("left") for ax in figure.axes)
    for words in ("by servers", "filtered or not", "Keys looked up", "Processes", "CPUs used"):
        assert words in titles
    servers = figure.axes[0]
    assert len([line for line in servers.lines if len(line.get_xdata()) > 1]) == 3
    runs = TABLES["runs"]
    one = runs[(runs["servers"] == 1) & (runs["workload"] == "oltp_read_write")]
    means = one.groupby("clients")["qps"].mean() / 20
    np.testing.assert_allclose(servers.lines[0].get_ydata(), means)


def test_keys_and_queries_are_both_drawn() -> None:
    """Ten keys a query are ten times the queries."""
    keys, queries, single = draw().axes[2].lines
    ratio = np.asarray(keys.get_ydata()) / np.asarray(queries.get_ydata())
    np.testing.assert_allclose(ratio, [1, 10, 100])
    assert len(single.get_xdata()) == 1


def test_ratios_stand_beside_their_intervals() -> None:
    text = written(draw())
    assert "lookups: 10 keys a list over 1" in text
    assert "2 servers over 1" in text
    assert "at all looks together" in said(draw())


@pytest.mark.parametrize("repeats", [1, 3])
def test_no_text_leaves_the_figure(repeats: int) -> None:
    tables = made_up.tables(repeats)
    assert outside(draw(tables)) == []


def test_what_was_not_measured_is_said() -> None:
    """Plain read/write alone draws; the other panels are empty."""
    runs = TABLES["runs"]
    plain = runs[(runs["workload"] == "oltp_read_write") & (runs["variant"] == "default")]
    figure = draw({**TABLES, "runs": plain, "slices": TABLES["slices"].iloc[:0]})
    assert written(figure).count("not measured") == 5
    assert outside(figure) == []


def test_words_for_those_who_cannot_see_it() -> None:
    words = figures.describe("read-write", TABLES, [])
    assert "4 servers over 2 1.3" in words
    assert "in lists of 100" in words
    assert "mysqld 0.6" in words


def test_without_read_write_there_is_no_figure() -> None:
    runs: pd.DataFrame = TABLES["runs"]
    others = runs[runs["workload"] == "oltp_point_select"]
    with pytest.raises(LabError, match="nothing to draw"):
        draw({**TABLES, "runs": others})
