"""Runs that take longer than they were asked to."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import small_runs
from ndblab import dataset
from ndblab.dataset import overrun
from ndblab.planning.workload import is_good
from ndblab.statistics import summary


def intervals(*rows: tuple[int, float]) -> pd.DataFrame:
    """Second by second, the clients that were left at its end, and its rate."""
    table = pd.DataFrame(rows, columns=["clients", "qps"])
    return table.assign(t_s=range(1, len(table) + 1))


def test_a_run_that_ends_in_time_keeps_its_rate():
    """Though most clients are gone when the last second is reported."""
    table = intervals((64, 6010), (64, 6052), (64, 6650), (36, 5615))
    assert overrun.judge(table, 64, 4.04, 4).status == "ok"
    assert math.isnan(overrun.judge(table, 64, 4.04, 4).qps)
    assert overrun.judge(table, 64, 4.04).status == "ok"


def test_the_rate_of_a_run_that_overran_is_that_of_all_clients_at_work():
    """Run s01_c0512_r2 of the recorded sweep of many servers; it is averaged all the same."""
    table = intervals((512, 70.84), (512, 741.48), (512, 1062.94), (512, 1066.08), (490, 473.76))
    for asked_s in (4, None):
        own = overrun.judge(table, 512, 5.5417, asked_s)
        assert own.qps == pytest.approx(735.335)
        assert own.end_s == 4
        assert is_good(own.status)
    assert overrun.judge(table, 512, 5.5417, 4).status == "overran: 5.54 s for 4 s"


def test_the_second_in_which_the_time_ends_counts():
    """The first of 512 clients had left when it was reported."""
    table = intervals((512, 631), (512, 1747), (512, 1787), (511, 2211))
    assert overrun.judge(table, 512, 4.9381, 4).qps == pytest.approx(1594)


def test_a_run_that_never_reported_in_its_time_has_no_other_rate():
    """One interval, of all of it."""
    own = overrun.judge(intervals((4, 100)).assign(t_s=3.0), 4, 3.0, 1)
    assert not is_good(own.status)
    assert math.isnan(own.qps)


def test_a_dataset_says_how_many_of_its_runs_overran(tmp_path: Path):
    """As they are read, whenever they were measured: their files stay as they are."""
    asked_s = small_runs.BASE["profile"]["duration_s"]
    late = small_runs.tables("s01_c0002_r1", duration_s=1.25 * asked_s, qps=900.0)
    ended = small_runs.tables("s01_c0004_r1", duration_s=1.01 * asked_s)
    for name in ("intervals", "processes"):
        after = late[name].tail(1).assign(t_s=asked_s + 1.0)
        late[name] = pd.concat([late[name], after], ignore_index=True)
    late["intervals"].loc[2, "clients"] = 0
    with small_runs.opened(tmp_path) as out:
        for tables in (late, ended):
            out.append(tables["runs"]["run_id"].iloc[0], tables)
        data = out.finish()
    row = data.runs.set_index("run_id").loc["s01_c0002_r1"]
    assert row["status"] == "overran: 3.75 s for 3 s"
    assert row["qps"] == pytest.approx((1200.25 + 1268.75) / 2)
    assert (data.overran, data.failed) == (1, 0)
    assert data.describe_runs() == "none failed, 1 overran"
    assert data.processes["t_s"].max() == 2
    assert ",900," in (data.path / "runs.csv").read_text()
    with dataset.Writer.reopen(data.path, small_runs.BASE) as again:
        assert again.finish().runs["status"].tolist() == data.runs["status"].tolist()
    assert ",900," in (data.path / "runs.csv").read_text()


def test_runs_that_overran_are_averaged_and_marked():
    """To leave them out would flatter the others."""
    tables = [
        small_runs.tables(f"s01_c0001_r{n}", repeat=n, status=status)["runs"]
        for n, status in enumerate(["ok", "overran: 5 s for 4 s", "sysbench exited 1"], 1)
    ]
    [point] = summary.points(pd.concat(tables, ignore_index=True)).itertuples()
    assert (point.runs, point.failed) == (2, 1)
    assert "1 longer than asked, rated while all clients worked" in point.marks
