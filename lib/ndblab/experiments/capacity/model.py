"""The capacity model: demands measured with one MySQL server, applied to any number of them.

It predicts throughput with intervals, latency, bottleneck and utilisation for any number of servers
and clients. MySQL servers, sysbench and each kind of NDB thread are stations; the data nodes, the
SQL side (all MySQL servers and sysbench) and the host are pools of CPUs. Clients are spread evenly
over servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ndblab.error import LabError
from ndblab.experiments.capacity import demands, network
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.statistics.estimate import CONFIDENCE

LOCK = "mysqld lock"
DATA_NODES, SQL_SIDE, HOST = "data nodes", "SQL side", "host"
STATIONS = (CLIENT, SERVER, LOCK, *KINDS)
POOLS = (DATA_NODES, SQL_SIDE, HOST)
FULL = 0.9
"""Utilisation above which a quota is saturated: slices that come too late are lost."""
COVERED = ("scaled", "pinned")
NONE = Law(0.0)


@dataclass(frozen=True)
class Shares:
    """Logical CPUs that each part may use, and the number of threads of each kind.

    `server_cpus` is None if a MySQL server has no limit of its own; `threads` counts the threads of
    all data nodes together.
    """

    host_cpus: float
    sql_cpus: float
    data_node_cpus: float
    server_cpus: float | None
    threads: Mapping[str, int]

    def scaled(self, host_cpus: float) -> Shares:
        """Return the same shares for a host of another size; thread counts never shrink."""
        by = host_cpus / self.host_cpus
        return Shares(
            host_cpus,
            self.sql_cpus * by,
            self.data_node_cpus * by,
            None if self.server_cpus is None else self.server_cpus * by,
            {kind: max(count, round(count * by)) for kind, count in self.threads.items()},
        )


def shares(plan: Mapping[str, Any], host_cpus: float) -> Shares:
    """Read from a dataset's plan which of the host's logical CPUs each part may use.

    LabError if the budget divides nothing: no share then says what another server could use.
    """
    budget = plan["budget"]["kind"]
    if budget not in COVERED:
        raise LabError(
            "The capacity model does not cover this CPU budget",
            found=f"{budget}, under which one server could use every CPU, so that its runs do not "
            "show what several servers leave each other",
            expected=" or ".join(COVERED),
            next_step="Measure one server under a budget that divides the host: ./lab reproduce "
            "--experiment single-server-scaling --budget scaled. Your own undivided CPUs are for "
            "./lab size alone, which finds them after: ./lab reproduce --experiment costs",
        )
    nodes = plan["data_nodes"]
    server_cpus = plan["servers"][0]["share"]["quota_cpus"]
    threads = {kind: len(nodes) * int(plan["threads"][kind]) for kind in KINDS}
    return Shares(
        host_cpus,
        _cpus(plan["sql_side"], host_cpus),
        sum(_cpus(node["share"], host_cpus) for node in nodes),
        server_cpus,
        threads,
    )


def _cpus(share: Mapping[str, Any], host_cpus: float) -> float:
    return share["quota_cpus"] or len(share["cpus"]) or host_cpus


@dataclass(frozen=True)
class Model:
    """Demand laws, CPU shares, and the delay per query that CPU time does not explain.

    `usable` is the part of its quota that one server got while saturated.
    """

    laws: Mapping[str, Law]
    shares: Shares
    delay_us: float = 0.0
    usable: float = 1.0
    clients_per_server: tuple[float, float] = (1.0, np.inf)

    def network(self, servers: np.ndarray, clients: np.ndarray) -> network.Network:
        """Return the closed network of each case: arrays (cases,) of servers and clients."""
        servers, clients = np.asarray(servers, float), np.asarray(clients, float)
        own = self.shares
        active = np.minimum(servers, clients)
        n = clients / active
        of = {name: self.laws.get(name, NONE).us(n) for name in STATIONS}
        idle = sum(self.laws[name].background_cpus for name in (*KINDS, OTHER))
        every = np.ones_like(n)
        cpus = {
            CLIENT: own.sql_cpus * every,
            SERVER: active * (self.usable * own.server_cpus if own.server_cpus else np.inf),
            LOCK: active,
            **{kind: own.threads[kind] - self.laws[kind].background_cpus * every for kind in KINDS},
            DATA_NODES: (self.usable * own.data_node_cpus - idle) * every,
            SQL_SIDE: self.usable * own.sql_cpus * every,
            HOST: (own.host_cpus - idle) * every,
        }
        cpus[SERVER] = np.minimum(cpus[SERVER], own.sql_cpus)
        ndb = sum(of[kind] for kind in KINDS)
        of |= {DATA_NODES: ndb, SQL_SIDE: of[CLIENT] + of[SERVER]}
        of[HOST] = of[DATA_NODES] + of[SQL_SIDE]
        names = (*STATIONS, *POOLS)
        return network.Network(
            np.stack([of[name] for name in names], axis=1),
            np.maximum(np.stack([cpus[name] for name in names], axis=1), 1e-6),
            np.array([name in POOLS for name in names]),
            self.delay_us * every,
        )

    def at_speed(self, speed: float) -> Model:
        """Return the model of a host that serves a query in 1/`speed` of the time.

        Throughput is `speed` times as high. CPU use without queries stays as it is.
        """
        laws = {
            name: replace(law, one_us=law.one_us / speed, each_us=law.each_us / speed)
            for name, law in self.laws.items()
        }
        return replace(self, laws=laws, delay_us=self.delay_us / speed)


def fit(runs: pd.DataFrame, own: Shares, weight: np.ndarray | None = None) -> Model:
    """Fit the model to the runs of one server.

    The delay is the part of the response time with the fewest clients that CPU time leaves over.
    `runs` are those of `demands.by_run`, each counted once, or as often as `weight` says.
    """
    clients, qps = (runs[name].to_numpy(float) for name in ("clients", "qps"))
    low, high = clients.min(), clients.max()
    model = Model(demands.fit(runs, weight), own, 0.0, _usable(runs, own), (low, high))
    shown = network.solve(model.network([1], [low]), [low])
    measured_us = 1e6 * low / qps[clients == low].mean()
    return replace(model, delay_us=max(0.0, float(measured_us - shown.response_us[0])))


def _usable(runs: pd.DataFrame, own: Shares) -> float:
    """Return the part of its quota that one server got in the runs that saturated it."""
    if own.server_cpus is None:
        return 1.0
    got = runs[SERVER].to_numpy(float) / own.server_cpus
    full = got[got >= FULL]
    return min(1.0, float(full.mean())) if len(full) else 1.0


def predict(model: Model, points: pd.DataFrame) -> pd.DataFrame:
    """Predict throughput, latency, bottleneck and utilisation at points.

    Parameters
    ----------
    points : columns `servers` and `clients`.

    Returns
    -------
    The points with `qps`, `latency_avg_ms`, `latency_p95_ms`, `bottleneck`, `bound_qps`,
    `extrapolated` (why, or empty) and `utilisation_<resource>`, 1 for a saturated resource.
    """
    servers, clients = points["servers"].to_numpy(), points["clients"].to_numpy()
    asked = model.network(servers, clients)
    solved = network.solve(asked, clients)
    names = (*STATIONS, *POOLS)
    table = points[["servers", "clients"]].copy()
    table["qps"], table["latency_avg_ms"] = solved.qps, solved.response_us / 1000
    table["latency_p95_ms"] = solved.p95_us / 1000
    table["bottleneck"] = [names[k] for k in asked.bottleneck]
    table["bound_qps"] = asked.bound_qps
    low, high = model.clients_per_server
    table["extrapolated"] = [
        "" if low <= n <= high else f"{n:.4g} clients per server; measured {low:g} to {high:g}"
        for n in clients / np.minimum(servers, clients)
    ]
    used = solved.qps[:, None] / asked.limits_qps
    for k, name in enumerate(names):
        table[f"utilisation_{name}"] = used[:, k]
    return table


def with_intervals(
    runs: pd.DataFrame,
    own: Shares,
    points: pd.DataFrame,
    beyond: float = 0.0,
    draws: int = 200,
) -> pd.DataFrame:
    """Predict, with the interval that is expected to contain 95 % of single runs.

    The model is fitted to the runs of one server, and to `draws` resamples of them: with
    replacement within each number of clients (Efron 1979). The seed is fixed.

    Parameters
    ----------
    runs : of `demands.by_run`.
    beyond : deviation that the fitted runs cannot show, in logarithms of throughput: another time,
        another cluster, and the model's own error.

    Returns
    -------
    As `predict`, with `qps_low` and `qps_high`.
    """
    rng = np.random.default_rng(7742)
    groups = [np.flatnonzero(runs["clients"] == c) for c in runs["clients"].unique()]
    servers, clients = points["servers"].to_numpy(), points["clients"].to_numpy()
    replicates = []
    for _ in range(draws):
        weight = np.zeros(len(runs))
        for group in groups:
            np.add.at(weight, rng.choice(group, len(group)), 1.0)
        replicates.append(fit(runs, own, weight).network(servers, clients))
    solved = network.solve(network.stacked(replicates), np.tile(clients, draws))
    shifts = np.hypot(_deviation(runs), beyond) * rng.standard_normal(draws)
    logs = np.log(solved.qps).reshape(draws, len(points)) + shifts[:, None]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.exp(np.quantile(logs, [tail, 1 - tail], axis=0))
    return predict(fit(runs, own), points).assign(qps_low=low, qps_high=high)


def _deviation(facts: pd.DataFrame) -> float:
    """Return the standard deviation of the logarithm of throughput between runs of a point."""
    logs = np.log(facts["qps"].astype(float))
    variances = logs.groupby(facts["clients"]).var(ddof=1).dropna()
    return float(np.sqrt(variances.mean())) if len(variances) else 0.0
