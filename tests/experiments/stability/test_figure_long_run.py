"""The figure of a long run with local checkpoints."""

from __future__ import annotations

import pytest

from drawn import caption, outside, said, written
from experiments.stability.made_up import repeated
from experiments.stability.made_up import written as long_run
from ndblab import figures
from ndblab.error import LabError
from ndblab.judging import publication

ANCHORS = publication.anchors("long-run")


def draw(seconds: int, **given):
    return figures.draw("long-run", long_run(seconds, **given).tables, ANCHORS, caption())


def test_checkpoints_are_shaded_and_their_cost_is_a_number() -> None:
    """Every checkpoint of the run is behind its seconds; the ratio stands above the cycles."""
    figure = draw(600)
    seconds = figure.axes[0]
    assert len(seconds.patches) == 30
    assert "30 local checkpoints took 35 % of the time" in said(figure)
    assert "Cycle by cycle: 0.93" in written(figure)
    assert "about 0.9" in written(figure)


def test_the_cycles_of_repeats_are_drawn_too() -> None:
    """The title counts the runs; the note tells whose points are hollow."""
    figure = figures.draw("long-run", repeated(3).tables, ANCHORS, caption())
    assert "Cycle by cycle, 3 runs: 0.93" in written(figure)
    assert "its repeats too, as hollow points" in said(figure)
    assert "3 runs have 0.93" in figures.describe("long-run", repeated(3).tables, ANCHORS)
    assert outside(figure) == []


def test_no_filled_point_is_promised_without_a_cycle_in_the_longest_run() -> None:
    """Its checkpoints may follow each other too closely, while a repeat has cycles."""
    tables = dict(repeated(2).tables)
    events = tables["events"]
    tables["events"] = events[events["run_id"] != "run"]
    figure = figures.draw("long-run", tables, ANCHORS, caption())
    assert "Below: cycles of its repeats alone, as hollow points" in said(figure)


@pytest.mark.parametrize("seconds", [10, 30, 600])
def test_no_text_leaves_the_figure(seconds: int) -> None:
    """Nor in a run without a checkpoint, or without a whole cycle of one."""
    assert outside(draw(seconds)) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """The description has the run, the ratio with its interval, and what was published."""
    words = figures.describe("long-run", long_run(600).tables, ANCHORS)
    assert "600 seconds of one run of oltp_read_write with 4 servers and 16 clients" in words
    assert "times its throughput outside" in words
    assert "about 0.9" in words
    assert "No local checkpoint ran" in figures.describe("long-run", long_run(10).tables, [])


def test_a_dataset_without_a_good_run_is_refused() -> None:
    """A failed run gives a message, not an empty picture."""
    tables = dict(long_run(600).tables)
    tables["runs"] = tables["runs"].assign(status="sysbench exited 1")
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw("long-run", tables, ANCHORS, caption())
