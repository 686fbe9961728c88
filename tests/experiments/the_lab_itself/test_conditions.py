"""Effects of the monitor, of foreign load and of idle CPUs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import made_up_slices
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import conditions
from ndblab.planning.point import Point

ONE, TWO = Side(Point(1, 8)), Side(Point(2, 16))
SPINNER = Contrast(trust.SPINNER, ALTERNATION, ONE, ONE, ())
MONITOR = Contrast(trust.MONITOR, ALTERNATION, TWO, TWO, ())


def test_both_sides_are_shown_with_what_they_cost():
    """Throughput, idle share and CPU of a query, side by side; ratios with intervals."""
    slices = made_up_slices.of(SPINNER, 9, ratio=1.5, busy_pct={"a": 99.0, "b": 40.0})
    used = made_up_slices.processes(slices, {"a": 800.0, "b": 1200.0})
    awake, asleep = conditions.sides(slices, used).to_dict("records")
    assert (awake["idle_pct"], asleep["idle_pct"]) == pytest.approx((1, 60))
    assert (awake["query_us"], asleep["query_us"]) == pytest.approx((800, 1200))
    assert asleep["qps"] == pytest.approx(1000, rel=0.05)
    [effect] = conditions.effects(slices, used).to_dict("records")
    assert effect["qps_low"] < 1.5 < effect["qps_high"]
    assert effect["query_us"] == pytest.approx(2 / 3)


def test_a_side_without_the_monitor_has_no_cpu_use():
    """Its throughput counts all the same."""
    slices = made_up_slices.of(MONITOR, 6)
    used = made_up_slices.processes(slices, {"a": 800.0})
    table = conditions.sides(slices, used).set_index("side")
    assert np.isnan(table.loc["without", "query_us"])
    assert table.loc["with the lab's monitor", "query_us"] == pytest.approx(800)
    [effect] = conditions.effects(slices, used).to_dict("records")
    assert effect["qps"] == pytest.approx(1, abs=0.05)
    assert np.isnan(effect["query_us"])


def test_contrasts_that_were_not_measured_are_left_out():
    """A dataset with none of them gives empty tables."""
    slices = made_up_slices.of(MONITOR, 1).iloc[:0]
    used = pd.DataFrame(columns=["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"])
    assert conditions.sides(slices, used).empty
    assert conditions.effects(slices, used).empty
