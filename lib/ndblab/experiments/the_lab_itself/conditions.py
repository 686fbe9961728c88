"""What else the host does, and what that changes: the monitor, foreign load, idle CPUs."""

from __future__ import annotations

from collections.abc import Callable

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
            speeds = _levels(slices, contrast, "qps", side)
            if speeds.size:
                share = _levels(slices, contrast, idle, side, log=False)
                means = (_mean(np.exp, speeds), _mean(float, share),
                         _mean(np.exp, _levels(slices, contrast, cost, side)))  # fmt: skip
                rows.append((contrast, name, speeds.size, *means))
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


def _levels(
    slices: pd.DataFrame, contrast: str, quantity: str | pd.Series, side: str, log: bool = True
) -> np.ndarray:
    """Return a quantity of a side, block by block; empty if there is none."""
    try:
        return contrasts.levels(slices, contrast, quantity, side, log)
    except (MissingData, KeyError):
        return np.array([])


def _mean(back: Callable[[float], float], values: np.ndarray) -> float:
    return float(back(values.mean())) if values.size else np.nan
