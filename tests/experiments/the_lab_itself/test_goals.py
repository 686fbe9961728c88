"""The lab's own goals: met, missed or open."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import made_up_slices
from ndblab import figures
from ndblab.dataset import Dataset
from ndblab.design.contrast import ALTERNATION, DUET, Contrast, Side
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import goals
from ndblab.formatting import percent
from ndblab.judging import answers
from ndblab.planning.point import Point
from ndblab.statistics.estimate import Estimate

SIDE = Side(Point(2, 16))
A_A = Contrast(trust.A_A, ALTERNATION, SIDE, SIDE, (), 60, 15)
A_A_DUET = Contrast(trust.A_A_DUET, DUET, SIDE, SIDE, ())
MONITOR = Contrast(trust.MONITOR, ALTERNATION, SIDE, SIDE, ())


def met(*parts: pd.DataFrame) -> list[str]:
    return goals.table(pd.concat(parts, ignore_index=True))["met"].to_list()


def recording(day: str, *parts: pd.DataFrame, earlier: tuple[Dataset, ...] = ()) -> Dataset:
    """Make a dataset that was measured on a day."""
    slices = pd.concat(parts, ignore_index=True)
    manifest = {"started_utc": f"{day}T10:00:00+00:00"}
    return Dataset(Path(day), manifest, {"slices": slices}, earlier)


def answered(data: Dataset) -> answers.Answer:
    return answers.answer("the-lab-itself", goals.together(goals.of_recordings(data)))


def test_a_good_measurement_meets_every_goal():
    """Sixty blocks in four starts of a steady cluster, and a monitor that costs nothing."""
    parts = [
        made_up_slices.of(A_A, 60, sd=(0.02, 0.03, 0.1)),
        made_up_slices.of(A_A_DUET, 20, sd=(0.01, 0.03, 0.1)),
        made_up_slices.of(MONITOR, 20, sd=(0.01, 0.03, 0.1)),
    ]
    assert met(*parts) == ["yes"] * 6


def test_differences_closer_than_identical_sides_agree_are_not_to_be_acted_on():
    """In words: what is met, with its number, and the interval of each design for itself."""
    sides = {
        "in alternation": made_up_slices.of(A_A, 60, sd=(0.02, 0.03, 0.1)),
        "in a duet": made_up_slices.of(A_A_DUET, 20, sd=(0.002, 0.03, 0.1)),
    }
    data = recording("2026-11-25", *sides.values())
    table, answer = goals.table(data.slices), answered(data)
    off_pct = {}
    for design in sides:
        interval = table.set_index("goal").filter(like=design, axis=0).iloc[0]
        off_pct[design] = 100 * max(interval["high"] - 1, 1 - interval["low"])
        assert f"below {percent(off_pct[design])} % {design}" in answer.advice[0]
    assert off_pct["in a duet"] < off_pct["in alternation"] / 2
    assert "60 blocks of identical sides were measured" in answer.certain
    assert any("of resampled decisions on identical sides" in said for said in answer.certain)


def test_a_costly_monitor_misses_its_goal_and_few_blocks_leave_it_open():
    """A tenth lost is outside; four noisy blocks decide nothing."""
    few = met(made_up_slices.of(A_A, 8), made_up_slices.of(MONITOR, 20, ratio=0.9))
    assert (few[0], few[1], few[-1]) == ("no", "no", "no")
    assert met(made_up_slices.of(MONITOR, 4, sd=(0.1, 0, 0)))[-1] == "open"


def test_goals_that_each_recording_meets_are_told_as_such():
    """With the newest one's numbers, and those of a goal on which they disagree."""
    steady = [
        made_up_slices.of(A_A, 60, sd=(0.02, 0.03, 0.1)),
        made_up_slices.of(A_A_DUET, 20, sd=(0.01, 0.03, 0.1)),
    ]
    costly, cheap = (made_up_slices.of(MONITOR, 20, ratio=ratio) for ratio in (0.9, 1.0))
    first = recording("2026-11-25", *steady, costly)
    agreed = recording("2026-11-30", *steady, costly, earlier=(first,))
    told = answered(agreed).certain
    assert told[0] == "the lab meets 5 of its 6 goals, in each of 2 recordings"
    assert told[-1].startswith("missed is the goal: the lab's monitor costs at most 2 %")
    assert ", earlier -10 % (" in told[-1]
    disagreed = recording("2026-11-30", *steady, cheap, earlier=(first,))
    [doubt] = answered(disagreed).open
    assert doubt.startswith("whether the lab's monitor costs at most 2 % of throughput: ")
    assert ", earlier -10 % (" in doubt


def test_identical_sides_agree_as_closely_as_in_the_recording_where_they_agreed_least():
    """A quiet host's interval is no promise for another day."""
    noisy, quiet = (made_up_slices.of(A_A, 60, sd=(part, 0.03, 0.1)) for part in (0.1, 0.005))
    first = recording("2026-11-25", noisy)
    [alone], [both] = (
        answered(data).advice for data in (first, recording("2026-11-30", quiet, earlier=(first,)))
    )
    assert both == alone


def test_what_was_not_measured_is_open():
    """No data is no failure."""
    assert met(made_up_slices.of(A_A, 1).iloc[:0]) == ["open"] * 6


@pytest.mark.parametrize(
    ("interval", "answer"),
    [
        (Estimate(1.0, 0.99, 1.01), "yes"),
        (Estimate(0.9, 0.85, 0.95), "no"),
        (Estimate(0.98, 0.97, 0.99), "open"),
        (Estimate(1.0), "open"),
    ],
)
def test_the_whole_interval_decides(interval, answer):
    """Within the bounds, outside, or neither."""
    assert goals.met(interval, 0.98, math.inf) == answer


def test_a_goal_bounds_its_contrast_in_the_figure_where_no_claim_does():
    """The monitor's: at most 2 % of throughput."""
    data = SimpleNamespace(manifest={"contrasts": [{"name": trust.MONITOR, "claims": []}]})
    bounds = figures.entries()["contrast"].computed(data)["bounds"]
    assert list(bounds.itertuples(index=False, name=None)) == [
        (trust.MONITOR, "goal", 0.98, math.inf)
    ]
