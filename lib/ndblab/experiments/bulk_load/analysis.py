"""Bulk loads: their rate, the CPU time of a row, and local checkpoints meanwhile.

A row that is loaded counts as a query of its run.
"""

from __future__ import annotations

import math

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.bulk_load import (
    BULK_LOAD,
    BY_SYSBENCH,
    INSERTS,
    LOAD_DATA,
    LOAD_LOCAL,
    LOADERS,
    NDB_IMPORT,
)
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.workload import CLIENT
from ndblab.statistics import estimate, summary
from ndblab.statistics.cpu_use import Usage

ROLES = ("mysqld", "ndbmtd", CLIENT)
"""Roles whose CPU time is the cost of a row; the client is the program that loads."""
WORDS = {
    LOAD_DATA: "LOAD DATA",
    INSERTS: "INSERT of many rows",
    BY_SYSBENCH: "sysbench prepare",
    NDB_IMPORT: "ndb_import",
    LOAD_LOCAL: "LOAD DATA LOCAL",
}
LEAST_CPU_S = 1.5
"""Least length of a load whose CPU time counts: sampled once a second, that of a shorter one is
partly of what ran before and after it."""
STARTED, COMPLETED = "local_checkpoint_started", "local_checkpoint_completed"


def of(runs: pd.DataFrame, processes: pd.DataFrame, events: pd.DataFrame) -> pd.DataFrame:
    """Return the good loads of the sweep during which nothing else ran; MissingData without any.

    Returns
    -------
    `run_id`, `way`, `connections`, `rows`, `duration_s`, `rows_per_s`; `<role>_us`, the CPU time of
    a row in microseconds (NaN where none was recorded, or the load was too short for it) and
    `cpu_us`, their sum; `checkpoints`, the number of local checkpoints that were completed during
    the load, and `checkpoint_pct`, the percentage of its time in which one was under way (NaN if
    none began or ended in it).
    """
    good = summary.good(runs[~summary.disturbed(runs)])
    good = good[good["workload"].astype(str) == BULK_LOAD]
    if good.empty:
        raise MissingData("no good load")
    variants = good["variant"].astype(str)
    table = pd.DataFrame(
        {
            "run_id": good["run_id"].astype(str),
            "way": variants.where(variants != DEFAULT_VARIANT, LOAD_DATA),
            "connections": good["clients"].astype(int),
            "rows": good["queries"].astype(float),
            "duration_s": good["duration_s"].astype(float),
            "rows_per_s": good["qps"].astype(float),
        }
    ).reset_index(drop=True)
    used = Usage(processes).roles.reindex(index=table["run_id"], columns=list(ROLES))
    used.loc[(table["duration_s"] < LEAST_CPU_S).to_numpy()] = math.nan
    for role in ROLES:
        table[f"{role}_us"] = 1e4 * used[role].to_numpy() / table["rows_per_s"]
    table["cpu_us"] = table[[f"{role}_us" for role in ROLES]].sum(axis=1, skipna=False)
    spans = zip(table["run_id"], table["duration_s"], strict=True)
    checkpoints = [_checkpoints(events, run_id, lasted_s) for run_id, lasted_s in spans]
    table["checkpoints"], table["checkpoint_pct"] = zip(*checkpoints, strict=True)
    return table


def by_way(loads: pd.DataFrame) -> pd.DataFrame:
    """Average the loads of `of` by way and connections, ways in the order of `LOADERS`.

    Returns
    -------
    `way`, `connections`, `loads` (their number), `rows_per_s` with its 95 % interval `low`, `high`,
    and the means of `duration_s`, `cpu_us`, `<role>_us`, `checkpoints`, `checkpoint_pct`.
    """
    means = ["duration_s", "cpu_us", *(f"{role}_us" for role in ROLES)]
    means += ["checkpoints", "checkpoint_pct"]
    rows = []
    for (way, connections), kind in loads.groupby(["way", "connections"], observed=True):
        rate = estimate.positive(kind["rows_per_s"])
        rows.append((str(way), int(connections), len(kind), *rate, *kind[means].mean()))
    columns = ["way", "connections", "loads", "rows_per_s", "low", "high", *means]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "way", key=lambda ways: ways.map(LOADERS.index), kind="stable", ignore_index=True
    )


def _checkpoints(events: pd.DataFrame, run_id: str, lasted_s: float) -> tuple[int, float]:
    """Count the checkpoints completed in a run, and the percentage of its time that they took.

    A checkpoint under way when the run begins has no start event in it, and one under way when the
    run ends has no completion event.
    """
    own = events[events["run_id"].astype(str) == run_id].sort_values("t_s", kind="stable")
    own = own[own["event"].astype(str).isin((STARTED, COMPLETED))]
    if own.empty:
        return 0, math.nan
    took_s, since_s = 0.0, None
    for number, (event, at_s) in enumerate(zip(own["event"].astype(str), own["t_s"], strict=True)):
        at_s = min(max(float(at_s), 0.0), lasted_s)
        if event == STARTED:
            since_s = at_s
        elif since_s is not None or number == 0:
            took_s += at_s - (since_s or 0.0)
            since_s = None
    took_s += lasted_s - since_s if since_s is not None else 0.0
    return int((own["event"].astype(str) == COMPLETED).sum()), 100 * took_s / lasted_s
