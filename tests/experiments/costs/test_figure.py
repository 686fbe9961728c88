"""Costs by number of servers, and by clients of one: what is drawn and described."""

from __future__ import annotations

import numpy as np
import pytest

from drawn import caption, line_like, outside, said, title, written
from experiments.costs import made_up as world
from ndblab import figures
from ndblab.error import LabError
from ndblab.experiments.costs import analysis

KEYS = ("costs", "costs-one-server")


def test_the_title_says_what_more_servers_cost():
    """CPU per query and throughput at equal clients in all, as the finding; else of each server."""
    tables = world.tables()
    figure = figures.draw("costs", tables, [], caption("shared"))
    cost = "19 % more CPU per query, 16 % less throughput"
    assert title(figure) == f"16 servers instead of one, 64 clients in all: {cost}"
    assert figure.axes[0].get_yticklabels()[0].get_text() == "CPU per query, 64 clients in all"
    assert figure.axes[1].get_title(loc="left") == "64 clients in all"
    each = tables["slices"]["contrast"] != "most-over-one-total"
    tables["slices"] = tables["slices"][each]
    figure = figures.draw("costs", tables, [], caption("shared"))
    assert title(figure) == f"16 servers instead of one, 8 clients each: {cost}"


def test_cost_by_role_and_throughput_are_lines_against_servers():
    """mysqld grows as planted; throughput falls, at equal clients each and in all."""
    figure = figures.draw("costs", world.tables(), [], caption("shared"))
    forest, cost, rate = figure.axes
    assert len([x for x in forest.get_yticklabels() if "8 clients each" in x.get_text()]) == 4
    assert forest.get_xlabel().startswith("16 servers over 1, ")
    line_like(cost, [world.mysqld_us(n) for n in (1, 2, 4, 8, 16)])
    line_like(cost, [world.NDBMTD_US] * 5)
    line_like(rate, [1.02 * world.qps(n, 64) for n in (1, 2, 4, 8, 16)])
    assert cost.get_xlabel() == rate.get_xlabel() == "MySQL servers"
    assert "64 clients in all" in written(figure)
    assert cost.get_ylim()[0] == rate.get_ylim()[0] == 0


def test_one_server_has_its_turn_ringed_and_the_published_point_beside_it():
    """The star is at 32 clients and 61 us, among the measured costs."""
    figure = figures.draw("costs-one-server", world.tables(), [analysis.published()], caption())
    _, rate, cost = figure.axes
    [ring] = [x for x in rate.lines if x.get_markersize() == 11]
    assert list(ring.get_xdata()) == [world.KNEE]
    [star] = [x for x in cost.lines if x.get_marker() == "*"]
    assert (float(star.get_xdata()[0]), float(star.get_ydata()[0])) == (32, 61)
    assert title(figure).startswith("One server stops gaining at 8 clients, 6.")
    assert "Stars: published" in said(figure)


@pytest.mark.parametrize("key", KEYS)
def test_no_text_leaves_the_figure(key: str):
    """Where there is a single run per point and no contrast."""
    anchors = [analysis.published()] if key != "costs" else []
    few = world.tables(repeats=1)
    few["slices"] = few["slices"].iloc[:0]
    figure = figures.draw(key, few, anchors, caption("shared"))
    assert outside(figure) == []
    assert np.isfinite(figure.axes[-1].get_ylim()).all()


def test_a_dataset_without_cpu_is_refused():
    """The message says what is missing."""
    tables = world.tables()
    tables["processes"] = tables["processes"].iloc[:0]
    for key in KEYS:
        with pytest.raises(LabError, match="nothing to draw"):
            figures.draw(key, tables, [], caption("shared"))
