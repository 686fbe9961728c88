"""Estimates and their intervals, compared with SciPy's and with simulated coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ndblab.statistics import estimate
from ndblab.statistics.estimate import Variability

positive = st.floats(min_value=1e-3, max_value=1e7)
samples = st.lists(positive, min_size=2, max_size=8)


def test_the_interval_of_a_mean_is_that_of_the_t_distribution() -> None:
    """It agrees with SciPy's; one value has none."""
    values = [100.0, 110.0, 105.0]
    expected = stats.t.interval(0.95, 2, loc=105, scale=stats.sem(values))
    assert estimate.mean(values)[1:] == pytest.approx(expected)
    assert not estimate.mean(values[:1]).bounded


@settings(deadline=None)
@given(st.lists(st.floats(min_value=0, max_value=1), min_size=2, max_size=6))
def test_no_interval_leaves_what_is_possible(values: list[float]) -> None:
    """A share stays within its whole and a quantity above zero, even if a value is at the bound."""
    for value, low, high in (estimate.share(values), estimate.positive(values)):
        assert 0 <= low <= value <= high


def test_intervals_of_values_that_vary_little_are_those_of_t() -> None:
    """Far from any bound, logarithms and logits change nothing that matters."""
    values = [0.49, 0.5, 0.52]
    for interval in (estimate.positive, estimate.share):
        assert interval(values)[1:] == pytest.approx(estimate.mean(values)[1:], rel=0.01)
    assert not estimate.share(values[:1]).bounded


@settings(deadline=None)
@given(samples, samples)
def test_a_ratio_turned_over_is_its_inverse(a: list[float], b: list[float]) -> None:
    """ratio(a, b) and ratio(b, a) are inverse to each other, interval included."""
    value, low, high = estimate.ratio(a, b)
    other, other_low, other_high = estimate.ratio(b, a)
    assert value * other == pytest.approx(1)
    if low > 0 and high < math.inf and other_low > 0 and other_high < math.inf:
        assert low * other_high == pytest.approx(1, rel=1e-6)
        assert high * other_low == pytest.approx(1, rel=1e-6)


@settings(deadline=None)
@given(samples, samples, st.floats(min_value=1e-3, max_value=1e3))
def test_a_ratio_has_no_unit(a: list[float], b: list[float], unit: float) -> None:
    """A change of unit on both sides changes nothing."""
    scaled = estimate.ratio([x * unit for x in a], [x * unit for x in b])
    assert scaled[0] == pytest.approx(estimate.ratio(a, b)[0])


@settings(deadline=None)
@given(samples, samples)
def test_the_value_lies_in_its_interval_and_more_confidence_is_wider(
    a: list[float], b: list[float]
) -> None:
    """An interval holds its value, and one of 99 % holds that of 90 %."""
    value, low, high = estimate.ratio(a, b, 0.90)
    _, wide_low, wide_high = estimate.ratio(a, b, 0.99)
    assert wide_low <= low <= value <= high <= wide_high


@settings(deadline=None)
@given(positive, samples)
def test_single_values_have_no_interval(one: float, many: list[float]) -> None:
    """With one value on a side there is a ratio and no interval."""
    for value, low, high in (estimate.ratio([one], many), estimate.ratio(many, [one])):
        assert value > 0
        assert math.isnan(low)
        assert math.isnan(high)


def test_the_interval_is_welchs() -> None:
    """The interval agrees with SciPy's Welch test on the logarithms."""
    a, b = [180.0, 190.0, 200.0, 195.0], [100.0, 101.0, 99.0]
    welch = stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval(0.95)
    assert estimate.ratio(a, b)[1:] == pytest.approx((np.exp(welch.low), np.exp(welch.high)))


def test_the_interval_of_two_peaks_holds_the_truth_as_often_as_it_says() -> None:
    """Flat peaks, picked from noise on both sides: 95 % intervals hold the true ratio of 2."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        sides = [list(np.exp(rng.normal(np.log(x), 0.1, (5, 4)))) for x in (200, 100)]
        _, low, high = estimate.peak_ratio(*sides, Variability(0.1, 50))
        held += low <= 2 <= high
    assert held >= 180


def test_with_pooled_variability_two_runs_can_decide() -> None:
    """Two runs alone say little; runs that differ more than others widen the interval."""
    a, b = [200.0, 202.0], [100.0, 101.0]
    alone = estimate.ratio(a, b)
    known = estimate.ratio(a, b, pooled=Variability(0.01, 40))
    assert alone[1] < known[1] < known[0] < known[2] < alone[2]
    noisy = estimate.ratio([150.0, 250.0], b, pooled=Variability(0.01, 40))
    assert noisy[2] / noisy[1] > 1.5


@pytest.mark.parametrize("bad", [[], [0.0], [-1.0], [math.nan], [math.inf]])
def test_a_ratio_refuses_what_has_no_logarithm(bad: list[float]) -> None:
    """Nothing, zero, negative and infinite values are refused, not turned into a number."""
    with pytest.raises(ValueError, match="positive"):
        estimate.ratio(bad, [1.0])
