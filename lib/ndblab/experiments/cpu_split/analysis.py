"""Throughput by the data nodes' share of the CPUs, and what the utilisation law predicts."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from ndblab.design.variant import UNDIVIDED
from ndblab.error import MissingData
from ndblab.experiments.cpu_split.experiment import SHARES_PCT, variant
from ndblab.statistics import cpu_use, summary
from ndblab.statistics.estimate import Estimate, geometric

_SHARES = {variant(pct): pct for pct in SHARES_PCT}


class Law(NamedTuple):
    """The utilisation law: a part of the cluster serves no more queries than its CPUs allow.

    `data_us` and `sql_us` are CPU time of a query in microseconds, of the data nodes and of the
    MySQL servers with their clients, as measured where no quota divides the `cpus`. Source: Denning
    and Buzen 1978.
    """

    cpus: float
    data_us: float
    sql_us: float

    @property
    def best_pct(self) -> float:
        """Return the share for data nodes, in percent, with which neither side has CPUs left."""
        return 100 * self.data_us / (self.data_us + self.sql_us)

    def qps(self, pct: float) -> float:
        """Return the most queries/s with this percentage of the CPUs for data nodes."""
        share = pct / 100
        return 1e6 * self.cpus * min(share / self.data_us, (1 - share) / self.sql_us)


def law(runs: pd.DataFrame, processes: pd.DataFrame, cpus: float) -> Law:
    """Return the law of these CPUs, at the number of clients with the best undivided throughput.

    MissingData if there is no good undivided run whose CPU was recorded.
    """
    chosen = _good(runs)
    chosen = chosen[chosen["variant"].astype(str) == UNDIVIDED]
    if chosen.empty:
        raise MissingData("no good run without quotas")
    best = chosen.groupby("clients")["qps"].mean().idxmax()
    query_us = cpu_use.serving_us_by_role(chosen[chosen["clients"] == best], processes).mean()
    if query_us.isna().any():
        raise MissingData("no CPU of processes was recorded")
    return Law(cpus, query_us["ndbmtd_us"], query_us["mysqld_us"] + query_us["sysbench_us"])


def divided(runs: pd.DataFrame) -> pd.DataFrame:
    """Return good runs under quotas, with the data nodes' `share_pct`; MissingData without any."""
    good = _good(runs)
    good = good.assign(share_pct=good["variant"].astype(str).map(_SHARES))
    good = good.dropna(subset="share_pct")
    if good.empty:
        raise MissingData("no good run with divided CPUs")
    return good


def points(runs: pd.DataFrame, law: Law) -> pd.DataFrame:
    """Average throughput by share and clients, beside what the law predicts.

    Returns
    -------
    `clients`, `share_pct`, `runs`, `qps`, `law_qps`, and `of_law`: `qps` over `law_qps`.
    """
    groups = divided(runs).groupby(["clients", "share_pct"])["qps"]
    table = groups.agg(runs="count", qps="mean").reset_index()
    table["law_qps"] = table["share_pct"].map(law.qps)
    return table.assign(of_law=table["qps"] / table["law_qps"])


def undivided_over_best(runs: pd.DataFrame) -> Estimate:
    """Return throughput without quotas over that of the best division.

    Each has the number of clients that is best for it, and runs are paired by repeat. The best of
    several divisions looks better than it is, by chance, so the ratio errs on the low side.
    MissingData if there are no good runs of both.
    """
    good = _good(runs)
    good = good.assign(variant=good["variant"].astype(str))
    means = good.groupby(["variant", "clients"])["qps"].mean()
    at_best = good.set_index(["variant", "clients"]).loc[means.groupby("variant").idxmax()]
    qps = at_best.reset_index().pivot_table(index="repeat", columns="variant", values="qps")
    base = qps.get(UNDIVIDED, pd.Series(dtype=float))
    pairs = [(base / qps[name]).dropna() for name in _SHARES if name in qps]
    ratios = [geometric(paired) for paired in pairs if len(paired)]
    if not ratios:
        raise MissingData("no good runs with divided CPUs and without quotas")
    return min(ratios, key=lambda ratio: ratio.value)


def _good(runs: pd.DataFrame) -> pd.DataFrame:
    good = summary.good(runs)
    return good[~summary.disturbed(good)]
