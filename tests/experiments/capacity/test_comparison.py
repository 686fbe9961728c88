"""Predictions compared with measurements: errors, coverage of intervals."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import made_up_model as made
from ndblab.experiments.capacity import choice, comparison, forecast


def slower(name: str, by: float, servers: tuple[int, ...] = (1, 2, 4)) -> made.Named:
    """A sweep of the made-up cluster on a host that has slowed down."""
    data = made.dataset(servers, (4, 16, 64), name=name)
    runs = data.runs.assign(qps=data.runs["qps"] / by)
    latencies = {name: runs[name] * by for name in ("latency_avg_ms", "latency_p95_ms")}
    return dataclasses.replace(data, runs=runs.assign(**latencies))


def test_errors_are_counted_point_by_point_and_no_point_is_left_out():
    means = pd.DataFrame(
        {"servers": [2, 4], "clients": [8, 8], "qps_mean": [100.0, 200.0],
         "latency_p95_ms_mean": [10.0, 20.0]}
    )  # fmt: skip
    own = pd.DataFrame(
        {"name": comparison.MODEL, "servers": [2, 4], "clients": [8, 8],
         "qps": [110.0, 190.0], "latency_p95_ms": [5.0, 20.0]}
    )  # fmt: skip
    table = comparison.errors(own, means)
    assert len(table) == 4
    verdicts = comparison.verdicts(table).set_index("metric")
    assert verdicts.loc["qps", "median_pct"] == pytest.approx(7.5)
    assert verdicts.loc["qps", "goal_pct"] == 6
    assert verdicts.loc["latency_p95_ms", "goal_pct"] == 20
    assert verdicts.loc["latency_p95_ms", "median_pct"] == pytest.approx(25)
    assert verdicts.loc["latency_p95_ms", "bias_pct"] == pytest.approx(-25)


def verdicts(qps: tuple[float, float], p95: tuple[float, float]) -> pd.DataFrame:
    """Errors of the model and of a simple method in one comparison."""
    names = [comparison.MODEL, comparison.LINEAR]
    tables = [
        pd.DataFrame({"name": names, "metric": metric, "median_pct": medians})
        for metric, medians in (("qps", qps), ("latency_p95_ms", p95))
    ]
    return pd.concat(tables, ignore_index=True)


def test_the_method_in_use_has_the_smallest_error_over_both_comparisons() -> None:
    """Metric by metric; one comparison alone may favour the other method."""
    tables = [verdicts((16.0, 18.0), (24.0, 25.0)), verdicts((9.0, 8.0), (28.0, 20.0))]
    used = choice.in_use(tables)
    assert used == {"qps": comparison.MODEL, "latency_p95_ms": comparison.LINEAR}
    words = choice.in_words(used, tables)
    assert "For throughput use the model: ./lab predict does." in words
    assert "Its median errors are 16 and 9 %, so its goal of 6 % is met in 0 of 2" in words
    assert 'For p95 use a simple method, "linear, capped", and not the model' in words
    assert "Its median errors are 25 and 20 %, so its goal of 20 % is met in 1 of 2" in words


def test_one_server_in_two_sweeps_shows_what_the_host_did_between_them() -> None:
    """Here it slowed down by a tenth; sweeps without a common point have nothing to show."""
    own = forecast.of(made.dataset(), slower("slow", 1.1))
    apart = own.apart.set_index(["metric", "clients"])["error_pct"].unstack()
    assert list(apart.columns) == [4, 16, 64]
    assert apart.loc["qps"].to_numpy() == pytest.approx(10, abs=3)
    assert apart.loc["latency_p95_ms"].to_numpy() == pytest.approx(-9, abs=3)
    words = choice.apart_in_words(own.apart[own.apart["metric"] == "qps"])
    assert re.match(r"One server alone differs by (9|10|11)\S* % at the median", words)
    several = forecast.of(made.dataset(), slower("many", 1.1, (2, 4))).apart
    assert choice.apart_in_words(several) == "The tested sweep has no run of one server."


def test_a_slower_host_stays_within_the_interval() -> None:
    """The interval allows for a drift of the host that no run of the fitted sweep shows."""
    own = forecast.of(made.dataset(), slower("slow", 1.1))
    [row] = own.coverage.itertuples()
    assert (row.runs, row.covered_pct) == (18, 100)
    assert row.half_width_pct > 20


def test_coverage_is_of_single_runs() -> None:
    """Two of three runs of a point are within its interval."""
    predicted = pd.DataFrame(
        {"servers": 2, "clients": [8, 16], "qps": 100.0, "qps_low": 90.0, "qps_high": 110.0}
    )
    runs = pd.DataFrame({"servers": 2, "clients": 8, "qps": np.array([89.0, 95.0, 110.0])})
    row = comparison.coverage(predicted, runs).iloc[0]
    assert row["covered_pct"] == pytest.approx(200 / 3)
    assert row["runs"] == 3
    assert row["half_width_pct"] == pytest.approx(10)
