"""How gains differ between days: what the recordings say, and whether an answer's range holds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest

from ndblab.benchmarks import days, tuning
from ndblab.statistics.recordings import DAYS


@pytest.mark.parametrize("quantity", DAYS)
def test_what_answers_say_of_another_day_is_what_the_recordings_show(quantity: str) -> None:
    """After new recordings, `./lab bench days` prints the new numbers for `recordings.DAYS`."""
    apart = [pair for pair in days.pairs(quantity) if pair.hours >= days.APART_H]
    known = days.estimated(apart)
    assert known.share == pytest.approx(DAYS[quantity].share, abs=0.02)
    assert known.recordings >= DAYS[quantity].recordings
    held = [days._holds(pair, DAYS[quantity]) for pair in apart]
    # Of so few contrasts, some more than 5 % may lie outside by chance.
    assert binomtest(sum(held), len(held), 0.95, alternative="less").pvalue > 0.05


@pytest.mark.parametrize("alike", [True, False])
def test_on_a_simulated_day_effects_deviate_by_the_recorded_share(alike: bool) -> None:
    """Of themselves, in a world of its own for each seed and day."""
    parts = np.array([
        [after / before - 1 for before, after in zip(
            world.effects.values(), days.on_a_day(world, 1, alike).effects.values(), strict=True)]
        for world in map(tuning.several, range(400))
    ])  # fmt: skip
    assert parts.std() == pytest.approx(DAYS["throughput"].share, rel=0.15)
    assert np.isclose(np.ptp(parts, axis=1), 0).all() == alike


def test_the_next_day_s_gain_lies_in_the_range_of_simulated_searches() -> None:
    """The interval of the hour holds it less often."""
    interval, range_ = days.next_days(partial(tuning.handicap, "cheap"), 6, alike=True)
    assert len(range_) == 6
    assert sum(range_) >= 5
    assert sum(interval) < sum(range_)
