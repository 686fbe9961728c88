"""What key lookups cost through SQL and the NDB API. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

import small_runs
from ndblab.error import MissingData
from ndblab.experiments.api_ceiling import analysis as interfaces


def run(variant: str, clients: int, qps: float, repeat: int = 1, **cpu_pct: float):
    workload = "oltp_point_select" if variant == "default" else "ndb_api"
    name = f"s01_c{clients:04d}_r{repeat}_{variant}"
    tables = small_runs.tables(
        name, repeat=repeat, clients=clients, qps=qps, workload=workload, variant=variant
    )
    tables["processes"] = pd.DataFrame(
        [(name, 2.0, role, n, pct, 1) for n, (role, pct) in enumerate(cpu_pct.items(), 1)],
        columns=["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"],
    )
    return tables["runs"], tables["processes"]


def together(*parts):
    runs, processes = zip(*parts, strict=True)
    return pd.concat(runs, ignore_index=True), pd.concat(processes, ignore_index=True)


def test_an_idle_server_costs_no_lookup_through_the_ndb_api():
    """SQL pays for its server, and for sysbench as its client."""
    runs, processes = together(
        run("default", 4, 10_000, mysqld=100, ndbmtd=60, sysbench=20),
        run("ndb-api", 4, 20_000, mysqld=2, ndbmtd=80, client=100),
    )
    sql, api = interfaces.lookup_us(runs, processes).itertuples()
    assert (sql.mysqld_us, sql.ndbmtd_us, sql.client_us) == pytest.approx((100, 60, 20))
    assert sql.cpu_us == pytest.approx(180)
    assert (api.mysqld_us, api.ndbmtd_us, api.client_us) == pytest.approx((0, 40, 50))
    assert api.cpu_us == pytest.approx(90)


def test_interfaces_are_averaged_by_clients_in_their_order():
    """SQL first; what is no lookup of either is left out."""
    runs, processes = together(
        run("ndb-api-32", 4, 60_000, ndbmtd=80, client=100),
        run("default", 16, 12_000, mysqld=100, ndbmtd=60, sysbench=20),
        run("default", 4, 9_000, mysqld=100, ndbmtd=60, sysbench=20),
        run("default", 4, 11_000, 2, mysqld=100, ndbmtd=60, sysbench=20),
    )
    costs = interfaces.costs(runs, processes)
    assert list(costs["interface"]) == ["SQL", "SQL", "NDB API, 32 at once"]
    assert list(costs["clients"]) == [4, 16, 4]
    assert costs.loc[0, "qps"] == 10_000
    assert costs.loc[0, "low"] < 10_000 < costs.loc[0, "high"]
    with pytest.raises(MissingData):
        interfaces.costs(runs.assign(status="lost"), processes)
