"""Predictions compared with measurements: errors, the calibrated speed, coverage of intervals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import made_up_model as made
from ndblab.experiments.capacity import calibration, errors, forecast, history


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
        {"name": errors.MODEL, "servers": [2, 4], "clients": [8, 8],
         "qps": [110.0, 190.0], "latency_p95_ms": [5.0, 20.0]}
    )  # fmt: skip
    table = errors.errors(own, means)
    assert len(table) == 4
    verdicts = errors.verdicts(table).set_index("metric")
    assert verdicts.loc["qps", "median_pct"] == pytest.approx(7.5)
    assert verdicts.loc["qps", "goal_pct"] == 10
    assert verdicts.loc["latency_p95_ms", "median_pct"] == pytest.approx(25)
    assert verdicts.loc["latency_p95_ms", "bias_pct"] == pytest.approx(-25)


def test_the_runs_of_one_server_correct_the_speed_of_the_host() -> None:
    """A host that is slower by 25 % is predicted as well as the one that was fitted."""
    own = forecast.of(made.dataset(), slower("slow", 1.25))
    assert own.speed == pytest.approx(1 / 1.25, rel=0.02)
    medians = own.throughput_verdicts.set_index("name")["median_pct"]
    assert medians[errors.MODEL] == pytest.approx(25, abs=3)
    assert medians[calibration.CALIBRATED] < 3
    coverage = own.coverage.set_index("name")
    assert coverage.loc[calibration.CALIBRATED, "covered_pct"] == 100
    assert coverage.loc[calibration.CALIBRATED, "runs"] == 18


def test_runs_of_several_servers_do_not_calibrate() -> None:
    """They are what is predicted: however fast they are, the speed is that of one server."""
    data = slower("slow", 1.25)
    data.runs.loc[data.runs["servers"] > 1, "qps"] *= 3
    own = forecast.of(made.dataset(), data)
    assert own.speed == pytest.approx(1 / 1.25, rel=0.02)


def test_clients_beyond_the_fitted_ones_do_not_calibrate() -> None:
    """There the prediction itself is in doubt."""
    points = pd.DataFrame({"servers": 1, "clients": [8, 512]})
    predicted = points.assign(qps=[100.0, 100.0], extrapolated=["", "too many"])
    assert calibration.speed(predicted, points.assign(qps_mean=[90.0, 10.0])) == pytest.approx(0.9)


def test_latency_scales_against_the_speed() -> None:
    """Throughput and its interval go down, latency goes up: Little's law stays."""
    table = pd.DataFrame({"qps": [100.0], "qps_low": [90.0], "latency_avg_ms": [10.0], "x": [1]})
    row = calibration.at(table, 0.5).iloc[0]
    assert row.to_list() == [50.0, 45.0, 20.0, 1]


def test_without_runs_of_one_server_nothing_is_calibrated() -> None:
    """A sweep without them, and a model of the very sweep it is compared with."""
    several = forecast.of(made.dataset(), slower("slow", 1.25, (2, 4)))
    same = forecast.of(made.dataset((1, 2)))
    for own in (several, same):
        assert calibration.CALIBRATED not in set(own.throughput["name"])
    assert list(several.coverage["name"]) == [errors.MODEL]


def test_a_slower_host_stays_within_the_interval() -> None:
    """The interval allows for a drift of the host that no run of the fitted sweep shows."""
    own = forecast.of(made.dataset(), slower("slow", 1.1))
    assert own.coverage.set_index("name").loc[errors.MODEL, "covered_pct"] == 100
    assert own.coverage["half_width_pct"].iloc[0] > 20


def test_the_deviation_is_over_all_points_of_all_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep of many points weighs more than one of a few."""
    rows = pd.DataFrame({"name": ["a", "a", "b"], "points": [3, 1, 9], "deviation": [0.1, 0.3, 1]})
    monkeypatch.setattr(history, "table", lambda: rows)
    assert history.deviation("a") == pytest.approx(np.sqrt((3 * 0.01 + 0.09) / 4))


def test_every_method_with_an_interval_has_a_history() -> None:
    """The file that comes with the lab has the deviation of both."""
    for name in (errors.MODEL, calibration.CALIBRATED):
        assert 0.05 < history.deviation(name) < 0.3


def test_background_threads_are_those_that_serve_no_query() -> None:
    """Their CPU use is given for each number of servers, beside how many are connected."""
    found = calibration.background(slower("slow", 1.0))
    assert list(found) == ["servers", "connected", "main"]
    assert found["servers"].to_list() == [1, 2, 4]
    assert set(found["connected"]) == {4}
    assert found["main"].to_numpy() == pytest.approx(2.0)


def test_coverage_is_of_single_runs() -> None:
    """Two of three runs of a point are within its interval."""
    predicted = pd.DataFrame(
        {"servers": 2, "clients": [8, 16], "qps": 100.0, "qps_low": 90.0, "qps_high": 110.0}
    )
    runs = pd.DataFrame({"servers": 2, "clients": 8, "qps": np.array([89.0, 95.0, 110.0])})
    row = errors.coverage({"a method": predicted}, runs).iloc[0]
    assert row["covered_pct"] == pytest.approx(200 / 3)
    assert (row["name"], row["runs"]) == ("a method", 3)
    assert row["half_width_pct"] == pytest.approx(10)
