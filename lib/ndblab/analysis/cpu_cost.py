"""What a query costs: CPU time of each role for one of them.

In: runs, and what processes used. Out: CPU time in microseconds a query, one row for each point.
What a machine can do is not in it; what its software needs for it is.
"""

from __future__ import annotations

import pandas as pd

from ndblab.analysis import summary
from ndblab.analysis.cpu_use import Usage
from ndblab.planning.workload import SYSBENCH

ROLES = ("mysqld", "ndbmtd", SYSBENCH)


def of_queries(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Divide the CPU time of each role by the queries it was used for, and average over good runs.

    All processes of a role count, also those without clients, and whatever they do beside queries:
    where there are few of these, a query looks expensive.

    Returns
    -------
    What a point is told by, `runs`, `qps_mean`, `cpu_us` (CPU time a query of these roles together)
    with its 95 % interval `low` and `high` (NaN for one run), and the part of each, `<role>_us`.
    """
    good = runs[summary.usable(runs) == ""]
    used = Usage(processes, processes.iloc[:0]).roles.reindex(columns=list(ROLES))
    used = used.reindex(good["run_id"].astype(str)).set_index(good.index)
    each = 1e4 * used.div(good["qps"].astype(float), axis=0)
    keys = [key for key in summary.POINT if key in good]
    each = each.rename(columns="{}_us".format).assign(qps_mean=good["qps"].astype(float))
    each["cpu_us"] = each[[f"{role}_us" for role in ROLES]].sum(axis=1, min_count=1)
    points = each.groupby([good[key] for key in keys], observed=True)
    table = points.mean()
    table[["low", "high"]] = [summary.mean(values)[1:] for _, values in points["cpu_us"]]
    table.insert(0, "runs", points.size())
    columns = ["runs", "qps_mean", "cpu_us", "low", "high", *(f"{role}_us" for role in ROLES)]
    return table[columns].reset_index()
