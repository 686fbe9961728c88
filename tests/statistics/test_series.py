"""One long run. The samples here are drawn from known laws: doubles, never a measurement."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from ndblab.statistics import series

HOUR = 3600


def noise(seed: int, samples: int = HOUR, memory: float = 0.9) -> np.ndarray:
    """Draw noise of standard deviation 1 in which neighbours are alike, as in a real run."""
    white = np.random.default_rng(seed).normal(0, math.sqrt(1 - memory**2), samples + 200)
    for at in range(1, white.size):
        white[at] += memory * white[at - 1]
    return white[200:]


def run(level: float = 1000, spread: float = 20, seed: int = 1) -> pd.Series:
    """Make an hour of throughput, one sample a second."""
    return pd.Series(level + spread * noise(seed))


def test_a_pause_stands_out_and_ordinary_seconds_do_not() -> None:
    """One second of a third of the throughput is marked; of the others at most 1 in 1000 is."""
    values = run()
    values[1800] = 330
    marked = series.outliers(values)
    assert marked[1800]
    assert marked.sum() <= 1 + HOUR / 1000


def test_a_percentile_that_stays_in_one_bucket_hides_no_spike() -> None:
    """Where most samples are equal, as in a histogram's bucket, a spike still stands out."""
    values = pd.Series([1.3] * 500)
    values[[10, 90]] = 1.32
    values[250] = 40.0
    assert list(np.flatnonzero(series.outliers(values))) == [250]
    assert not series.outliers(pd.Series([1.3] * 500)).any()


def test_a_sample_that_is_missing_is_no_outlier() -> None:
    """A second without a percentile is not marked, and hides none of its neighbours."""
    values = pd.Series([1.3, 1.31] * 60)
    values[7] = math.nan
    values[8] = 9.0
    assert list(np.flatnonzero(series.outliers(values))) == [8]


def test_the_running_median_keeps_a_step_and_drops_a_spike() -> None:
    """Smoothing removes single spikes, keeps a change of level, and has a value at both ends."""
    values = pd.Series([100.0] * 200 + [50.0] * 200)
    values[100] = 1.0
    smooth = series.smooth(values)
    assert smooth[100] == 100
    assert smooth.iloc[[0, 199, 201, -1]].tolist() == [100, 100, 50, 50]


def test_a_slow_loss_is_in_percent_per_hour() -> None:
    """A run that loses a tenth of its mean within the hour says so, also from half the samples."""
    values = pd.Series(1000 * (1.05 - 0.1 * np.arange(HOUR) / HOUR) + 20 * noise(3))
    trend = series.trend(values)
    assert trend.low < trend.value < trend.high < 0
    assert trend.value == pytest.approx(-10, abs=1.5)
    halved = series.trend(values[::2], interval_s=2)
    assert halved.value == pytest.approx(trend.value, abs=0.5)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """With correlated neighbours, 95 % intervals mostly cover no drift and no lead of the start."""
    trends = starts = 0
    for seed in range(60):
        values = run(seed=seed)
        trend = series.trend(values)
        trends += trend.low <= 0 <= trend.high
        _, low, high = series.prefix_ratio(values, 60)
        starts += low <= 1 <= high
    assert trends >= 51
    assert starts >= 51


def test_a_start_that_is_not_warm_yet_shows() -> None:
    """A first minute at nine tenths of the rest gives a ratio clearly below 1."""
    values = run()
    values[:60] *= 0.9
    value, low, high = series.prefix_ratio(values, 60)
    assert low < value < high < 0.95
    assert value == pytest.approx(0.9, abs=0.02)


def test_a_start_as_long_as_the_run_is_refused() -> None:
    """There is no whole run to compare the start with."""
    with pytest.raises(ValueError, match="no start of 60"):
        series.prefix_ratio(run()[:60], 60)


def test_the_band_is_that_of_the_samples() -> None:
    """For a normal law, 95 % of the samples lie within 1.96 standard deviations of the middle."""
    value, low, high = series.band(run(1000, 20))
    assert value == pytest.approx(1.96 * 0.02, rel=0.1)
    assert low < value < high
    mean, low, high = series.mean(run(1000, 20))
    assert low < 1000 < high
    assert mean == pytest.approx(1000, rel=0.01)
    least, *_ = series.quantile(run(1000, 20), 0.025)
    assert least == pytest.approx(1000 - 1.96 * 20, rel=0.01)


def test_a_few_samples_have_no_interval() -> None:
    """Ten seconds give values without an interval."""
    short = run()[:10]
    assert math.isnan(series.trend(short).low)
    assert all(math.isnan(x) for x in series.prefix_ratio(short, 5)[1:])
    assert math.isnan(series.band(short)[1])


def test_windows_are_near_the_mean_as_often_as_counted() -> None:
    """The share by the normal distribution is the one that counting windows gives."""
    values = run(1000, 60, seed=5)
    counted = np.abs(values.rolling(60).mean().dropna() / values.mean() - 1) < 0.03
    value, low, high = series.windows_share(values, 60, 0.03)
    assert value == pytest.approx(counted.mean(), abs=0.05)
    assert 0 < low < value < high < 1
    assert series.windows_share(pd.Series([5.0] * HOUR), 60, 0.03) == (1, 1, 1)


def test_no_interval_leaves_what_is_possible() -> None:
    """Throughput that stops for a third of the time is not below zero, and a band not over 1."""
    values = run()
    values[1000:2200] = 0.0
    for interval in (
        series.mean(values), series.quantile(values, 0.025), series.band(values),
        series.windows_share(values, 120, 0.03), series.prefix_ratio(values, 600),
    ):  # fmt: skip
        assert 0 <= interval.low <= interval.value <= interval.high
    assert series.band(values).high <= 1


def test_more_memory_makes_intervals_wider() -> None:
    """A run whose level wanders for minutes says less about its mean than one of quick noise."""
    quick, slow = (pd.Series(1000 + 20 * noise(6, memory=memory)) for memory in (0.5, 0.99))
    widths = [interval.high - interval.low for interval in map(series.mean, (quick, slow))]
    assert widths[1] > 3 * widths[0]
