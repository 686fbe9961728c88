"""CPU time of a query by role, by number of MySQL servers and of clients.

The CPU of idle servers is not part of a query: it is a number of its own. The CPU of data nodes
cannot be divided like that, and counts in full.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.formatting import count, plain
from ndblab.judging import publication
from ndblab.judging.publication import Anchor
from ndblab.statistics import contrasts, cpu_use, estimate, summary
from ndblab.statistics.estimate import Estimate

SERVER, DATA_NODES, CLIENTS, ALL = "mysqld_us", "ndbmtd_us", "sysbench_us", "cpu_us"
"""Columns: CPU time of a query in microseconds, of each role, and of all three together."""
WORDS = {SERVER: "mysqld", DATA_NODES: "ndbmtd", CLIENTS: "sysbench"}
FLAT = 1 - summary.FLAT


class Turn(NamedTuple):
    """Where the throughput of one server stops rising with its clients.

    `clients` is the smallest number within 3 % of the best mean; its 95 % interval is `low` to
    `high` (NaN without repeated runs). Within it, there are `least_per_cpu` to `most_per_cpu`
    clients for each logical CPU that mysqld uses. At `clients`, mysqld uses `cpus`, and `busy_pct`
    of the host's CPUs are busy. `most` is the largest number of clients.
    """

    clients: int
    low: float
    high: float
    least_per_cpu: float
    most_per_cpu: float
    qps: float
    cpus: float
    busy_pct: float
    most: int

    @property
    def per_cpu(self) -> float:
        """Return clients for each logical CPU that mysqld uses."""
        return self.clients / self.cpus

    @property
    def words(self) -> str:
        """Write where it stops: at one number of clients, between two, or nobody knows where."""
        if self.low < self.high == self.most:
            low = count(int(self.low), "client")
            return f"from {low} on, no number of clients was clearly better for one server"
        where, per_cpu = f"at {count(self.clients, 'client')}", _rounded(self.per_cpu)
        if self.low < self.high:
            where = f"between {self.low:.0f} and {self.high:.0f} clients"
            per_cpu = f"{_rounded(self.least_per_cpu)} to {_rounded(self.most_per_cpu)}"
        return f"one server stops gaining {where}, {per_cpu} for each CPU that mysqld uses"


def each_run(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time of a query of each run, or of each slice measured alone.

    Returns
    -------
    `servers`, `clients`, `qps`, `<role>_us`, `cpu_us` and `idle_pct`: CPU of each server without
    clients, in percent of one logical CPU (NaN if there is none). The index is the run id. NaN
    where CPU was not recorded; MissingData if it was recorded nowhere.
    """
    table = cpu_use.serving_us_by_role(runs, processes)
    table[ALL] = table.sum(axis=1, skipna=False)
    ids = runs["run_id"].astype(str)
    idle = ids.map(_servers(processes)) - runs["servers"]
    idle_pct = cpu_use.idle_pct(runs, processes) / idle.where(idle > 0)
    known = runs[["servers", "clients", "qps"]]
    return table.join(known).assign(idle_pct=idle_pct).set_index(ids.rename("run_id"))


def system_share(runs: pd.DataFrame, threads: pd.DataFrame) -> pd.Series:
    """Return the share of system time in the CPU time of the data nodes, by run id.

    NDB counts user and system time of its threads separately; for other processes, only the sum is
    recorded.
    """
    mine = threads[threads["run_id"].astype(str).isin(runs["run_id"].astype(str))]
    sums = mine.groupby(mine["run_id"].astype(str))[["os_user_pct", "os_system_pct"]].sum()
    return (sums["os_system_pct"] / sums.sum(axis=1)).rename("ndbmtd_system_share")


def each_good_run(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return `each_run` of the good runs that nothing on the host disturbed.

    It adds `<role>_cpus`, the logical CPUs that a role uses, and `host_busy_pct`.
    """
    chosen = summary.good(summary.select(runs))
    chosen = chosen[~summary.disturbed(chosen)]
    if chosen.empty:
        raise MissingData("no good run that nothing else on the host disturbed")
    costs = each_run(chosen, processes)
    used = {f"{role}_cpus": costs[column] * costs["qps"] / 1e6 for column, role in WORDS.items()}
    return costs.assign(**used, host_busy_pct=chosen["host_busy_pct"].to_numpy(float))


def points(runs: pd.DataFrame, processes: pd.DataFrame, threads: pd.DataFrame) -> pd.DataFrame:
    """Average the columns of `each_good_run`, and `system_share`.

    Returns
    -------
    A row for each number of servers and clients, with the number of its `runs`.
    """
    costs = each_good_run(runs, processes).join(system_share(runs, threads))
    groups = costs.groupby(["servers", "clients"])
    table = groups.mean()
    table.insert(0, "runs", groups.size())
    return table.reset_index()


def compared(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows with equal clients for each server, and with equal clients in all.

    The keys say which, and with how many clients, in words. The table is of points or of runs.
    """
    comparisons = {}
    for words, key in (("each", table["clients"] / table["servers"]), ("in all", table["clients"])):
        sets = [set(own) for _, own in key.groupby(table["servers"])]
        if len(sets) > 1 and (common := set.intersection(*sets)):
            clients = int(max(common))
            comparisons[f"{count(clients, 'client')} {words}"] = table[key == clients]
    return comparisons


def turn(costs: pd.DataFrame) -> Turn:
    """Return where one server's throughput turns, by the means of its `each_good_run`.

    MissingData if it has fewer than three numbers of clients.
    """
    columns = ["qps", "mysqld_cpus", "host_busy_pct"]
    groups = costs[costs["servers"] == 1].groupby("clients")
    one = groups[columns].mean()
    if len(one) < 3:
        raise MissingData("fewer than three numbers of clients of one server")
    knee = one[one["qps"] >= FLAT * one["qps"].max()].iloc[0]
    low, high = _turns(costs, groups.size())
    per_cpu = one.index.to_series() / one["mysqld_cpus"]
    within = per_cpu[(one.index >= low) & (one.index <= high)]
    numbers = (within.min(), within.max(), *knee)
    return Turn(int(knee.name), low, high, *map(float, numbers), int(one.index.max()))


def _turns(costs: pd.DataFrame, runs: pd.Series) -> tuple[float, float]:
    """Return between which numbers of clients the turn lies, by a parametric bootstrap.

    As in `estimate.peak_ratio`, the turn is picked from noisy means, so every draw picks it anew.
    How much a run varies is estimated from the runs of all points together.
    """
    logs = np.log(costs["qps"].astype(float))
    points = logs.groupby([costs["servers"], costs["clients"]])
    freedom = int((points.count() - 1).sum())
    if not freedom:
        return math.nan, math.nan
    deviation = math.sqrt(((logs - points.transform("mean")) ** 2).sum() / freedom)
    noise = np.random.default_rng(7742).standard_t(freedom, (estimate.DRAWS, len(runs)))
    drawn = points.mean()[1].to_numpy() + deviation / np.sqrt(runs.to_numpy()) * noise
    first = (drawn >= drawn.max(axis=1, keepdims=True) + math.log(FLAT)).argmax(axis=1)
    low, high = np.quantile(first, [0.025, 0.975], method="inverted_cdf")
    return float(runs.index[int(low)]), float(runs.index[int(high)])


def ratios(slices: pd.DataFrame, processes: pd.DataFrame, contrast: str) -> dict[str, Estimate]:
    """Return the ratio of A to B, by quantity: `qps`, `cpu_us`, `<role>_us`.

    MissingData if the contrast has no whole block.
    """
    whole = contrasts.whole(slices, contrast)
    costs = each_run(whole, processes)
    quantities = ("qps", ALL, *WORDS)
    return {q: contrasts.ratio(contrasts.log_ratios(whole, contrast, costs[q])) for q in quantities}


def sides(slices: pd.DataFrame, contrast: str) -> str:
    """Return in words what a contrast compares: "16 servers instead of 1, 8 clients each"."""
    rows = contrasts.whole(slices, contrast).groupby("side")[["servers", "clients"]].first()
    a, b = (rows.loc[side].astype(int) for side in (contrasts.A, contrasts.B))
    if a["servers"] == b["servers"]:
        return f"{count(a['clients'], 'client')} instead of {b['clients']}"
    equal = a["clients"] == b["clients"]
    clients = a["clients"] if equal else a["clients"] // a["servers"]
    servers = f"{count(a['servers'], 'server')} instead of {b['servers']}"
    return f"{servers}, {count(clients, 'client')} {'in all' if equal else 'each'}"


def idle_server_pct(runs: pd.DataFrame, processes: pd.DataFrame) -> Estimate:
    """Return the CPU that a server without clients uses, in percent of one logical CPU.

    MissingData if no run has such a server.
    """
    known = each_good_run(runs, processes)["idle_pct"].dropna()
    if known.empty:
        raise MissingData("no server without clients")
    return estimate.positive(known)


def _servers(processes: pd.DataFrame) -> pd.Series:
    """Return how many MySQL servers ran, by run id."""
    mine = processes[processes["role"].astype(str) == "mysqld"]
    return mine.groupby(mine["run_id"].astype(str))["node_id"].nunique()


def _rounded(per_cpu: float) -> str:
    return plain(round(per_cpu, 1))


def published() -> Anchor:
    """Return the CPU time of a query in the brief's one MySQL server, where it was best.

    The brief states throughput and CPU of mysqld there (Figure 4); their quotient is ours.
    """
    cpu, qps = _at_best("mysqld CPU"), _at_best("throughput")
    time_us = round(1e4 * cpu.value / qps.value)
    return replace(cpu, series="mysqld", value=time_us, unit="\N{MICRO SIGN}s")


def published_per_cpu() -> float:
    """Return the clients for each CPU that the brief's one mysqld used, where it was best."""
    cpu = _at_best("mysqld CPU")
    return cpu.clients / (cpu.value / 100)


def _at_best(series: str) -> Anchor:
    shown = [anchor for anchor in publication.anchors(4) if anchor.series == series]
    return min(shown, key=lambda anchor: anchor.clients)
