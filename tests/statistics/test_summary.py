"""From runs to points and peaks. The tables are made up, never a measurement."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ndblab.statistics import summary


def runs(*rows: tuple) -> pd.DataFrame:
    """Make runs of (servers, clients, qps)."""
    return pd.DataFrame(
        {
            "run_id": [f"r{number}" for number in range(len(rows))],
            "status": pd.Categorical(["ok"] * len(rows)),
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
    """A point's interval is the t interval of the logarithms of its runs, around their mean."""
    row = summary.points(runs((1, 8, 100), (1, 8, 110), (1, 8, 105))).iloc[0]
    logs = np.log([100, 110, 105])
    expected = np.exp(stats.t.interval(0.95, 2, loc=np.log(105), scale=stats.sem(logs)))
    assert (row.qps_low, row.qps_high) == pytest.approx(expected)
    assert row.runs == 3


def test_one_run_has_no_interval() -> None:
    """A single run gives a mean and no interval."""
    row = summary.points(runs((1, 8, 100))).iloc[0]
    assert row.qps_mean == 100
    assert math.isnan(row.qps_low)
    assert math.isnan(row.qps_high)


def test_the_usual_runs_have_shared_memory_where_any_has() -> None:
    """On a cluster of several hosts none has, so the usual runs are those over TCP."""
    table = runs((1, 8, 100), (1, 8, 110))
    mixed = table.assign(transporter=["shm", "tcp"])
    assert list(summary.select(mixed)["run_id"]) == ["r0"]
    assert len(summary.select(table.assign(transporter="tcp"))) == 2


def test_the_knee_is_the_fewest_clients_within_three_percent() -> None:
    """On a flat peak the knee is where it begins."""
    table = summary.points(runs((1, 4, 90), (1, 8, 98), (1, 16, 100), (1, 32, 99)))
    row = summary.peaks(table).iloc[0]
    assert (row.clients, row.knee_clients) == (16, 8)


def test_steadiness_is_that_of_each_run() -> None:
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
