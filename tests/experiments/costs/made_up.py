"""A made-up cluster whose queries cost a known CPU time; never a measurement."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import pandas as pd

import small_runs
from ndblab.design import catalogue
from ndblab.planning.point import Point

EXPERIMENT = catalogue.find("costs")
RUNNING = 16
IDLE_PCT = 1.5
NDBMTD_US, SYSBENCH_US = 40.0, 20.0
KNEE, PER_CLIENT = 8, 1500.0


def mysqld_us(servers: int, dearer: float = 0.02) -> float:
    """Return the CPU time of a query in mysqld: so much dearer with each server more."""
    return 100.0 * (1 + dearer * (servers - 1))


def qps(servers: int, clients: int, dearer: float = 0.02) -> float:
    """Return throughput: in proportion to clients up to `KNEE`, as CPU time allows from there."""
    return PER_CLIENT * min(clients, KNEE) * 160 / (mysqld_us(servers, dearer) + 60)


def processes(run_id: str, servers: int, rate: float, dearer: float = 0.02) -> pd.DataFrame:
    """Return what each process uses; idle servers are the last ones."""
    busy_pct = rate * mysqld_us(servers, dearer) / 1e4 / servers
    used = [("mysqld", 11 + n, busy_pct if n < servers else IDLE_PCT) for n in range(RUNNING)]
    used += [("ndbmtd", n, rate * NDBMTD_US / 2e4) for n in (2, 3)]
    return small_runs.cpu(run_id, *used, ("sysbench", 0, rate * SYSBENCH_US / 1e4))


def tables(**given: float) -> dict[str, pd.DataFrame]:
    """Return copies of the tables of `_tables`, which are made once."""
    return {name: table.copy() for name, table in _tables(**given).items()}


@functools.cache
def _tables(
    repeats: int = 3, blocks: int = 6, dearer: float = 0.02, busy_pct: float = 98.0
) -> dict[str, pd.DataFrame]:
    """Return the tables of a sweep and of whole blocks of every contrast."""

    def of_point(point: Point) -> float:
        return qps(point.servers, point.clients, dearer)

    runs = small_runs.swept(EXPERIMENT, repeats, of_point, host_busy_pct=busy_pct)
    used = [processes(r.run_id, r.servers, r.qps, dearer) for r in runs.itertuples()]
    planned = EXPERIMENT.contrasts(EXPERIMENT, EXPERIMENT.size("quick"), pd.DataFrame())
    slices = []
    for contrast in planned:
        for number in range(1, blocks + 1):
            for [one] in contrast.block(number, 1):
                point = contrast.side(one.side).point
                rate = of_point(point) * (1 + 0.005 * ((number + one.slot) % 3))
                row = one.columns() | {
                    "status": "ok", "servers": point.servers, "clients": point.clients,
                    "qps": rate, "transporter": "shm", "workload": point.workload,
                    "variant": "default", "start": 1,
                }  # fmt: skip
                slices.append(row)
                used.append(processes(one.run_id, point.servers, rate, dearer))
    threads = small_runs.tables(runs["run_id"].iloc[0])["ndb_threads"]
    return {
        "runs": runs, "processes": pd.concat(used, ignore_index=True),
        "slices": pd.DataFrame(slices), "ndb_threads": threads,
    }  # fmt: skip


def dataset(*earlier: SimpleNamespace, **given) -> SimpleNamespace:
    """Return the tables as a dataset has them, with its earlier recordings."""
    return SimpleNamespace(**tables(**given), earlier=earlier, budget="shared")
