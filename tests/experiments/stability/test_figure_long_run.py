"""The figure of a long run with local checkpoints."""

from __future__ import annotations

import re

import pytest

from drawn import caption, outside, said, title, written
from experiments.stability.made_up import repeated
from experiments.stability.made_up import written as long_run
from ndblab import figures
from ndblab.judging import publication

ANCHORS = publication.anchors("long-run")


def draw(seconds: int, **given):
    return figures.draw("long-run", long_run(seconds, **given).tables, ANCHORS, caption())


def test_the_dip_leads_and_the_cost_of_checkpoints_is_a_number() -> None:
    """Every checkpoint of the run is behind its seconds; the published ratio is beside."""
    figure = draw(600)
    dip, kept, seconds = figure.axes
    assert len(seconds.patches) == 30
    assert "30 local checkpoints took 35 % of the time" in said(figure)
    assert dip.get_xlabel() == "Seconds since it started"
    assert "-7 %" in written(figure)
    assert re.fullmatch(
        r"Under CPU quotas, throughput fell by \d+ % as a checkpoint started and by 7(\.\d)? % "
        r"\([\d.]+ to [\d.]+ %\) overall, in 28 cycles$", title(figure)
    )  # fmt: skip
    assert kept.get_title(loc="left") == "The 28 cycles that can be compared"
    assert "less than 4 s apart share a cycle" in said(figure)
    [star] = [line for line in kept.lines if line.get_marker() == "*"]
    assert float(star.get_xdata()[0]) == 0.9


@pytest.mark.parametrize("fall", [0.0, -0.1])
def test_no_fall_is_claimed_that_its_interval_does_not_show(fall: float) -> None:
    """Where throughput stays or rises, the title says that."""
    of = title(draw(600, fall=fall))
    assert "fell" not in of
    assert ("higher" in of) == (fall < 0) or "neither clearly" in of


def test_the_cycles_of_repeats_count_too() -> None:
    """The notes count the runs whose cycles are circles, of a long run without any too."""
    tables = repeated(3).tables
    assert "cycles of 3 runs" in said(figures.draw("long-run", tables, ANCHORS, caption()))
    words = figures.describe("long-run", tables, ANCHORS)
    assert "Throughput of 3 runs, over that outside checkpoints: 0.93" in words


@pytest.mark.parametrize("seconds", [10, 30])
def test_no_text_leaves_the_figure(seconds: int) -> None:
    """In a run without a checkpoint, or without a whole cycle of one."""
    assert outside(draw(seconds)) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """The description has the run, the ratio with its interval, and what was published."""
    words = figures.describe("long-run", long_run(600).tables, ANCHORS)
    assert "600 seconds of one run of oltp_read_write with 4 servers and 16 clients" in words
    assert "about -10 %" in words
    assert "No local checkpoint ran" in figures.describe("long-run", long_run(10).tables, [])
