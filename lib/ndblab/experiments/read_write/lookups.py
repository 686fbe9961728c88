"""Key lookups: queries that look up several keys each, counted by their keys."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.read_write import IN_KEYS, IN_LISTS
from ndblab.planning.workload import POINT_SELECT
from ndblab.statistics import cpu_use, summary

SINGLE = "one by one"
"""Point selects, among lists of keys."""
_COLUMNS = ["keys", "single", "clients", "lookups_per_s"]


def keys(rows: pd.DataFrame) -> pd.Series:
    """Return how many keys each query of these runs or slices looks up: 1, except in IN lists."""
    of_lists = rows["variant"].astype(str).map(IN_KEYS)
    return of_lists.where(rows["workload"].astype(str) == IN_LISTS, 1).astype(float)


def per_s(rows: pd.DataFrame) -> pd.Series:
    """Return the lookups per second of these runs or slices, by run id."""
    rates = rows["qps"].astype(float) * keys(rows)
    return pd.Series(rates.to_numpy(), index=rows["run_id"].astype(str))


def costs(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return what a lookup costs, one by one and in lists of each length.

    Returns
    -------
    `lookups` ("one by one" or the variant of the lists), `clients`, `runs`, `queries_per_s`,
    `lookups_per_s`, `cpu_us` (CPU time of a lookup in all roles), and the part of each role,
    `<role>_us`; a row per number of clients. Rows with the same clients are of the same servers.
    """
    swept = runs[runs["workload"].astype(str).isin([POINT_SELECT, IN_LISTS])]
    table = cpu_use.per_query(swept, processes)
    number = keys(table)
    parts = [name for name in table if name.endswith("_us")]
    single = table["workload"].astype(str) == POINT_SELECT
    lookups = pd.DataFrame(
        {
            "lookups": table["variant"].astype(str).where(~single, SINGLE),
            "clients": table["clients"],
            "runs": table["runs"],
            "queries_per_s": table["qps_mean"],
            "lookups_per_s": table["qps_mean"] * number,
            **{name: table[name] / number for name in parts},
        }
    )
    order = {SINGLE: 0} | IN_KEYS
    return lookups.sort_values(["lookups", "clients"], key=lambda x: x.map(order).fillna(x))


def best(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the lookups at the clients of their best mean, one by one and by length of the lists.

    Returns
    -------
    `keys` (1 for one by one), `single`, `clients` and `lookups_per_s`, one row for each run.
    """
    good = summary.good(runs)
    mine = good[good["workload"].astype(str).isin([POINT_SELECT, IN_LISTS])]
    if mine.empty:
        return pd.DataFrame(columns=_COLUMNS)
    lookups = pd.DataFrame(
        {
            "keys": keys(mine).astype(int),
            "single": mine["workload"].astype(str) == POINT_SELECT,
            "clients": mine["clients"],
            "lookups_per_s": per_s(mine).to_numpy(),
        }
    )
    kind = ["keys", "single"]
    means = lookups.groupby([*kind, "clients"])["lookups_per_s"].mean().reset_index()
    top = means.loc[means.groupby(kind)["lookups_per_s"].idxmax(), [*kind, "clients"]]
    return lookups.merge(top, on=[*kind, "clients"])
