"""What a check of a claim may look at.

This module decides nothing, and knows no claim by name. `judging.contrasted` compares sides of
contrasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from ndblab.error import MissingData
from ndblab.formatting import count
from ndblab.judging.verdict import Comparison
from ndblab.planning import cpu_budget
from ndblab.planning.point import IDLE_SPINNER
from ndblab.planning.workload import CLIENT_ROLES
from ndblab.statistics import estimate, summary
from ndblab.statistics.cpu_use import Usage
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

# The brief's division of its 256 logical CPUs, which `scaled` imposes as shares.
SERVER_SHARE = cpu_budget.BRIEF_SERVER_CPUS / cpu_budget.BRIEF_CPUS
COMMON_SHARE = cpu_budget.BRIEF_SQL_SIDE_CPUS / cpu_budget.BRIEF_CPUS
DATA_NODES_SHARE = 1 - COMMON_SHARE
# A share counts as saturated from here on: monitors, the kernel and quota periods take a little.
SATURATED = 0.9
HOST_FULL_PCT = 95
SQL_ROLES = ("mysqld", *CLIENT_ROLES)
# sysbench's histogram: neighbouring percentiles differ by this factor.
P95_STEP = 1.018


class Evidence:
    """A dataset as a check sees it.

    `good` are the good runs of every transporter, workload and variant without idle servers and
    without other work on the host; `runs` those of the plain cluster: shared memory, point selects,
    the default variant. `slices` and `contrasts`, by name as in the manifest, are what
    `judging.contrasted` compares.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.usage = Usage(dataset.processes, dataset.ndb_threads)
        self.slices = dataset.slices
        contrasts = dataset.manifest.get("contrasts", ())
        self.contrasts = {contrast["name"]: contrast for contrast in contrasts}
        self.budget = dataset.budget
        self.cpus = usable_cpus(dataset.host)
        runs = dataset.runs
        busy = runs["clients"] >= runs["servers"]
        self.good = summary.good(runs[busy & ~summary.disturbed(runs)])
        self.runs = summary.select(self.good)
        groups = self.runs.groupby(["servers", "clients"])
        self._runs_at = {(int(n), int(c)): rows for (n, c), rows in groups}
        points = summary.points(summary.select(runs))
        self._peaks = summary.peaks(points).set_index("servers")

    @property
    def servers(self) -> list[int]:
        """Return the numbers of servers that have a good run."""
        return sorted(int(n) for n in self._peaks.index)

    def clients(self, servers: int) -> list[int]:
        """Return the numbers of clients that have a good run with these servers."""
        return sorted(c for n, c in self._runs_at if n == servers)

    def runs_at(self, servers: int, clients: int) -> pd.DataFrame:
        """Return the good runs of a point."""
        if (servers, clients) not in self._runs_at:
            raise MissingData(f"no good run {at(servers, clients)}")
        return self._runs_at[servers, clients]

    def values(self, servers: int, clients: int, metric: str) -> pd.Series:
        """Return a metric of the good runs of a point."""
        return self.runs_at(servers, clients)[metric].astype(float)

    def best(self, servers: int) -> int:
        """Return the number of clients with the best mean throughput."""
        return int(self._peak(servers, "clients"))

    def knee(self, servers: int) -> int:
        """Return the fewest clients within 3 % of the best mean throughput."""
        return int(self._peak(servers, "knee_clients"))

    def busy_pct(self, runs: pd.DataFrame) -> float:
        """Return how busy the host was, without the idle-priority processes that a side may add."""
        if any(
            self.contrasts[contrast][side]["condition"] == IDLE_SPINNER
            for contrast, side in runs.reindex(columns=["contrast", "side"]).dropna().to_numpy()
        ):
            return float(100 * self.used_cpus(runs, list(self.usage.roles)).mean() / self.cpus)
        return float(runs["host_busy_pct"].astype(float).mean())

    def used_cpus(self, runs: pd.DataFrame, roles: Sequence[str]) -> pd.Series:
        """Return the logical CPUs that these roles used together, by run id; NaN if unknown."""
        used = self.usage.roles.reindex(columns=list(roles)).sum(axis=1, min_count=1) / 100
        return used.reindex(runs["run_id"].astype(str))

    def serving_cpu_pct(self, servers: int, clients: int) -> pd.Series:
        """Return the CPU of the MySQL servers with clients (`Usage.of_serving`)."""
        run_ids = self.runs_at(servers, clients)["run_id"].astype(str)
        return self.usage.of_serving(list(run_ids), servers)

    def _peak(self, servers: int, column: str) -> float:
        if servers not in self._peaks.index:
            raise MissingData(f"no good run with {servers} servers")
        return self._peaks.at[servers, column]


def p95_of(evidence: Evidence, servers: int, clients: int, tests: int) -> Comparison:
    """Return the p95 of one point, in ms."""
    values = evidence.values(servers, clients, "latency_p95_ms")
    return mean_of_runs(values, f"ms {at(servers, clients)}", tests).changed(p95_widened)


def p95_widened(p95: Estimate) -> Estimate:
    """Widen an interval by one step of sysbench's histogram, the finest it can resolve."""
    return Estimate(p95.value, p95.low / P95_STEP, p95.high * P95_STEP)


def mean_of_runs(values: pd.Series, label: str, tests: int = 1) -> Comparison:
    """Return the mean of a positive value of each run."""
    return Comparison.one_of(tests, label, partial(estimate.positive, values))


def at(servers: int, clients: int) -> str:
    """Name a point in words."""
    return f"with {count(servers, 'server')} and {count(clients, 'client')}"


def usable_cpus(host: Mapping[str, Any]) -> float:
    """Return the logical CPUs that the lab may use on a host, from its description."""
    cpus = host.get("logical_cpus") or len(host.get("cpus", ()))
    return float(min(cpus, host.get("cpu_limit") or cpus))
