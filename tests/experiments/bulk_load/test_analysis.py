"""Rates and costs of bulk loads. The runs are made up."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest

import small_runs
from experiments.bulk_load import made_up
from ndblab.error import MissingData
from ndblab.experiments.bulk_load import analysis as loads
from ndblab.experiments.bulk_load.answer import loading
from ndblab.machine import interference as company


def of(*parts):
    tables = small_runs.together(*parts)
    return loads.of(tables["runs"], tables["processes"], tables["events"])


def test_ways_are_averaged_in_their_order_with_what_a_row_costs():
    """LOAD DATA comes first; CPU time is divided by the rows of its own run."""
    means = loads.by_way(
        of(
            made_up.load("ndb-import", rows_per_s=50_000),
            *(made_up.load(repeat=n, rows_per_s=rate) for n, rate in ((1, 18e3), (2, 22e3))),
            made_up.load(connections=1, rows_per_s=10_000),
        )
    )
    assert list(means["way"]) == ["load-data", "load-data", "ndb-import"]
    single, four, imported = means.itertuples()
    assert (single.connections, single.cpu_us) == (1, pytest.approx(180))
    assert (single.mysqld_us, single.ndbmtd_us, single.client_us) == pytest.approx((100, 60, 20))
    assert (four.loads, four.rows_per_s) == (2, 20_000)
    assert four.low < 20_000 < four.high
    assert imported.duration_s == 2
    assert imported.low != imported.low


@pytest.mark.parametrize(
    ("checkpoints", "number", "pct"),
    [
        ({"started": (1.0,), "completed": (2.0,)}, 1, 20),
        ({"started": (4.0,)}, 0, 20),
        ({"completed": (1.5,)}, 1, 30),
        ({"started": (1.0, 3.0), "completed": (0.5, 2.0)}, 2, 70),
        ({"started": (-0.2,), "completed": (6.0,)}, 1, 100),
        ({}, 0, math.nan),
    ],
)
def test_checkpoints_are_counted_with_the_time_they_took(checkpoints, number, pct):
    """Also one that began before the load, and one that ended after it."""
    [row] = of(made_up.load(checkpoints=checkpoints)).itertuples()
    assert row.duration_s == 5
    assert row.checkpoints == number
    assert row.checkpoint_pct == pytest.approx(pct, nan_ok=True)


def test_a_load_shorter_than_the_samples_has_no_cpu():
    """A sample of it is partly of what ran before and after."""
    [row] = of(made_up.load(rows_per_s=100_000)).itertuples()
    assert math.isnan(row.mysqld_us)
    assert math.isnan(row.cpu_us)


def test_failed_and_disturbed_loads_are_left_out(monkeypatch):
    """A load without all its rows is none."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    good, failed, beside = (made_up.load(repeat=1), made_up.load(repeat=2, status="lost a row"),
                            made_up.load(repeat=3))  # fmt: skip
    beside["runs"]["company_pct"] = 50.0
    assert len(of(good, failed, beside)) == 1
    with pytest.raises(MissingData, match="no good load"):
        of(failed)


@pytest.mark.parametrize(
    ("first", "starts", "is_said"),
    [([1], 2, True), ([2], 10, True), ([3], 3, False), ([], 1, True), ([], 2, False)],
)
def test_the_answer_says_if_the_ways_were_compared_in_one_start(first, starts, is_said):
    """The sweep ended before the first slice, which begins in its start or in the next one."""
    tables = small_runs.together(made_up.load(), made_up.load("inserts"))
    slices = pd.DataFrame({"start": first}, dtype=float)
    data = SimpleNamespace(**tables, slices=slices, manifest={"starts": starts})
    rates, *_ = loading(data, pd.DataFrame())
    assert rates.endswith(", in one cluster start") == is_said


def test_cpu_that_was_not_recorded_is_not_nothing():
    """A sum without one of its parts would be too small."""
    [row] = of(made_up.load(cpu_pct={"mysqld": 100.0, "ndbmtd": 50.0})).itertuples()
    assert math.isnan(row.cpu_us)
