"""What a check of a claim may look at.

In: a dataset's tables. Out: runs and peaks at a point, what processes and NDB threads used there,
comparisons of points with intervals. It never decides anything, and never knows a claim by name.
`pairs` compares two kinds of runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import pandas as pd

from ndblab.analysis import summary
from ndblab.analysis.cpu_use import Usage
from ndblab.analysis.formatting import count
from ndblab.claims.verdict import Comparison
from ndblab.error import MissingData
from ndblab.planning import cpu_budget
from ndblab.planning.workload import CLIENT_ROLES

# The brief's division of its 256 logical CPUs, which `scaled` imposes as shares.
SERVER_SHARE = cpu_budget.BRIEF_SERVER_CPUS / cpu_budget.BRIEF_CPUS
COMMON_SHARE = cpu_budget.BRIEF_SQL_SIDE_CPUS / cpu_budget.BRIEF_CPUS
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
    manifest: Mapping[str, Any]
    host: Mapping[str, Any]
    runs: pd.DataFrame
    intervals: pd.DataFrame
    processes: pd.DataFrame
    ndb_threads: pd.DataFrame
    events: pd.DataFrame
    history: pd.DataFrame
    copies: pd.DataFrame
    counters: pd.DataFrame


class Evidence:
    """A dataset as a check sees it.

    `runs` are the good ones of the plain cluster: shared memory, point selects, the default
    variant, no idle server. `good` are those of every transporter, workload and variant.
    """

    def __init__(self, dataset: Tables) -> None:
        self.dataset = dataset
        self._usage = Usage(dataset.processes, dataset.ndb_threads)
        self.budget = dataset.budget
        self.cpus = usable_cpus(dataset.host)
        runs = dataset.runs
        sound = (summary.usable(runs) == "") & (runs["clients"] >= runs["servers"])
        self.good = runs[sound]
        self.runs = summary.select(self.good)
        self.points = summary.points(summary.select(runs))
        self._peaks = summary.peaks(self.points).set_index("servers")

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
        here = (self.runs["servers"] == servers) & (self.runs["clients"] == clients)
        if not here.any():
            raise MissingData(f"no good run {at(servers, clients)}")
        return self.runs.loc[here, metric].astype(float)

    def best(self, servers: int) -> int:
        """Give the clients of the best mean throughput."""
        return int(self._peak(servers, "clients"))

    def knee(self, servers: int) -> int:
        """Give the fewest clients within 3 % of the best mean throughput."""
        return int(self._peak(servers, "knee_clients"))

    def flat(self, servers: int) -> int:
        """Count the points within 3 % of the best, among which noise may have picked it."""
        return int(self._peak(servers, "flat"))

    @property
    def clients_compare(self) -> bool:
        """Say whether a number of clients means here what it means in the brief."""
        return self.budget == "pinned" and self.cpus >= cpu_budget.BRIEF_CPUS

    def clients_per_server(self) -> tuple[int, str]:
        """Give what stands for the brief's 32 clients a server here, and a note that says so."""
        if self.clients_compare:
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

    @property
    def data_node_cpus(self) -> float:
        """Logical CPUs that `scaled` holds each of two data nodes to."""
        return DATA_NODES_SHARE * self.cpus / 2

    def exhausted(self, servers: int, clients: int) -> bool:
        """Say whether the SQL side or the data nodes had no CPU left to take at a point."""
        point = servers, clients
        sql = self._used_cpus.get(point, math.nan) / (COMMON_SHARE * self.cpus)
        data = self._data_cpus.get(point, math.nan) / (DATA_NODES_SHARE * self.cpus)
        busy = self.values(servers, clients, "host_busy_pct").mean()
        divided = self.budget != "shared"
        full = divided and (sql >= EXHAUSTED or data >= EXHAUSTED)
        return bool(full or busy >= HOST_FULL_PCT)

    def cpu_pct(self, servers: int, clients: int) -> pd.DataFrame:
        """Give what each role used at a point (`Usage.of_roles`)."""
        return self._usage.of_roles(self._run_ids(servers, clients))

    def serving_cpu_pct(self, servers: int, clients: int) -> pd.Series:
        """Give what the MySQL servers with clients used at a point (`Usage.of_serving`)."""
        return self._usage.of_serving(self._run_ids(servers, clients), servers)

    def others_pct(self, runs: pd.DataFrame) -> float:
        """Give what other work on the host took beside these runs (`Usage.of_others`), the most."""
        return float(self._usage.of_others(runs, self.cpus).max())

    def threads(self, servers: int, clients: int) -> pd.DataFrame:
        """Give how busy each NDB thread was at a point (`Usage.of_threads`)."""
        return self._usage.of_threads(self._run_ids(servers, clients))

    def _run_ids(self, servers: int, clients: int) -> list[str]:
        """Give the good runs of a point; MissingData if there is none."""
        kept = self.values(servers, clients, "qps")
        return [str(name) for name in self.runs.loc[kept.index, "run_id"]]

    def seconds(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Give the samples of these runs, without a last one in which clients had already ended."""
        table = self.dataset.intervals
        clients = pd.Series(runs["clients"].to_numpy(), index=runs["run_id"].astype(str))
        return table[table["clients"] >= table["run_id"].astype(str).map(clients)]

    @cached_property
    def _used_cpus(self) -> dict[tuple[int, int], float]:
        return self._cpus_of(["mysqld", *CLIENT_ROLES])

    @cached_property
    def _data_cpus(self) -> dict[tuple[int, int], float]:
        return self._cpus_of(["ndbmtd"])

    def _cpus_of(self, names: list[str]) -> dict[tuple[int, int], float]:
        """Logical CPUs used by these roles together, mean over the runs of a point."""
        used = self._usage.roles.reindex(columns=names).sum(axis=1, min_count=1) / 100
        runs = self.runs[["servers", "clients"]].assign(
            used=self.runs["run_id"].astype(str).map(used)
        )
        means = runs.groupby(["servers", "clients"])["used"].mean().dropna()
        return {(int(n), int(c)): float(cpus) for (n, c), cpus in means.items()}

    def _peak(self, servers: int, column: str) -> float:
        if servers not in self._peaks.index:
            raise MissingData(f"no good run with {servers} servers")
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
            raise MissingData(f"no good run with {n} servers")
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


def level(values: pd.Series, label: str, tests: int = 1) -> Comparison:
    """Take the mean of one value a run, with its t interval."""
    return Comparison(label, *summary.mean(values.to_numpy(float), confidence(tests)))


def at(servers: int, clients: int) -> str:
    """Name a point."""
    return f"with {count(servers, 'server')} and {count(clients, 'client')}"


def usable_cpus(host: Mapping[str, Any]) -> float:
    """Give the logical CPUs that a host's description allows to use."""
    cpus = host.get("logical_cpus") or len(host.get("cpus", ()))
    return float(min(cpus, host.get("cpu_limit") or cpus))
