"""Sentences: numbers from the tables, and conclusions only where intervals allow them."""

from __future__ import annotations

import pandas as pd
import pytest

import made_up_slices
from ndblab import formatting
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import (
    conditions,
    false_decisions,
    goals,
    precision,
    sentences,
    variance,
)
from ndblab.planning.point import Point

ONE, TWO = Side(Point(1, 8)), Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, TWO, TWO, (), 60, 15)


def effects(**ratios: float) -> pd.DataFrame:
    parts = [
        made_up_slices.of(Contrast(name.replace("_", "-"), ALTERNATION, TWO, ONE, ()), 9, ratio=r)
        for name, r in ratios.items()
    ]
    slices = pd.concat(parts, ignore_index=True)
    return conditions.effects(slices, made_up_slices.processes(slices, {"a": 900, "b": 600}))


@pytest.mark.parametrize(
    ("awake", "conclusion"),
    [(1.6, "are a part of the gain"), (2.3, "Open:"), (3.0, "do not explain the gain")],
)
def test_idle_cpus_are_blamed_only_where_intervals_part(awake, conclusion):
    """Overlap leaves it open."""
    words = sentences.on_idle_cpus(effects(servers_1_2=2.3, spinner_1_2=awake))
    assert conclusion in words
    assert "2.3" in words


def test_an_effect_is_told_with_its_interval():
    """Throughput and CPU time per query; what was not measured is said to be."""
    table = effects(monitor=0.97)
    words = sentences.on_effect(table, trust.MONITOR)
    low, high = table["qps_low"][0], table["qps_high"][0]
    assert words.startswith("With the lab's monitor, throughput is 0.9")
    assert f"({low:.2f} to {high:.2f}) that without" in words
    assert "CPU time per query 1.50 times" in words
    assert sentences.on_effect(table, trust.NEIGHBOUR) == "It was not measured."
    assert sentences.on_idle_cpus(table) == "It was not measured."


def test_identical_sides_are_told_in_numbers():
    """Analyses, distances and designs; a single block leaves out what it cannot tell."""
    slices = made_up_slices.of(A_A, 60, sd=(0.03, 0.03, 0.06))
    counted = false_decisions.counted(slices)
    share = counted["false_pct"].iloc[-1]
    words = sentences.on_false_decisions(counted, false_decisions.correlation(slices))
    assert (
        f"Of {formatting.exact(5000)} resampled analyses of 60 blocks, {share:.1f} % find" in words
    )
    assert "Neighbouring blocks correlate at " in words
    assert "Those of different cluster starts differ by" in sentences.on_distance(
        variance.apart(slices)
    )
    known = sentences.on_designs(precision.designs(slices))
    assert known.startswith("How long until a ratio is known to within 2 % on either side: a-a ")
    assert known.endswith(" minutes.")
    noisy = precision.designs(made_up_slices.of(A_A, 60, sd=(0.9, 0.03, 0.06)))
    assert sentences.on_designs(noisy).endswith("a-a takes more than 100 blocks.")
    assert sentences.on_goals(goals.table(slices)).startswith("6 goals: yes ")
    single = made_up_slices.of(A_A, 1)
    assert "different" not in sentences.on_distance(variance.apart(single))
    assert "cannot be told" in sentences.on_designs(precision.designs(single))
