"""Predictions compared with measurements: errors, coverage of intervals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import made_up_model as made
from ndblab.experiments.capacity import comparison, forecast


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
