"""Stability of a long run and of its starts. The runs are made up, never a measurement."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from ndblab.experiments.stability import analysis as stability

SECONDS = np.arange(1, 901)
RUN = pd.Series({"run_id": "long", "clients": 8, "duration_s": 900.0})


def sampled(qps: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame({"t_s": SECONDS.astype(float), "qps": qps, "latency_p95_ms": 5.0})
    return table.assign(run_id="long", clients=8)


def noise() -> np.ndarray:
    return np.random.default_rng(1).normal(1000, 10, SECONDS.size)


def test_a_drift_shows_in_the_whole_run_and_not_in_its_first_minute() -> None:
    """A loss of a fifth per hour shows in a quarter of an hour; after one minute it is unknown."""
    table = stability.starts(sampled(noise() - 200 * SECONDS / 3600)).set_index("start_s")
    assert table.filter(like="trend").loc[60].isna().all()
    assert ((table["trend_high"] - table["trend_low"]).dropna() <= 200).all()
    assert table.loc[900, "trend_low"] < -20.5 < table.loc[900, "trend_high"] < 0
    assert table.index.to_list() == [60, 120, 300, 600, 900]


def test_a_run_says_how_well_it_knows_its_trend_and_that_it_is_no_hour() -> None:
    """The length of a short run is stated; a run of seconds has no trend."""
    seconds = sampled(noise())
    words = stability.describe_trend(RUN, stability.starts(seconds))
    assert words.startswith("The trend is unknown after 60 s and known to within ")
    assert "% per hour after 900 s" in words
    assert "900 s, not an hour" in words
    few = stability.describe_trend(RUN, stability.starts(seconds.head(10)))
    assert "too short to estimate its trend" in few


@pytest.mark.parametrize(
    ("half_of_a_minute", "half_of_all", "words"),
    [
        (math.nan, 16.6, "The trend is unknown after 60 s and known to within 16.6 % per hour"),
        (math.nan, math.nan, "The run is too short to estimate its trend. **The run lasts 900 s"),
        (100.0, 5.0, "The trend is known to within 100 % per hour after 60 s and 5 % per hour"),
    ],
)
def test_no_number_is_given_for_a_trend_that_is_not_known(
    half_of_a_minute: float, half_of_all: float, words: str
) -> None:
    """Nor is anything said of smaller drifts, if even the whole run does not tell."""
    ends = np.array([half_of_a_minute, half_of_all])
    table = pd.DataFrame({"start_s": [60.0, 900.0], "trend_low": 3 - ends, "trend_high": 3 + ends})
    assert stability.describe_trend(RUN, table).startswith(words)


def test_a_slow_start_shows_in_the_ratio_to_the_whole() -> None:
    """Two minutes at nine tenths put every start of that length below the run's mean."""
    table = stability.starts(sampled(noise() * np.where(SECONDS <= 120, 0.9, 1.0)), (60, 120))
    assert (table["high"].iloc[:2] < 1).all()
    assert table["of_whole"].iloc[-1] == 1


def test_outliers_are_counted_and_stay_in_the_mean() -> None:
    """A second without any query is one outlier, the lowest second, and part of the mean."""
    qps = noise()
    qps[450] = 0
    row = stability.steadiness(sampled(qps)).loc["qps"]
    assert row["outliers"] == 1
    assert row["lowest"] == 0
    assert row["mean"] == pytest.approx(qps.mean())


def test_memory_that_grows_shows_by_role() -> None:
    """A role of two processes that grow by a tenth in an hour grows by about a tenth."""
    times = pd.DataFrame({"run_id": "long", "t_s": np.arange(0, 3600, 10.0)})
    parts = [
        times.assign(role=role, node_id=node, rss_bytes=2**30 * (1 + grows * times["t_s"] / 3600))
        for role, node, grows in (("ndbmtd", 2, 0.1), ("ndbmtd", 3, 0.1), ("mysqld", 11, 0.0))
    ]
    table = stability.memory(RUN, pd.concat(parts, ignore_index=True))
    assert table.loc["ndbmtd", "processes"] == 2
    assert table.loc["ndbmtd", "first_mib"] == pytest.approx(2048, rel=0.01)
    assert table.loc["ndbmtd", "growth_pct"] == pytest.approx(10, abs=0.5)
    assert table.loc["mysqld", "growth_pct"] == 0


@pytest.mark.parametrize("whole", [1, 0])
def test_a_run_of_two_seconds_is_one_sample(whole: int) -> None:
    """Its last second is left out, unless it is the only one; nothing is said of its trend."""
    ended = sampled(noise()).head(whole + 1).assign(clients=[8, 3][-whole - 1 :])
    run = RUN.to_dict() | {"duration_s": 2.0}
    seconds = stability.samples(pd.Series(run), ended)
    assert len(seconds) == 1
    table = stability.starts(seconds)
    assert table["start_s"].to_list() == [1.0]
    assert "too short to estimate its trend" in stability.describe_trend(pd.Series(run), table)
    row = stability.steadiness(seconds).loc["qps"]
    assert row["mean"] == row["lowest"] == seconds["qps"].iloc[0]
