"""CPU time per query, by role.

In: runs, and the CPU of processes during them. Out: microseconds of CPU time per query, one row per
configuration. It says what the software needs, not what the host could deliver.
"""

from __future__ import annotations

import pandas as pd

from ndblab.analysis import estimate, summary
from ndblab.analysis.cpu_use import Usage
from ndblab.planning.workload import SYSBENCH

ROLES = ("mysqld", "ndbmtd", SYSBENCH)


def of_queries(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Divide the CPU time of each role by the number of queries, and average over good runs.

    All processes of a role count, including idle ones, and all that they do besides queries: at low
    throughput a query looks expensive.

    Returns
    -------
    Columns that identify a configuration, `runs`, `qps_mean`, `cpu_us` (CPU time per query of these
    roles together) with its 95 % interval `low` and `high` (NaN for one run), and the part of each
    role, `<role>_us`.
    """
    good = summary.good(runs)
    used = Usage(processes, processes.iloc[:0]).roles.reindex(columns=list(ROLES))
    used = used.reindex(good["run_id"].astype(str)).set_index(good.index)
    each = 1e4 * used.div(good["qps"].astype(float), axis=0)
    keys = summary.configuration(good)
    each = each.rename(columns="{}_us".format).assign(qps_mean=good["qps"].astype(float))
    each["cpu_us"] = each[[f"{role}_us" for role in ROLES]].sum(axis=1, min_count=1)
    points = each.groupby([good[key] for key in keys], observed=True)
    table = points.mean()
    table[["low", "high"]] = [estimate.mean(values)[1:] for _, values in points["cpu_us"]]
    table.insert(0, "runs", points.size())
    columns = ["runs", "qps_mean", "cpu_us", "low", "high", *(f"{role}_us" for role in ROLES)]
    return table[columns].reset_index()
