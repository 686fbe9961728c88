"""How several comparisons become one verdict. All numbers are made up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from made_up import BY_ID
from ndblab.error import MissingData
from ndblab.judging.verdict import Comparison, decide
from ndblab.statistics import estimate
from ndblab.statistics.estimate import Estimate

CLAIM = replace(BY_ID["B-sockets"], kind="shape", comparison="at_least", low=1.0, high=None)
WIDE = Estimate(0.9, 0.7, 1.2)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1.01, 1.3, "reproduced"), (0.7, 0.99, "inconclusive"), (0.7, 1.1, "inconclusive")],
)
def test_support_needs_no_correction_and_contradiction_does(
    low: float, high: float, expected: str
) -> None:
    """All comparisons must support a claim, so each at 95 %; any may contradict it, by chance."""
    test = Comparison("", Estimate((low + high) / 2, low, high), corrected=WIDE)
    finding = decide(CLAIM, "", [test, test])
    assert finding.verdict == expected
    assert ("corrected" in finding.why) == (high < 1), "the interval shown excludes the claim"


def test_a_corrected_interval_outside_contradicts() -> None:
    """One of many comparisons contradicts if even its wider interval is outside."""
    good = Comparison("", Estimate(1.2, 1.1, 1.3), corrected=Estimate(1.2, 1.0, 1.4))
    bad = Comparison("", Estimate(0.8, 0.75, 0.85), corrected=Estimate(0.8, 0.7, 0.9))
    finding = decide(CLAIM, "", [good, bad])
    assert finding.verdict == "contradicted"
    assert finding.measured == bad.estimate, "the interval at 95 % is shown"


def test_both_intervals_come_from_one_function() -> None:
    """A comparison that stands alone is not corrected; one of three is wider against a claim."""
    values = np.array([1.0, 1.1, 1.2, 1.3])

    def interval(confidence: float) -> Estimate:
        return estimate.mean(values, confidence)

    alone, one = (Comparison.one_of(tests, "", interval) for tests in (1, 3))
    assert alone.against == alone.estimate == one.estimate
    assert one.against.low < one.estimate.low < one.estimate.high < one.against.high
    doubled = one.changed(lambda e: Estimate(*(2 * x for x in e)))
    assert (doubled.estimate.low, doubled.against.high) == (
        2 * one.estimate.low,
        2 * one.against.high,
    )


def test_many_true_claims_are_seldom_contradicted_by_chance() -> None:
    """Of claims with five comparisons right at their bound, 5 % at most are contradicted."""
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(400):
        values = rng.normal(1, 0.1, (5, 6))
        tests = [Comparison.one_of(5, "", partial(estimate.mean, x)) for x in values]
        wrong += decide(CLAIM, "", tests).verdict == "contradicted"
    assert wrong <= 0.05 * 400


@pytest.mark.parametrize(("low", "high"), [(1.1, 1.3), (0.7, 0.9), (0.9, 1.1)])
def test_what_is_missing_blocks_every_word(low: float, high: float) -> None:
    """A claim of which a part was not measured is neither reproduced nor contradicted."""
    test = Comparison("", Estimate((low + high) / 2, low, high))
    finding = decide(CLAIM, "", [test], missing="a second run")
    assert finding.verdict == "inconclusive"
    assert "missing: a second run" in finding.why


def test_what_is_only_shown_decides_nothing() -> None:
    """Alone it is no evidence, and beside what is judged it changes no word."""
    shown = Comparison("", Estimate(0.5, 0.4, 0.6), judged=False)
    with pytest.raises(MissingData):
        decide(CLAIM, "", [shown])
    finding = decide(CLAIM, "", [Comparison("", Estimate(1.2, 1.1, 1.3)), shown])
    assert finding.verdict == "reproduced"
    assert "0.500 (0.400 to 0.600)  (not judged)" in finding.numbers
