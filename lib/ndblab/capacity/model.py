"""The capacity model: what one MySQL server was measured to need, asked for more of them.

In: demands fitted to one server, and which CPUs each part of the cluster may use. Out: throughput,
response, bottleneck and utilisation for any numbers of servers and clients, with intervals.

Every MySQL server, sysbench and each kind of NDB thread is a station; the data nodes, the SQL side
(all MySQL servers and sysbench) and the host are pools of CPUs. Clients are dealt evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ndblab.analysis.estimate import CONFIDENCE
from ndblab.capacity import demand, network
from ndblab.capacity.demand import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.error import LabError

LOCK = "mysqld lock"
DATA_NODES, SQL_SIDE, HOST = "data nodes", "SQL side", "host"
STATIONS = (CLIENT, SERVER, LOCK, *KINDS)
POOLS = (DATA_NODES, SQL_SIDE, HOST)
LEAST_CLIENT_COUNTS = 4
FULL = 0.9
"""A quota is used up from here on: it is handed out in slices, some of which come too late."""
COVERED = ("scaled", "pinned")
NONE = Law(0.0)
DRAWS, SEED = 200, 7742


class Unfit(LabError):
    """A dataset that no model can be fitted to."""


@dataclass(frozen=True)
class Shares:
    """Logical CPUs that each part may use, and how many threads of each kind there are.

    `server_cpus` is None where a MySQL server has no limit of its own; `threads` counts those of
    all data nodes together.
    """

    host_cpus: float
    sql_cpus: float
    data_node_cpus: float
    server_cpus: float | None
    threads: Mapping[str, int]

    def scaled(self, host_cpus: float) -> Shares:
        """Give the same shares of a host of another size; threads grow with the data nodes."""
        by = host_cpus / self.host_cpus
        return Shares(
            host_cpus,
            self.sql_cpus * by,
            self.data_node_cpus * by,
            None if self.server_cpus is None else self.server_cpus * by,
            {kind: max(count, round(count * by)) for kind, count in self.threads.items()},
        )


def shares(plan: Mapping[str, Any], host_cpus: float) -> Shares:
    """Read off a dataset's plan who may use which CPUs.

    Parameters
    ----------
    plan : `manifest["plan"]`.
    host_cpus : logical CPUs of the host.

    Raises
    ------
    Unfit
        If the budget divides nothing: then no share tells how the next server would fare.
    """
    budget = plan["budget"]["kind"]
    if budget not in COVERED:
        raise Unfit(
            "The capacity model does not cover this cpu budget",
            found=budget,
            expected=" or ".join(COVERED),
            next_step="Measure one server under a budget that divides the host: ./lab reproduce "
            "--experiment single-server-scaling --budget scaled",
        )
    nodes = plan["data_nodes"]
    each = plan["servers"][0]["share"]["quota_cpus"]
    threads = {kind: len(nodes) * int(plan["threads"][kind]) for kind in KINDS}
    return Shares(
        host_cpus,
        _cpus(plan["sql_side"], host_cpus),
        sum(_cpus(node["share"], host_cpus) for node in nodes),
        each,
        threads,
    )


def _cpus(share: Mapping[str, Any], host_cpus: float) -> float:
    return share["quota_cpus"] or len(share["cpus"]) or host_cpus


@dataclass(frozen=True)
class Model:
    """Laws of demand, shares of CPUs, and the delay of a query that no CPU time accounts for.

    `usable` is how much of its quota one server got while it had more to do.
    """

    laws: Mapping[str, Law]
    shares: Shares
    delay_us: float = 0.0
    usable: float = 1.0
    clients_per_server: tuple[float, float] = (1.0, np.inf)

    def network(self, servers: np.ndarray, clients: np.ndarray) -> network.Network:
        """Give the closed network of each case: arrays (cases,) of servers and clients."""
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

    def extrapolates(self, servers: float, clients: float) -> str:
        """Say how a point leaves what the model was fitted to; empty where it does not."""
        n = clients / min(servers, clients)
        low, high = self.clients_per_server
        if low <= n <= high:
            return ""
        return f"{n:.3g} clients a server; measured {low:.3g} to {high:.3g}"


def one_server(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of `demand.measured` that a model is fitted to.

    Raises
    ------
    Unfit
        If there are no good runs of one server, or too few numbers of clients.
    """
    alone = table[table["servers"] == 1]
    counts = sorted(alone["clients"].unique())
    if len(counts) < LEAST_CLIENT_COUNTS:
        found = "runs with " + ", ".join(map(str, counts)) + " clients" if counts else "no good run"
        raise Unfit(
            "The capacity model needs a sweep of one MySQL server",
            found=f"{found} of one server",
            expected=f"good runs with at least {LEAST_CLIENT_COUNTS} numbers of clients",
            next_step="Measure it: ./lab reproduce --experiment single-server-scaling",
        )
    return alone


def fit(table: pd.DataFrame, own: Shares) -> Model:
    """Fit the model to the runs of one server.

    The delay is what is left of the response time with the fewest clients.

    Parameters
    ----------
    table : rows of `demand.measured`; those of several servers are not looked at.

    Raises
    ------
    Unfit
        If there is too little to fit.
    """
    return _fit(demand.by_run(one_server(table)), own)


def _fit(runs: pd.DataFrame, own: Shares, weight: np.ndarray | None = None) -> Model:
    counts = np.sort(runs["clients"].unique())
    seen = float(counts[0]), float(counts[-1])
    model = Model(demand.fit(runs, weight), own, 0.0, _usable(runs, own), seen)
    shown = network.solve(model.network([1], counts[:1]), counts[:1])
    measured_us = 1e6 * counts[0] / runs.loc[runs["clients"] == counts[0], "qps"].mean()
    return replace(model, delay_us=max(0.0, float(measured_us - shown.response_us[0])))


def _usable(runs: pd.DataFrame, own: Shares) -> float:
    """Part of its quota that one server got in the runs in which it had used it up."""
    if own.server_cpus is None:
        return 1.0
    got = runs[SERVER] / own.server_cpus
    full = got[got >= FULL]
    return min(1.0, float(full.mean())) if len(full) else 1.0


def predict(model: Model, points: pd.DataFrame) -> pd.DataFrame:
    """Predict throughput, response, bottleneck and utilisation at points.

    Parameters
    ----------
    points : columns `servers` and `clients`.

    Returns
    -------
    The points with `qps`, `latency_avg_ms`, `bottleneck`, `bound_qps`, `extrapolated` (why, or
    empty) and `utilisation_<resource>`, 1 where a resource is used up.
    """
    servers, clients = points["servers"].to_numpy(), points["clients"].to_numpy()
    asked = model.network(servers, clients)
    solved = network.solve(asked, clients)
    names = (*STATIONS, *POOLS)
    table = points[["servers", "clients"]].copy()
    table["qps"], table["latency_avg_ms"] = solved.qps, solved.response_us / 1000
    table["bottleneck"] = [names[k] for k in asked.bottleneck]
    table["bound_qps"] = asked.bound_qps
    table["extrapolated"] = [
        model.extrapolates(s, c) for s, c in zip(servers, clients, strict=True)
    ]
    used = solved.qps[:, None] / asked.limits_qps
    for k, name in enumerate(names):
        table[f"utilisation_{name}"] = used[:, k]
    return table


@dataclass(frozen=True, eq=False)
class Drawn:
    """A model, and what it might as well have been.

    `others` are fitted to runs drawn anew; `shifts` is how far a single run is from its point, in
    logarithms of throughput, one for each of them.
    """

    model: Model
    others: tuple[Model, ...]
    shifts: np.ndarray


def drawn(table: pd.DataFrame, own: Shares, draws: int = DRAWS, seed: int = SEED) -> Drawn:
    """Fit the model to the runs of one server, and to runs drawn from them.

    These are drawn with replacement, as many of each number of clients (the bootstrap: Efron 1979).

    Raises
    ------
    Unfit
        If there is too little to fit.
    """
    facts = demand.by_run(one_server(table))
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(facts["clients"] == c) for c in facts["clients"].unique()]
    others = []
    for _ in range(draws):
        weight = np.zeros(len(facts))
        for group in groups:
            np.add.at(weight, rng.choice(group, len(group)), 1.0)
        others.append(_fit(facts, own, weight))
    return Drawn(_fit(facts, own), tuple(others), _spread(facts) * rng.standard_normal(draws))


def with_intervals(made: Drawn, points: pd.DataFrame) -> pd.DataFrame:
    """Predict, with the interval in which 95 % of single runs are expected.

    Returns
    -------
    As `predict`, with `qps_low` and `qps_high`.
    """
    servers, clients = points["servers"].to_numpy(), points["clients"].to_numpy()
    asked = network.stacked([other.network(servers, clients) for other in made.others])
    solved = network.solve(asked, np.tile(clients, len(made.others)))
    logs = np.log(solved.qps).reshape(len(made.others), len(points)) + made.shifts[:, None]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.exp(np.quantile(logs, [tail, 1 - tail], axis=0))
    return predict(made.model, points).assign(qps_low=low, qps_high=high)


def _spread(facts: pd.DataFrame) -> float:
    """Deviation of the logarithm of throughput between runs of one point."""
    logs = np.log(facts["qps"].astype(float))
    each = logs.groupby(facts["clients"]).var(ddof=1).dropna()
    return float(np.sqrt(each.mean())) if len(each) else 0.0
