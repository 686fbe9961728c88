"""CPU of processes by role. The tables are made up, never a measurement."""

from __future__ import annotations

import pandas as pd
import pytest

from made_up import double
from ndblab.statistics import cpu_use


def test_a_query_costs_the_cpu_time_divided_by_the_queries() -> None:
    """Half a CPU at 1000 queries/s is 500 us per query; a role without samples has no cost."""
    data = double(
        lambda servers, clients: 1000.0,
        spread=0.0,
        servers=(1,),
        clients=(4,),
        mysqld_cpus=lambda servers, clients: 0.5,
    )
    [row] = cpu_use.per_query(data.runs, data.processes).to_dict("records")
    assert row["clients"] == 4
    assert row["runs"] == 4
    assert row["mysqld_us"] == row["cpu_us"] == pytest.approx(500)
    assert (row["low"], row["high"]) == pytest.approx((500, 500))
    assert row["ndbmtd_us"] != row["ndbmtd_us"]


def test_runs_with_errors_cost_nothing() -> None:
    """A run with errors is left out, as in every mean of the lab."""
    data = double(servers=(1,), clients=(4, 8))
    runs = data.runs.assign(errors=(data.runs["clients"] == 8).astype(int))
    assert cpu_use.per_query(runs, data.processes)["clients"].to_list() == [4]


def used(**cpu_pct: float) -> pd.DataFrame:
    """Make the processes of run "a": CPU by role and node id, such as mysqld11."""
    rows = [
        ("a", 1.0, name.rstrip("0123456789"), int(name.lstrip("abcdefghijklmnopqrstuvwxyz")), pct)
        for name, pct in cpu_pct.items()
    ]
    columns = ["run_id", "t_s", "role", "node_id", "cpu_pct"]
    return pd.DataFrame(rows, columns=columns).assign(rss_bytes=1).astype({"role": "category"})


def test_the_busiest_servers_are_those_with_clients() -> None:
    """A contrast moves its clients from server to server, not always to the first."""
    processes = used(mysqld11=2.0, mysqld12=90.0, mysqld13=80.0)
    usage = cpu_use.Usage(processes)
    assert usage.of_serving(["a"], 1).to_list() == [90.0]
    assert usage.of_serving(["a"], 2).to_list() == [170.0]


def test_idle_servers_cost_a_query_nothing() -> None:
    """Of the MySQL servers only those with clients count; data nodes and sysbench all."""
    processes = used(mysqld11=9.0, mysqld12=90.0, ndbmtd2=20.0, ndbmtd3=30.0, sysbench0=10.0)
    runs = pd.DataFrame({"run_id": ["a", "b"], "servers": 1, "qps": 1000.0}, index=[7, 8])
    query_us = cpu_use.serving_query_us(runs, processes)
    assert query_us[7] == pytest.approx(1500)
    assert query_us[8] != query_us[8]
    assert cpu_use.idle_pct(runs, processes)[7] == pytest.approx(9)


def test_a_large_table_is_grouped_in_parts_with_the_same_result(monkeypatch) -> None:
    """Parts end between runs, and first samples weigh the same as in the whole table."""
    table = pd.DataFrame(
        {
            "run_id": [run for run in "abcd" for _ in range(6)],
            "t_s": [1.0, 2.0, 3.5] * 8,
            "role": "mysqld",
            "node_id": ([11] * 3 + [12] * 3) * 4,
            "cpu_pct": range(24),
            "rss_bytes": 100,
        }
    )
    mixed = pd.concat([table[::2], table[1::2]])
    whole = [cpu_use.Usage(samples).roles for samples in (table, mixed)]
    monkeypatch.setattr(cpu_use, "_PART_ROWS", 10)
    assert [len(part) for part in cpu_use._parts(table)] == [12, 12]
    assert len(cpu_use._parts(mixed)) == 1
    for samples, expected in zip((table, mixed), whole, strict=True):
        pd.testing.assert_frame_equal(cpu_use.Usage(samples).roles, expected)
