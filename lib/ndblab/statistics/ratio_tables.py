"""Ratios as tables: variants over the default, shared memory over TCP, sides of contrasts.

Only runs paired by `pairs`, and sides of one contrast, are compared. This module decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.error import MissingData
from ndblab.statistics import blocks, contrasts, cpu_use, summary

ALL = "all"
"""Value of the column `clients` in the row for all pairs together."""


def variants(
    runs: pd.DataFrame, names: Sequence[str], workload: str = "oltp_point_select"
) -> pd.DataFrame:
    """Compare variants with the default, over shared memory; MissingData if a variant has no pair.

    Returns
    -------
    `variant`, `clients`, `pairs`, `qps`, `qps_default`, `ratio`, `low`, `high`: a row per number
    of clients and, if there are several, one for all pairs together.
    """
    good = summary.good(runs)
    base = summary.select(good, workload=workload)
    tables = {
        name: _by_clients(summary.select(good, workload=workload, variant=name), base, "default")
        for name in names
    }
    return pd.concat(tables, names=["variant"]).reset_index("variant")


def transporters(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare shared memory with TCP, in the default variant.

    MissingData if a workload has no pair.

    Returns
    -------
    `workload`, `clients`, `pairs`, `qps`, `qps_tcp`, `ratio`, `low`, `high`.
    """
    good = summary.good(runs)
    tables = {
        name: _by_clients(
            summary.select(good, "shm", name), summary.select(good, "tcp", name), "tcp"
        )
        for name in sorted(good["workload"].astype(str).unique())
    }
    return pd.concat(tables, names=["workload"]).reset_index("workload")


def of_contrasts(slices: pd.DataFrame, quantity: str = "qps") -> pd.DataFrame:
    """Compare throughput, or another positive column, on both sides of each contrast.

    Returns
    -------
    `contrast`, `units` (whole blocks), `clients` of side A, `clients_other`, `qps`, `qps_other` (or
    the quantity), `ratio`, `low`, `high` (`statistics.sequential`); no row for a contrast of one
    side, or without slices that have the quantity.
    """
    rows = []
    for name in dict.fromkeys(slices["contrast"].astype(str)):
        mine = slices[slices["contrast"].astype(str) == name]
        if set(mine["side"].astype(str)) == {contrasts.A, contrasts.B}:
            try:
                logs = contrasts.log_ratios(slices, name, quantity)
            except MissingData:
                continue
            whole = contrasts.whole(slices, name)
            of = whole["side"].astype(str)
            sides = [whole[of == side] for side in (contrasts.A, contrasts.B)]
            means = [float(side[quantity].mean()) for side in sides]
            clients = [int(side["clients"].iloc[0]) for side in sides]
            rows.append([name, len(logs), *clients, *means, *contrasts.ratio(logs)])
    columns = ["contrast", "units", "clients", "clients_other", quantity, f"{quantity}_other"]
    return pd.DataFrame(rows, columns=[*columns, "ratio", "low", "high"])


def of_roles(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Compare the CPU time per query of each role on both sides of each contrast.

    MissingData if no CPU was recorded. Both sides of a contrast must be measured one at a time.

    Returns
    -------
    `role`, and the columns of `of_contrasts` for `cpu_us`, in microseconds.
    """
    good = summary.good(slices)
    us = cpu_use.serving_us_by_role(good, processes)
    tables = {
        role: table
        for role in cpu_use.QUERY_ROLES
        if len(table := of_contrasts(good.assign(cpu_us=us[f"{role}_us"]), "cpu_us"))
    }
    if not tables:
        raise MissingData("no contrast with the CPU of both sides")
    return pd.concat(tables, names=["role"]).reset_index("role")


def _by_clients(top: pd.DataFrame, base: pd.DataFrame, name: str) -> pd.DataFrame:
    logs = blocks.log_ratios(top, base)
    counts = sorted(int(c) for c in logs["clients"].unique())
    asked: dict[object, list[int]] = {c: [c] for c in counts}
    if len(counts) > 1:
        asked[ALL] = counts
    rows = []
    for label, clients in asked.items():
        ratio = blocks.ratio(logs, clients)
        means = [side.loc[side["clients"].isin(clients), "qps"].mean() for side in (top, base)]
        if label == ALL:
            means = [float("nan")] * 2
        number = int(logs["clients"].isin(clients).sum())
        rows.append([label, number, *means, *ratio])
    columns = ["clients", "pairs", "qps", f"qps_{name}", "ratio", "low", "high"]
    return pd.DataFrame(rows, columns=columns)
