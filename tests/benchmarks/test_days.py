"""How gains differ between days: what the recordings say, and whether an answer's range holds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest

from ndblab.benchmarks import days, worlds
from ndblab.statistics.recordings import DAYS


@pytest.mark.parametrize("quantity", DAYS)
def test_what_answers_say_of_another_day_is_what_the_recordings_show(quantity: str) -> None:
    """After new recordings, `./lab bench days` prints the new numbers for `recordings.DAYS`."""
    apart = [pair for pair in days.pairs(quantity) if pair.hours >= days.APART_H]
    known = days.estimated(apart)
    assert known[:2] == pytest.approx(DAYS[quantity][:2], abs=0.02)
    assert known.recordings >= DAYS[quantity].recordings
    held = [days._holds(pair, DAYS[quantity]) for pair in apart]
    # Of so few contrasts, some more than 5 % may lie outside by chance.
    assert binomtest(sum(held), len(held), 0.95, alternative="less").pvalue > 0.05


@pytest.mark.parametrize("alike", [True, False])
def test_on_a_simulated_day_a_gain_deviates_as_recorded(alike: bool) -> None:
    """That of all settings together, or of each by itself, which partly cancel out."""
    planted = [*map(worlds.several, range(600))]
    both = [(world.effects, days.on_a_day(world, 1, alike).effects) for world in planted]
    before, after = (
        np.array([[*effects.values()] for effects in day]) for day in zip(*both, strict=True)
    )
    moved, (floor, share, _) = after - before, DAYS["throughput"]
    wanted = floor**2 + (share * before.sum(axis=1)) ** 2
    ratio = (moved.sum(axis=1) ** 2 / wanted).mean() ** 0.5
    assert (ratio == pytest.approx(1, rel=0.15)) == alike
    assert 0.4 < ratio < 1.2
    # Alike, what each moves by is a straight line over the effects.
    slopes = np.diff(moved, axis=1) / np.diff(before, axis=1)
    assert np.isclose(np.ptp(slopes, axis=1), 0, atol=1e-6).all() == alike


def test_the_next_day_s_gain_lies_in_the_range_of_simulated_searches() -> None:
    """The interval of the hour holds it less often."""
    interval, range_ = days.next_days(partial(worlds.handicap, "cheap"), 12, alike=True)
    assert len(range_) == 12
    assert sum(range_) >= 10
    assert sum(interval) < sum(range_)
