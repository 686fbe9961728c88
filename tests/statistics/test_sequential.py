"""Intervals that may be looked at: their promise, checked by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ndblab.statistics import estimate, sequential
from ndblab.statistics.sequential import LOOKS

SERIES = 20_000


@pytest.fixture(scope="module", params=[1, 2])
def parts(request: pytest.FixtureRequest) -> int:
    """Give the parts of a unit: its value alone, or one for each of its halves."""
    return request.param


@pytest.fixture(scope="module")
def looked_at(parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw series of true mean 0: mean over standard deviation of a unit, by series and look."""
    x = np.random.default_rng(1).standard_normal((SERIES, LOOKS[-1], parts))
    looks = np.array(LOOKS)
    sums, squares = x.cumsum(axis=1)[:, looks - 1], (x * x).cumsum(axis=1)[:, looks - 1]
    means = sums / looks[:, None]
    variances = (squares - looks[:, None] * means**2) / (looks[:, None] - 1)
    return means.mean(axis=2), np.sqrt(variances.mean(axis=2) / parts)


def ever_wrong(looked_at: tuple[np.ndarray, np.ndarray], half_widths: list[float]) -> float:
    """Return the share of series whose interval misses 0 at any look."""
    means, deviations = looked_at
    return float((np.abs(means) > deviations * half_widths).any(axis=1).mean())


@pytest.mark.parametrize(
    ("confidence", "least", "most"), [(0.95, 0.04, 0.06), (0.99, 0.007, 0.013)]
)
def test_all_looks_together_hold_the_truth(
    looked_at: tuple[np.ndarray, np.ndarray],
    parts: int,
    confidence: float,
    least: float,
    most: float,
) -> None:
    """However often one looks, the interval misses the truth as seldom as it says."""
    widths = [sequential.half_width(1.0, look, parts, confidence) for look in LOOKS]
    assert least <= ever_wrong(looked_at, widths) <= most


def test_stopping_at_an_ordinary_interval_is_wrong_too_often(
    looked_at: tuple[np.ndarray, np.ndarray],
) -> None:
    """This is why an ordinary 95 % interval may not be looked at while measuring goes on."""
    widths = [float(estimate.t(look - 1)) / math.sqrt(look) for look in LOOKS]
    assert ever_wrong(looked_at, widths) > 0.12


def test_more_confidence_is_wider_all_the_way() -> None:
    """Between the simulated levels, and at them, the width grows with the confidence."""
    levels = [0.95, 0.96, 0.975, 0.98, 0.99, 0.993, 0.995, 0.998, 0.999]
    widths = [sequential.half_width(1.0, 9, confidence=level) for level in levels]
    assert widths == sorted(widths)
    assert len(set(widths)) == len(widths)


def test_halves_tell_more_than_their_mean() -> None:
    """Two halves of a unit give a narrower interval around the same mean, at an early look."""
    ratios = []
    for seed in range(200):
        halves = np.random.default_rng(seed).normal(1.0, 0.1, (LOOKS[0], 2))
        of_halves, of_means = (sequential.interval(x) for x in (halves, halves.mean(axis=1)))
        assert of_halves.value == pytest.approx(of_means.value)
        ratios.append((of_halves.high - of_halves.low) / (of_means.high - of_means.low))
    assert np.median(ratios) < 0.8


def test_what_all_first_halves_have_in_common_adds_no_error() -> None:
    """Another server in every second half shifts the mean, and does not widen the interval."""
    halves = np.random.default_rng(5).normal(1.0, 0.1, (LOOKS[1], 2))
    plain, shifted = (sequential.interval(halves + np.array([0.0, by])) for by in (0.0, 0.3))
    assert shifted.value == pytest.approx(plain.value + 0.15)
    assert shifted.high - shifted.low == pytest.approx(plain.high - plain.low)


def test_there_is_no_interval_before_the_first_look() -> None:
    """Three units give a mean without an interval, and nothing gives nothing."""
    assert sequential.interval(np.array([1.0, 2.0, 3.0])).value == 2
    assert not sequential.interval(np.array([1.0, 2.0, 3.0])).bounded
    assert math.isnan(sequential.interval(np.array([])).value)


def test_the_interval_does_not_change_between_two_looks() -> None:
    """One more unit changes nothing until the next look, so nobody can pick a lucky moment."""
    values = np.random.default_rng(2).normal(size=LOOKS[2])
    first, between = LOOKS[1], LOOKS[2] - 1
    at_look = sequential.interval(values[:first])
    assert sequential.interval(values[:between]) == at_look
    assert sequential.interval(values) != at_look


def test_a_later_look_takes_nothing_back() -> None:
    """Noise that comes later moves the mean; what an earlier look excluded stays excluded."""
    quiet = np.tile([0.9, 1.1], LOOKS[0] // 2)
    low, high = sequential.interval(quiet)[1:]
    assert low > 0
    wild = np.append(quiet, [4.0, -2.0] * (LOOKS[1] - LOOKS[0]))[: LOOKS[1]]
    alone = sequential.half_width(sequential.deviation(wild), LOOKS[1])
    interval = sequential.interval(wild)
    assert interval.value - alone < 0
    assert (interval.low, interval.high) == (low, high)
    assert sequential.chances(wild, 0.0, math.inf)[LOOKS[2]] == 1


def test_looks_that_share_nothing_leave_the_last_one() -> None:
    """A host that changes for good has another mean; the interval is not empty."""
    jump = np.append(np.tile([0.99, 1.01], 2), np.tile([1.99, 2.01], 48))
    before, after = sequential.interval(jump[: LOOKS[0]]), sequential.interval(jump)
    assert before.high < after.low < after.value < after.high


def test_the_mean_lies_within_the_interval() -> None:
    """The mean may leave the interval of earlier looks; the interval then extends to it."""
    shifting = np.append(np.tile([0.9, 1.1], 2), np.full(16, 1.5))
    interval = sequential.interval(shifting)
    assert interval.low <= interval.value <= interval.high


def test_the_chance_of_a_later_look_is_the_share_that_it_decides() -> None:
    """Of series with chances near 0.1, 0.2 ..., about so many are decided at that look."""
    rng = np.random.default_rng(3)
    seen, later = LOOKS[1], LOOKS[3]
    chance, decided = [], []
    for effect in rng.normal(0, 1, 4000):
        values = rng.normal(effect, 1.0, (later, 2))
        chances = sequential.chances(values[:seen], 0.0, math.inf)
        low, high = sequential.interval(values)[1:]
        chance.append(chances[later])
        decided.append(low > 0 or high < 0)
    tenths = np.digitize(chance, np.arange(0.1, 1, 0.1))
    for tenth in range(10):
        mine = tenths == tenth
        assert abs(np.mean(decided, where=mine) - np.mean(chance, where=mine)) < 0.1


def test_a_range_with_two_ends_is_decided_inside_and_outside() -> None:
    """An interval in the range's middle may come to lie inside; one far away lies outside."""
    values = np.tile([-1.0, 1.0], 10)
    middle, wide, away = (
        sequential.chances(values, *ends) for ends in ((-0.1, 0.1), (-9, 9), (9, 10))
    )
    assert max(middle.values()) < 0.1
    assert min(wide.values()) > 0.99
    assert min(away.values()) > 0.99


def test_the_probable_look_is_the_first_that_decides_more_likely_than_not() -> None:
    """Values right at the bound would never decide, and three say nothing yet."""
    values = np.tile([-1.0, 1.0], 10)
    assert sequential.probable_look(sequential.chances(values, 0.0, math.inf)) == math.inf
    assert sequential.chances(values[:3], 5.0, math.inf) is None
    assert sequential.probable_look(sequential.chances(values, -math.inf, 9.0)) == 30
    assert sequential.probable_look({6: 0.4, 9: 0.6, 13: 0.9}) == 9


def test_equal_values_have_a_forecast() -> None:
    """Their deviation is 0, so the next look decides."""
    assert sequential.chances(np.ones(4), 0.0, math.inf)[LOOKS[1]] == 1
