"""CPU time a query. The runs are made up, never a measurement."""

from __future__ import annotations

import pytest

from made_up import double
from ndblab.analysis import cpu_cost


def test_a_query_costs_the_cpu_time_divided_by_the_queries() -> None:
    """Half a CPU at 1000 queries/s is 500 us per query; a role without samples has no cost."""
    data = double(
        lambda servers, clients: 1000.0,
        spread=0.0,
        servers=(1,),
        clients=(4,),
        mysqld_cpus=lambda servers, clients: 0.5,
    )
    [row] = cpu_cost.of_queries(data.runs, data.processes).to_dict("records")
    assert row["clients"] == 4
    assert row["runs"] == 4
    assert row["mysqld_us"] == row["cpu_us"] == pytest.approx(500)
    assert (row["low"], row["high"]) == pytest.approx((500, 500))
    assert row["ndbmtd_us"] != row["ndbmtd_us"]


def test_runs_with_errors_cost_nothing() -> None:
    """A run with errors is left out, as in every mean of the lab."""
    data = double(servers=(1,), clients=(4, 8))
    runs = data.runs.assign(errors=(data.runs["clients"] == 8).astype(int))
    assert cpu_cost.of_queries(runs, data.processes)["clients"].to_list() == [4]
