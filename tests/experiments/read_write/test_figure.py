"""The figure of OLTP read/write and its variations."""

from __future__ import annotations

import pytest

from drawn import caption, line_like, outside, said, title, written
from experiments.read_write import made_up
from ndblab import figures
from ndblab.error import LabError

TABLES = made_up.tables()


def draw(tables=TABLES):
    return figures.draw("read-write", tables, [], caption())


def test_ratios_lead_and_keys_and_transactions_follow() -> None:
    """With the numbers that were measured, the answer first: what lists of keys gain."""
    figure = draw()
    forest, lists, servers = figure.axes
    bars = dict(zip((x.get_text() for x in lists.get_yticklabels()), lists.patches, strict=True))
    longest = max(bars.values(), key=lambda bar: bar.get_width())
    assert bars["in lists of 100"] is longest
    assert bars["one by one"].get_width() < bars["in lists of 10"].get_width()
    names = [x.get_text() for x in forest.get_yticklabels()]
    assert names[0].startswith("lookups: ")
    assert {"2 servers over 1", "4 servers over 2"} <= set(names)
    runs = TABLES["runs"]
    one = runs[(runs["servers"] == 1) & (runs["workload"] == "oltp_read_write")]
    line_like(servers, one.groupby("clients")["qps"].mean() / 20)
    assert servers.get_ylabel() == "Throughput, transactions/s"
    assert "times the keys of single selects" in title(figure)
    assert "corrected for repeated looks" in said(figure)


def test_no_text_leaves_the_figure_of_single_runs() -> None:
    assert outside(draw(made_up.tables(1))) == []


def test_a_ratio_without_an_interval_is_no_finding() -> None:
    """The title says that it has none."""
    assert title(draw(made_up.tables(blocks=2))).endswith("(no interval)")


def test_what_was_not_measured_is_said() -> None:
    """Plain read/write alone draws, with its best throughput as the answer."""
    runs = TABLES["runs"]
    plain = runs[(runs["workload"] == "oltp_read_write") & (runs["variant"] == "default")]
    figure = draw({**TABLES, "runs": plain, "slices": TABLES["slices"].iloc[:0]})
    assert "no contrast was measured" in written(figure)
    assert title(figure).endswith("transactions/s at best")
    assert outside(figure) == []


def test_words_for_those_who_cannot_see_it() -> None:
    words = figures.describe("read-write", TABLES, [])
    assert "4 servers over 2 +3" in words
    assert "with 4 servers" in words


def test_without_read_write_there_is_no_figure() -> None:
    runs = TABLES["runs"]
    others = runs[runs["workload"] == "oltp_point_select"]
    with pytest.raises(LabError, match="nothing to draw"):
        draw({**TABLES, "runs": others})
