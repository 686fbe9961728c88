"""What else the host does, and what that changes: the monitor, foreign load, idle CPUs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments import the_lab_itself as trust
from ndblab.statistics import contrasts
from ndblab.statistics.contrasts import A, B
from ndblab.statistics.cpu_use import QUERY_ROLES, Usage

SIDES = {
    trust.MONITOR: ("with the lab's monitor", "without"),
    trust.NEIGHBOUR: ("beside a busy process", "without"),
    trust.SPINNER: ("1 server, CPUs awake", "1 server"),
    trust.SERVERS: ("2 servers", "1 server"),
    trust.SERVERS_AWAKE: ("2 servers, awake", "1 server, awake"),
}
"""What sides A and B are, by contrast."""


def query_us(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.Series:
    """Return the CPU time of a query in each slice, by id; slices not watched are left out.

    It is that of all MySQL servers, data nodes and load generators together.
    """
    roles = Usage(processes).roles
    used = roles.reindex(columns=list(QUERY_ROLES)).sum(axis=1, min_count=1)
    qps = slices.set_index(slices["run_id"].astype(str))["qps"].astype(float)
    return (1e4 * used / qps.reindex(used.index)).dropna()


def sides(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return each side of each contrast that was measured.

    Returns
    -------
    `contrast`, `side`, `blocks`, `qps` (geometric mean), `idle_pct` (share of the host's CPU time
    that no process used), `query_us` (CPU time of a query; NaN if not watched).
    """
    cost = query_us(slices, processes)
    idle = 100 - slices.set_index(slices["run_id"].astype(str))["host_busy_pct"].astype(float)
    rows = []
    for contrast, words in SIDES.items():
        for side, name in zip((A, B), words, strict=True):
            try:
                logs = contrasts.levels(slices, contrast, "qps", side)
            except MissingData:
                continue
            share = _mean(slices, contrast, idle, side, log=False)
            costs = _mean(slices, contrast, cost, side)
            rows.append((contrast, name, logs.size, float(np.exp(logs.mean())), share, costs))
    columns = ["contrast", "side", "blocks", "qps", "idle_pct", "query_us"]
    return pd.DataFrame(rows, columns=columns)


def effects(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return side A over side B of each contrast that was measured.

    Returns
    -------
    `contrast`, `a`, `b`, `blocks`, `qps` with `qps_low` and `qps_high`, `query_us` with
    `query_us_low` and `query_us_high`: ratios with repeated intervals.
    """
    cost = query_us(slices, processes)
    rows = []
    for contrast, words in SIDES.items():
        try:
            logs = contrasts.log_ratios(slices, contrast)
        except MissingData:
            continue
        rows.append((contrast, *words, len(logs), *contrasts.ratio(logs),
                     *contrasts.measured_ratio(slices, contrast, cost)))  # fmt: skip
    columns = ["contrast", "a", "b", "blocks"]
    columns += [f"{name}{end}" for name in ("qps", "query_us") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=columns)


def _mean(
    slices: pd.DataFrame, contrast: str, quantity: pd.Series, side: str, log: bool = True
) -> float:
    """Return the mean of a quantity on a side, geometric with `log`; NaN if there is none."""
    try:
        mean = contrasts.levels(slices, contrast, quantity, side, log).mean()
    except (MissingData, KeyError):
        return np.nan
    return float(np.exp(mean) if log else mean)
