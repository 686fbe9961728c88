"""What a check of a claim may look at.

In: a dataset's tables. Out: runs and peaks at a point, comparisons of points with intervals.
It never decides anything, and never knows a claim by name.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Protocol

import pandas as pd

from ndblab import budget, summary
from ndblab.verdict import Comparison, Missing, count

# The brief's division of its 256 logical CPUs, which `scaled` imposes as shares.
SERVER_SHARE = budget.BRIEF_SERVER_CPUS / budget.BRIEF_CPUS
COMMON_SHARE = budget.BRIEF_SQL_SIDE_CPUS / budget.BRIEF_CPUS
DATA_NODES_SHARE = 1 - COMMON_SHARE
# Monitors, kernel and the ends of quota periods take a little: this much of a share is all of it.
EXHAUSTED = 0.9
HOST_FULL_PCT = 95
# sysbench's histogram: neighbouring percentiles differ by this factor.
P95_STEP = 1.018


class Tables(Protocol):
    """The part of a dataset that is judged."""

    id: str
    budget: str
    host: dict[str, Any]
    runs: pd.DataFrame
    processes: pd.DataFrame


class Evidence:
    """A dataset as a check sees it: good runs over shared memory, point selects, no idle server."""

    def __init__(self, dataset: Tables) -> None:
        self.budget = dataset.budget
        self.cpus = usable_cpus(dataset.host)
        runs = dataset.runs
        runs = runs[(runs["transporter"] == "shm") & (runs["workload"] == "oltp_point_select")]
        self.runs = runs[(summary.usable(runs) == "") & (runs["clients"] >= runs["servers"])]
        self.points = summary.points(runs)
        self._peaks = summary.peaks(self.points).set_index("servers")
        self._dataset = dataset

    @property
    def servers(self) -> list[int]:
        """The numbers of servers that have a good run."""
        return sorted(int(n) for n in self._peaks.index)

    def clients(self, servers: int) -> list[int]:
        """The numbers of clients with a good run, none of which leaves a server idle."""
        return sorted({int(c) for c in self.runs.loc[self.runs["servers"] == servers, "clients"]})

    def has(self, servers: int, clients: int) -> bool:
        """Say whether this point has a good run."""
        return clients in self.clients(servers)

    def values(self, servers: int, clients: int, metric: str) -> pd.Series:
        """Give a metric of the good runs of a point."""
        at = (self.runs["servers"] == servers) & (self.runs["clients"] == clients)
        if not at.any():
            raise Missing(f"no good run with {servers} servers and {clients} clients")
        return self.runs.loc[at, metric].astype(float)

    def best(self, servers: int) -> int:
        """Give the clients of the best mean throughput."""
        return int(self._peak(servers, "clients"))

    def knee(self, servers: int) -> int:
        """Give the fewest clients within 3 % of the best mean throughput."""
        return int(self._peak(servers, "knee_clients"))

    def flat(self, servers: int) -> int:
        """Count the points within 3 % of the best, among which noise may have picked it."""
        return int(self._peak(servers, "flat"))

    def clients_per_server(self) -> tuple[int, str]:
        """Give what stands for the brief's 32 clients a server here, and a note that says so."""
        if self.budget == "pinned" and self.cpus >= 256:
            return 32, ""
        clients = self.knee(1)
        words = f"{count(clients, 'client')}, the knee of one server here, stand for 32"
        return clients, words

    def steady(self, servers: int, clients: int, metric: str) -> pd.Series:
        """Give a metric of the good runs of a point with the drift between repeats taken out."""
        kept = self.values(servers, clients, metric)
        return self._steady[metric].loc[kept.index]

    @cached_property
    def _steady(self) -> dict[str, pd.Series]:
        metrics = ("qps", "latency_p95_ms")
        return {metric: summary.without_drift(self.runs, metric) for metric in metrics}

    def spread(self, metric: str) -> summary.Spread:
        """Give how much runs of one point differ, over all points together."""
        return summary.pooled(self.runs, metric)

    def room(self, servers: int) -> float:
        """Give the most that twice the servers could gain in CPU over their peak (2 at most)."""
        if self.budget == "scaled":
            one, two = (min(n * SERVER_SHARE, COMMON_SHARE) for n in (servers, 2 * servers))
            return two / one
        used = self._used_cpus.get((servers, self.best(servers)))
        return 2.0 if not used else min(2.0, max(1.0, COMMON_SHARE * self.cpus / used))

    def exhausted(self, servers: int, clients: int) -> bool:
        """Say whether the SQL side or the data nodes had no CPU left to take at a point."""
        point = servers, clients
        sql = self._used_cpus.get(point, math.nan) / (COMMON_SHARE * self.cpus)
        data = self._data_cpus.get(point, math.nan) / (DATA_NODES_SHARE * self.cpus)
        busy = self.values(servers, clients, "host_busy_pct").mean()
        divided = self.budget != "shared"
        full = divided and (sql >= EXHAUSTED or data >= EXHAUSTED)
        return bool(full or busy >= HOST_FULL_PCT)

    @cached_property
    def _used_cpus(self) -> dict[tuple[int, int], float]:
        return self._cpus_of(["mysqld", "sysbench"])

    @cached_property
    def _data_cpus(self) -> dict[tuple[int, int], float]:
        return self._cpus_of(["ndbmtd"])

    def _cpus_of(self, names: list[str]) -> dict[tuple[int, int], float]:
        """Logical CPUs used by these roles together, mean over the runs of a point."""
        roles = summary.cpu_by_role(self._dataset.processes)
        roles = roles[roles["role"].isin(names)]
        used = roles.groupby("run_id", observed=True)["cpu_pct"].sum() / 100
        used.index = used.index.astype(str)
        runs = self.runs[["servers", "clients"]].assign(
            used=self.runs["run_id"].astype(str).map(used)
        )
        means = runs.groupby(["servers", "clients"])["used"].mean().dropna()
        return {(int(n), int(c)): float(cpus) for (n, c), cpus in means.items()}

    def _peak(self, servers: int, column: str) -> float:
        if servers not in self._peaks.index:
            raise Missing(f"no good run with {servers} servers")
        return self._peaks.at[servers, column]


def confidence(tests: int) -> float:
    """Give the confidence of each of several tests that makes 95 % of all together (Sidak)."""
    return summary.CONFIDENCE ** (1 / max(1, tests))


def qps_test(
    evidence: Evidence, label: str, top: tuple[int, int], base: tuple[int, int], tests: int
) -> Comparison:
    """Compare the throughput of two points (servers, clients)."""
    above, below = (evidence.steady(n, clients, "qps") for n, clients in (top, base))
    spread = evidence.spread("qps")
    return Comparison(label, *summary.ratio(above, below, confidence(tests), spread))


def peak_test(evidence: Evidence, label: str, top: int, base: int, tests: int) -> Comparison:
    """Compare the peaks of two numbers of servers, allowing for how the peaks were picked."""
    for n in (top, base):
        if not evidence.clients(n):
            raise Missing(f"no good run with {n} servers")
    above, below = (
        [evidence.steady(n, clients, "qps").to_numpy() for clients in evidence.clients(n)]
        for n in (top, base)
    )
    spread = evidence.spread("qps")
    return Comparison(label, *summary.peak_ratio(above, below, spread, confidence(tests)))


def p95_test(
    evidence: Evidence, label: str, top: tuple[int, int], base: tuple[int, int], tests: int
) -> Comparison:
    """Compare the p95 of two points; the interval is not finer than sysbench's histogram."""
    above, below = (evidence.steady(n, clients, "latency_p95_ms") for n, clients in (top, base))
    spread = evidence.spread("latency_p95_ms")
    value, low, high = summary.ratio(above, below, confidence(tests), spread)
    return Comparison(label, value, low / P95_STEP, high * P95_STEP)


def p95_value(evidence: Evidence, servers: int, clients: int, tests: int) -> Comparison:
    """Take the p95 of one point, in ms."""
    values = evidence.values(servers, clients, "latency_p95_ms")
    value, low, high = summary.mean(values, confidence(tests))
    low = max(low, 0.0)
    label = f"ms with {count(servers, 'server')} and {count(clients, 'client')}"
    return Comparison(label, value, low / P95_STEP, high * P95_STEP)


def usable_cpus(host: dict[str, Any]) -> float:
    """Give the logical CPUs that a host's description allows to use."""
    cpus = host.get("logical_cpus") or len(host.get("cpus", ()))
    return float(min(cpus, host.get("cpu_limit") or cpus))
