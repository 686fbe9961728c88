"""Clocks of two machines."""

from __future__ import annotations

import pytest

from ndblab.hosts.clock import Monotonic, Sample, time_offset


def sample(delay_s: float, early_s: float, ahead_s: float = 2.0) -> Sample:
    """A question sent at 100 s; the other side answers `early_s` before half of the delay."""
    answered_s = delay_s / 2 - early_s
    return Sample(100, 50, 50 + delay_s, 100 + answered_s + ahead_s, 50 + answered_s + 1000)


def test_the_offset_is_that_of_the_quickest_answer_and_within_its_uncertainty():
    """A slow answer may have waited on either way."""
    offset = time_offset([sample(0.5, 0.2), sample(0.01, 0.004), sample(0.2, -0.1)])
    assert offset.uncertainty_ms == 5
    assert offset.offset_ms == pytest.approx(2000, abs=offset.uncertainty_ms)


def test_a_clock_that_is_behind_has_a_negative_offset():
    """As seen from this machine."""
    assert time_offset([sample(0.002, 0, ahead_s=-90)]).offset_ms == pytest.approx(-90_000)


def test_times_of_another_monotonic_clock_are_converted():
    """Each machine counts from its own start."""
    known = Monotonic()
    for delay_s in (0.3, 0.001, 0.2):
        known.add(sample(delay_s, 0))
    assert known.here(1060) == pytest.approx(60)


def test_a_drifting_clock_is_followed():
    """Old samples are dropped, however quick their answers were."""
    known = Monotonic()
    known.add(Sample(0, 0, 0, 0, 0))
    for _ in range(30):
        known.add(Sample(0, 10, 10.002, 0, 10.501))
    assert known.here(20.5) == pytest.approx(20)
