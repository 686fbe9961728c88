"""Several recordings of one effect: what they say together."""

from __future__ import annotations

import numpy as np
import pytest

from ndblab.statistics import recordings
from ndblab.statistics.estimate import Estimate
from ndblab.statistics.recordings import Apart


def test_one_recording_has_no_interval_between_recordings() -> None:
    """Nobody knows from one how much others would differ."""
    mean = recordings.pooled([0.1], [0.01])
    assert mean.value == pytest.approx(0.1)
    assert not mean.bounded


def test_two_recordings_that_agree_decide_only_what_is_large() -> None:
    """One degree of freedom: nine standard errors of one of them to either side."""
    value, low, high = recordings.pooled([0.1, 0.1], [0.01, 0.01])
    assert value == pytest.approx(0.1)
    assert (high - value) / 0.01 == pytest.approx(12.706 / 2**0.5, rel=1e-3)
    assert low == pytest.approx(0.1 - (high - 0.1))


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_recording_before_its_first_look_gives_no_interval(blocks: int) -> None:
    """As for a verdict."""
    whole = np.random.default_rng(1).normal(0.1, 0.01, (6, 2))
    pooled = recordings.of_contrast([whole, whole[:blocks]])
    assert pooled.value == pytest.approx(np.exp(0.1), rel=0.05)
    assert not pooled.bounded


def test_recordings_that_lie_apart_weigh_alike_and_widen_the_interval() -> None:
    """Distance far beyond the errors is variance between recordings; the exact one gains nothing.

    The variance of two, by hand: half the squared distance, less the mean of their own variances.
    """
    values, errors = np.array([0.0, 0.2]), np.array([0.001, 0.01])
    variance = recordings.between(values, errors**2)
    assert variance == pytest.approx(0.2**2 / 2 - (0.001**2 + 0.01**2) / 2, rel=1e-6)
    value, low, high = recordings.pooled(values, errors)
    assert value == pytest.approx(0.1, abs=0.001)
    assert low < 0 < 0.2 < high


def test_a_more_exact_recording_weighs_more_where_they_agree() -> None:
    """Without variance between recordings, their own errors give the weights."""
    assert recordings.between(np.array([0.0, 0.01]), np.array([0.01, 0.02]) ** 2) == 0
    assert recordings.pooled([0.0, 0.01], [0.01, 0.02]).value == pytest.approx(0.002)


def test_recordings_without_any_error_of_their_own_are_pooled() -> None:
    """Counts that differ between recordings have no error within one."""
    value, low, high = recordings.pooled([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert value == pytest.approx(2)
    assert (high - low) / 2 == pytest.approx(4.303 / 3**0.5, rel=1e-3)


@pytest.mark.parametrize("apart", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("number", [2, 3])
def test_what_has_no_effect_is_decided_in_five_percent_at_most(number: int, apart: float) -> None:
    """Whether recordings agree or lie apart by more than their own errors of 0.01."""
    rng, draws = np.random.default_rng(5), 1500
    values = rng.normal(0, np.hypot(apart, 0.01), (draws, number))
    errors = 0.01 * np.sqrt(rng.chisquare(6, (draws, number)) / 6)
    means = [recordings.pooled(*measured) for measured in zip(values, errors, strict=True)]
    assert np.mean([mean.low > 0 or mean.high < 0 for mean in means]) <= 0.06


def test_the_range_of_another_day_adds_the_deviation_of_two_days() -> None:
    """By hand: t of 9 is 2.262, and two days differ by that times the root of 2 times 0.2 of the
    mean of their effects. Without an effect, the estimate's own interval remains.
    """
    days = {"mine": Apart(0.0, 0.2, 9)}
    effect, half, part = 0.4, 0.05, 2.262 * 2**0.5 * 0.2
    towards, away = part * effect / (1 + part / 2), part * effect / (1 - part / 2)
    mean_of_days = effect + away / 2
    assert away == pytest.approx(part * mean_of_days)
    ratio = Estimate(*np.exp([effect, effect - half, effect + 2 * half]))
    ends = [effect, effect - np.hypot(half, towards), effect + np.hypot(2 * half, away)]
    expected = recordings.another_day(ratio, "mine", days)
    assert np.log(expected) == pytest.approx(ends, rel=1e-3)
    inverse = recordings.another_day(
        Estimate(1 / ratio.value, 1 / ratio.high, 1 / ratio.low), "mine", days
    )
    assert np.log(inverse) == pytest.approx([-ends[0], -ends[2], -ends[1]], rel=1e-3)
    none = Estimate(1.0, 0.98, 1.03)
    assert tuple(recordings.another_day(none, "mine", days)) == pytest.approx(tuple(none))


def test_any_effect_differs_between_days_by_a_floor() -> None:
    """Also none, and where both parts count, the ends solve the equation of the docstring."""
    floor, part = 2.262 * 2**0.5 * 0.04, 2.262 * 2**0.5 * 0.2
    none = recordings.another_day(Estimate(1.0, 1.0, 1.0), "x", {"x": Apart(0.04, 0.0, 9)})
    assert np.log(none[1:]) == pytest.approx((-floor, floor), rel=1e-3)
    both = recordings.another_day(Estimate(1.5, 1.5, 1.5), "x", {"x": Apart(0.04, 0.2, 9)})
    today = np.log(1.5)
    for end in np.log(both[1:]):
        assert (end - today) ** 2 == pytest.approx(
            floor**2 + (part * (end + today) / 2) ** 2, rel=1e-3
        )


@pytest.mark.parametrize(("quantity", "low"), [("p95", 1.1), ("throughput", float("nan"))])
def test_nothing_is_expected_of_what_is_unknown(quantity: str, low: float) -> None:
    """How p95 differs between days, or a ratio without an interval."""
    assert not recordings.another_day(Estimate(1.2, low, 1.3), quantity).bounded


def test_the_deviation_between_days_is_found_in_effects_measured_twice() -> None:
    """The floor, and the part of the effect; errors that explain the differences leave none."""
    rng, number = np.random.default_rng(3), 4000
    effects, errors = rng.uniform(-1, 1, number), rng.uniform(0.01, 0.05, (2, number))
    days = rng.normal(0, np.hypot(0.05, 0.2 * effects), (2, number))
    measured, variances = effects + days + rng.normal(0, errors), (errors**2).sum(axis=0)
    assert recordings.between_days(*measured, variances) == pytest.approx((0.05, 0.2), rel=0.1)
    assert recordings.between_days(*measured, variances + 1) == pytest.approx((0, 0), abs=1e-3)


@pytest.mark.parametrize("effect", [0.1, 0.9])
def test_the_range_holds_95_percent_of_other_days(effect: float) -> None:
    """Days deviate as they do in the recordings, and so does the day of measurement."""
    rng, draws, error = np.random.default_rng(8), 2000, 0.01
    floor, share, _ = recordings.DAYS["throughput"]
    first, second = effect + rng.normal(0, np.hypot(floor, share * effect), (2, draws))
    held = []
    for mean, then in zip(first + rng.normal(0, error, draws), second, strict=True):
        ratio = Estimate(*np.exp([mean, mean - 1.96 * error, mean + 1.96 * error]))
        expected = recordings.another_day(ratio)
        held.append(expected.low <= np.exp(then) <= expected.high)
    assert np.mean(held) >= 0.95
