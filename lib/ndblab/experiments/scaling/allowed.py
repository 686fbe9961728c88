"""What CPU quotas alone would allow in Figure 6, and what more servers give at equal clients.

Under quotas a server stops at its share of the CPUs whatever the software does. Only a shortfall
below that is the software's.
"""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.planning import cpu_budget
from ndblab.statistics import cpu_use, estimate, summary
from ndblab.statistics.estimate import Estimate


def by_quotas(runs: pd.DataFrame, processes: pd.DataFrame, cpus: float) -> pd.Series:
    """Return queries/s that the quotas of the `scaled` budget allow, by number of servers.

    Each quota's CPU is divided by the least CPU time that a query needed at any point of these
    runs. The quotas are those of each server, of all servers with their clients, and of the data
    nodes, on `cpus` usable logical CPUs. MissingData if no good run has its CPU recorded.
    """
    good = summary.good(runs)
    if good.empty:
        raise MissingData("no good run")
    serving_us = cpu_use.serving_us_by_role(good, processes)
    us = serving_us.groupby([good["servers"], good["clients"]]).mean().min()
    if us.isna().any():
        raise MissingData("no CPU of processes was recorded")
    quota_us = 1e6 * cpus / cpu_budget.BRIEF_CPUS
    side = cpu_budget.BRIEF_SQL_SIDE_CPUS * quota_us / (us["mysqld_us"] + us["sysbench_us"])
    data_nodes = 2 * cpu_budget.BRIEF_DATA_NODE_CPUS * quota_us / us["ndbmtd_us"]
    one = cpu_budget.BRIEF_SERVER_CPUS * quota_us / us["mysqld_us"]
    servers = sorted(runs["servers"].astype(int).unique())
    return pd.Series({n: min(n * one, side, data_nodes) for n in servers}).rename_axis("servers")


def at_equal_clients(runs: pd.DataFrame, top: int, base: int) -> Estimate:
    """Return the ratio of the queries/s of `top` servers to those of `base` servers.

    Runs are paired by clients and repeat, at all numbers of clients that leave none of the servers
    idle. MissingData if there is no such pair.
    """
    busy = summary.good(runs)
    busy = busy[busy["clients"] >= top]
    qps = busy.pivot_table(index=["clients", "repeat"], columns="servers", values="qps")
    if not {top, base} <= set(qps) or (both := (qps[top] / qps[base]).dropna()).empty:
        raise MissingData(f"no run of {base} servers with the clients of {top}")
    return estimate.geometric(both)
