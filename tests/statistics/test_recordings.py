"""Several recordings of one effect: what they say together."""

from __future__ import annotations

import numpy as np
import pytest

from ndblab.statistics import recordings


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
