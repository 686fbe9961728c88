"""Means, spread and confidence. The tables here are small, made by hand: doubles of real ones."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ndblab.analysis import summary

positive = st.floats(min_value=1e-3, max_value=1e7)
samples = st.lists(positive, min_size=2, max_size=8)


def runs(*rows: tuple) -> pd.DataFrame:
    """Make runs of (servers, clients, qps) or (servers, clients, qps, status)."""
    return pd.DataFrame(
        {
            "run_id": [f"r{number}" for number in range(len(rows))],
            "status": pd.Categorical([row[3] if len(row) > 3 else "ok" for row in rows]),
            "transporter": pd.Categorical(["shm"] * len(rows)),
            "workload": "oltp_point_select",
            "servers": [row[0] for row in rows],
            "clients": [row[1] for row in rows],
            "qps": [float(row[2]) for row in rows],
            "errors": 0.0,
            "latency_p95_ms": 2.0,
            "latency_avg_ms": 1.0,
            "client_cpu_pct": 40.0,
        }
    )


def test_the_interval_is_that_of_the_t_distribution() -> None:
    """A point's interval is the t interval of the mean over its runs."""
    row = summary.points(runs((1, 8, 100), (1, 8, 110), (1, 8, 105))).iloc[0]
    expected = stats.t.interval(0.95, 2, loc=105, scale=stats.sem([100, 110, 105]))
    assert (row.qps_low, row.qps_high) == pytest.approx(expected)
    assert row.runs == 3


def test_one_run_has_no_spread() -> None:
    """A single run gives a mean and no interval."""
    row = summary.points(runs((1, 8, 100))).iloc[0]
    assert row.qps_mean == 100
    assert math.isnan(row.qps_low)
    assert math.isnan(row.qps_high)


def test_failed_runs_are_counted_and_never_averaged() -> None:
    """A failed run is counted and named in the marks; its numbers stay out of the mean."""
    table = summary.points(runs((1, 8, 100), (1, 8, 900, "errors: 12"), (1, 8, math.nan, "died")))
    row = table.iloc[0]
    assert (row.runs, row.failed, row.qps_mean) == (1, 2, 100)
    assert "errors: 12" in row.marks
    assert "died" in row.marks


def test_a_point_of_failed_runs_only_stays_as_a_row() -> None:
    """A point whose runs all failed keeps its row, without a mean."""
    table = summary.points(runs((1, 8, 100), (2, 8, math.nan, "died")))
    assert table["runs"].tolist() == [1, 0]
    assert math.isnan(table["qps_mean"].iloc[1])


def test_a_client_without_cpu_left_measures_itself() -> None:
    """A run whose client used up its own CPUs is marked and not averaged."""
    table = runs((1, 8, 100), (1, 8, 110))
    table.loc[1, "client_cpu_pct"] = 199
    row = summary.points(table, client_cpus=2).iloc[0]
    assert row.qps_mean == 100
    assert "client used up" in row.marks
    assert summary.points(table).iloc[0].runs == 2


def test_idle_servers_never_make_a_peak() -> None:
    """A point with fewer clients than servers is marked, and is no peak."""
    table = summary.points(runs((4, 2, 999), (4, 4, 100), (4, 8, 200)))
    assert table["idle_servers"].tolist() == [True, False, False]
    assert summary.peaks(table).iloc[0].clients == 8


def test_the_knee_is_the_fewest_clients_within_three_percent() -> None:
    """On a flat peak the knee is where it begins."""
    table = summary.points(runs((1, 4, 90), (1, 8, 98), (1, 16, 100), (1, 32, 99)))
    row = summary.peaks(table).iloc[0]
    assert (row.clients, row.knee_clients, row.flat) == (16, 8, 3)


@settings(deadline=None)
@given(samples, samples)
def test_a_ratio_turned_over_is_its_inverse(a: list[float], b: list[float]) -> None:
    """ratio(a, b) and ratio(b, a) are inverse to each other, interval included."""
    value, low, high = summary.ratio(a, b)
    other, other_low, other_high = summary.ratio(b, a)
    assert value * other == pytest.approx(1)
    if low > 0 and high < math.inf and other_low > 0 and other_high < math.inf:
        assert low * other_high == pytest.approx(1, rel=1e-6)
        assert high * other_low == pytest.approx(1, rel=1e-6)


@settings(deadline=None)
@given(samples, samples, st.floats(min_value=1e-3, max_value=1e3))
def test_a_ratio_has_no_unit(a: list[float], b: list[float], unit: float) -> None:
    """A change of unit on both sides changes nothing."""
    scaled = summary.ratio([x * unit for x in a], [x * unit for x in b])
    assert scaled[0] == pytest.approx(summary.ratio(a, b)[0])


@settings(deadline=None)
@given(samples, samples)
def test_the_value_lies_in_its_interval_and_more_confidence_is_wider(
    a: list[float], b: list[float]
) -> None:
    """An interval holds its value, and one of 99 % holds that of 90 %."""
    value, low, high = summary.ratio(a, b, 0.90)
    _, wide_low, wide_high = summary.ratio(a, b, 0.99)
    assert wide_low <= low <= value <= high <= wide_high


@settings(deadline=None)
@given(positive, samples)
def test_single_values_have_no_interval(one: float, many: list[float]) -> None:
    """With one value on a side there is a ratio and no interval."""
    for value, low, high in (summary.ratio([one], many), summary.ratio(many, [one])):
        assert value > 0
        assert math.isnan(low)
        assert math.isnan(high)


def test_the_interval_is_welchs() -> None:
    """The interval agrees with SciPy's Welch test on the logarithms."""
    a, b = [180.0, 190.0, 200.0, 195.0], [100.0, 101.0, 99.0]
    welch = stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval(0.95)
    assert summary.ratio(a, b)[1:] == pytest.approx((np.exp(welch.low), np.exp(welch.high)))


def repeated(values: np.ndarray) -> pd.DataFrame:
    """Make runs of one server from a table of throughput, a row per point, a column per repeat."""
    table = runs(*((1, 2**point, x) for point, row in enumerate(values) for x in row))
    return table.assign(repeat=list(range(1, values.shape[1] + 1)) * len(values))


def test_a_machine_that_slows_down_between_repeats_adds_no_spread() -> None:
    """What all points lose together from one pass to the next is drift, not spread of a point."""
    drifting = np.outer([100.0, 200.0, 50.0], [1.0, 0.9, 0.8])
    table = repeated(drifting)
    steady = summary.without_drift(table, "qps").to_numpy().reshape(3, 3)
    assert steady == pytest.approx(np.tile(steady[:, :1], 3))
    assert summary.pooled(table, "qps").deviation == pytest.approx(0, abs=1e-9)


def test_the_spread_is_found_among_wild_points() -> None:
    """With 3 % of spread at most points and a few wild ones, the estimate stays near 3 %."""
    noise = np.random.default_rng(7).normal(0, 0.03, (60, 4))
    noise[:6] *= 20
    spread = summary.pooled(repeated(1000 * np.exp(noise)), "qps")
    assert spread.deviation == pytest.approx(0.03, rel=0.25)
    assert spread.freedom > 30


def test_one_run_a_point_gives_no_spread() -> None:
    """There is nothing to learn it from, and no number is made up."""
    assert summary.pooled(repeated(np.array([[1.0], [2.0]])), "qps").freedom == 0


def test_the_interval_of_two_peaks_holds_the_truth_as_often_as_it_says() -> None:
    """Flat peaks, picked from noise on both sides: 95 % intervals hold the true ratio of 2."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        sides = [list(np.exp(rng.normal(np.log(x), 0.1, (5, 4)))) for x in (200, 100)]
        _, low, high = summary.peak_ratio(*sides, summary.Spread(0.1, 50))
        held += low <= 2 <= high
    assert held >= 180


def test_with_the_spread_of_many_points_two_runs_of_one_can_decide() -> None:
    """Two runs alone say little; but the interval is never narrower than their own spread asks."""
    a, b = [200.0, 202.0], [100.0, 101.0]
    alone = summary.ratio(a, b)
    known = summary.ratio(a, b, spread=summary.Spread(0.01, 40))
    assert alone[1] < known[1] < known[0] < known[2] < alone[2]
    noisy = summary.ratio([150.0, 250.0], b, spread=summary.Spread(0.01, 40))
    assert noisy[2] / noisy[1] > 1.5


@pytest.mark.parametrize("bad", [[], [0.0], [-1.0], [math.nan], [math.inf]])
def test_a_ratio_refuses_what_has_no_logarithm(bad: list[float]) -> None:
    """Nothing, zero, negative and infinite values are refused, not turned into a number."""
    with pytest.raises(ValueError, match="positive"):
        summary.ratio(bad, [1.0])


def test_steadiness_is_told_per_run() -> None:
    """Each run has its own coefficient of variation."""
    table = pd.DataFrame(
        {
            "run_id": ["a", "a", "b", "b"],
            "clients": [8, 8, 16, 16],
            "qps": [90.0, 110.0, 100.0, 100.0],
            "latency_p95_ms": [1.0, 1.0, 1.0, 3.0],
        }
    )
    steady = summary.steadiness(table).set_index("run_id")
    assert steady.loc["a", "qps_cv"] == pytest.approx(math.sqrt(200) / 100)
    assert steady.loc["b", "qps_cv"] == 0
    assert steady.loc["b", "latency_p95_ms_cv"] > 0
