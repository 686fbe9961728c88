"""Percentiles of latency: the capacity model's network, simulated query by query with Ciw.

In: a model and points. Out: mean and 95th percentile of latency. It fits nothing.

Mean values are all that mean value analysis gives. A percentile also depends on who is served next
and on how a quota is handed out, so the same stations are played through: a query goes to its MySQL
server, to a data node, back to the server (half of its work there each time) and to its client.
Queries that wait are taken in random order, as a kernel without knowledge of queries takes threads.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import ciw
import numpy as np
import pandas as pd

from ndblab.analysis import estimate
from ndblab.capacity import model as models
from ndblab.capacity.demand import CLIENT, KINDS, SERVER

DATA_NODES = 2
QUERIES, QUERIES_PER_SERVER, QUERIES_PER_CLIENT = 500, 200, 3
"""Length of a simulation. More servers go through the same queries in fewer windows of a quota, and
it is windows that a percentile is averaged over."""
WARM_UP = 0.3
BATCHES = 8
# More clients than are ever simulated: every point has a seed of its own.
_POINTS = 1_000_000


class Throttled(ciw.dists.Distribution):
    """Time in service under a quota: full speed until the CPU time of a window is used, then none.

    Parameters
    ----------
    work_s : mean CPU time of a visit, exponentially distributed.
    cpus : CPUs of the quota, below one.
    window_s : time after which as much CPU time is to be had again.
    """

    def __init__(self, work_s: float, cpus: float, window_s: float) -> None:
        self._work_s, self._window_s = work_s, window_s
        self._budget_s = self._left_s = min(1.0, cpus) * window_s
        self._window = 0

    def sample(self, t: float | None = None, ind: object = None) -> float:
        """Give the time from the start of a service at `t` to its end, in seconds."""
        work_s, now = random.expovariate(1 / self._work_s), t or 0.0
        window = int(now / self._window_s)
        if window > self._window:
            self._window, self._left_s = window, self._budget_s
        if work_s <= self._left_s:
            self._left_s -= work_s
            return work_s
        further, rest_s = divmod(work_s - self._left_s, self._budget_s)
        self._window += 1 + int(further)
        self._left_s = self._budget_s - rest_s
        return max(work_s, self._window * self._window_s + rest_s - now)


class Station(ciw.Node):
    """A node that looks for its next event only after one of its own.

    Ciw asks every node after every event. Here nobody leaves a queue, is blocked or changes its
    class: nothing but an arrival or an end of service changes what comes next.
    """

    _is_known = False

    def accept(self, next_individual: ciw.Individual, completed: bool = False) -> None:
        """Take a query in."""
        self._is_known = False
        super().accept(next_individual, completed)

    def have_event(self) -> None:
        """End a service."""
        self._is_known = False
        super().have_event()

    def update_next_event_date(self) -> None:
        """Find the next end of a service, unless that is known."""
        if not self._is_known:
            super().update_next_event_date()
            self._is_known = True


class Round(ciw.routing.ProcessBased):
    """A route that is made step by step, since nobody knows how many steps will be gone."""

    def next_node(self, ind: ciw.Individual, node_id: int) -> ciw.Node:
        """Give the next node of a query's route."""
        return self.simulation.nodes[next(ind.route)]


def window_s(runs: pd.DataFrame, cpus: float | None) -> float | None:
    """Read the window of a quota off the p95 of one server with two clients or little more.

    With few clients each query is short, unless the quota is used up while it is served: then it
    waits for the rest of the window. That rest is the p95, and (1 - `cpus`) of the window.

    Parameters
    ----------
    runs : the good runs of one server.
    cpus : quota of one server; None where there is none.
    """
    if cpus is None or cpus >= 1:
        return None
    several = runs[runs["clients"] > 1]
    few = several[several["clients"] == several["clients"].min()]
    return float(few["latency_p95_ms"].mean()) / 1000 / (1 - cpus)


def simulate(
    model: models.Model,
    points: pd.DataFrame,
    window_s: float | None,
    seed: int = models.SEED,
    progress: Callable[[Iterable], Iterable] = iter,
) -> pd.DataFrame:
    """Simulate points and take mean and percentile of what their clients see.

    Parameters
    ----------
    points : columns `servers` and `clients`. Each is simulated in the same way whatever others are
        asked for beside it.
    window_s : of the quota, as `window_s` reads it; None where there is none.
    progress : wraps the points, to show how far it is.

    Returns
    -------
    `servers`, `clients`, `qps`, `latency_avg_ms`, `latency_p95_ms` with `_low` and `_high`: its
    95 % interval from batches of one simulation (Law and Kelton, batch means).
    """
    predicted = models.predict(model, points)
    rows = []
    for point in progress(list(predicted.itertuples(index=False))):
        ciw.seed(seed + _POINTS * int(point.servers) + int(point.clients))
        cycles = _cycles(model, int(point.servers), int(point.clients), point.qps, window_s)
        rows.append([point.servers, point.clients, *_told(cycles, int(point.clients))])
    told = ["qps", "latency_avg_ms", "latency_p95_ms", "latency_p95_ms_low", "latency_p95_ms_high"]
    return pd.DataFrame(rows, columns=["servers", "clients", *told])


def _cycles(
    model: models.Model, servers: int, clients: int, qps: float, window_s: float | None
) -> np.ndarray:
    """Play a point through; start and end of each query, in seconds, by their end."""
    active = min(servers, clients)
    parts = _parts(model, servers, clients, qps, window_s)
    nodes = [parts.server() for _ in range(active)]
    nodes += [parts.data_node() for _ in range(DATA_NODES)]
    nodes += [(parts.sql_cpus, _exponential(parts.sql_s)), (math.inf, _exponential(parts.apart_s))]
    dealt = [clients // active + (number < clients % active) for number in range(active)]
    lasts_s = (QUERIES + QUERIES_PER_SERVER * servers + QUERIES_PER_CLIENT * clients) / qps
    shared = [active + DATA_NODES + 1] if parts.sql_s > 0 else []

    def route(individual: ciw.Individual, simulation: ciw.Simulation) -> Iterator[int]:
        own = individual.starting_node
        while True:
            yield active + random.randint(1, DATA_NODES)
            yield from (own, *shared, len(nodes), own)

    none = len(nodes) - active
    plan = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([0.0, math.inf])] * active + [None] * none,
        batching_distributions=[ciw.dists.Deterministic(count) for count in dealt]
        + [ciw.dists.Deterministic(1)] * none,
        service_distributions=[distribution for _, distribution in nodes],
        number_of_servers=[count for count, _ in nodes],
        service_disciplines=[ciw.disciplines.SIRO] * len(nodes),
        routing=Round(route),
    )
    simulation = ciw.Simulation(plan, node_class=Station)
    simulation.simulate_until_max_time(lasts_s)
    return _read(simulation.get_all_records(), 4 + len(shared), WARM_UP * lasts_s)


@dataclass(frozen=True)
class _Parts:
    """What a query goes through, in seconds of CPU time a visit.

    Under a quota a MySQL server, and a data node, is one server that is throttled; where the pools
    leave the MySQL servers less than their quotas, they wait for that together. Without a quota a
    MySQL server is its lock, its CPU time is spent on the CPUs of the SQL side, and a data node is
    its busiest kind of threads. All else is `apart_s`, for which nobody waits.
    """

    server: Callable[[], tuple[float, ciw.dists.Distribution]]
    data_node: Callable[[], tuple[float, ciw.dists.Distribution]]
    sql_s: float
    sql_cpus: float
    apart_s: float


def _parts(
    model: models.Model, servers: int, clients: int, qps: float, window_s: float | None
) -> _Parts:
    active = min(servers, clients)
    asked = model.network(np.array([servers]), np.array([clients]))
    names = (*models.STATIONS, *models.POOLS)
    s = dict(zip(names, asked.demand_us[0] / 1e6, strict=True))
    cpus = dict(zip(names, asked.cpus[0], strict=True))
    apart_s = s[CLIENT] + model.delay_us / 1e6
    if model.shares.server_cpus is not None and window_s is not None:
        left = min(
            cpus[models.SQL_SIDE] - qps * s[CLIENT],
            cpus[models.HOST] - qps * (s[CLIENT] + s[models.DATA_NODES]),
        )
        each, every = cpus[SERVER] / active, cpus[models.DATA_NODES] / DATA_NODES
        return _Parts(
            lambda: _limited(s[SERVER] / 2, each, window_s),
            lambda: _limited(s[models.DATA_NODES], every, window_s),
            # All servers together wait for the CPUs that the pools leave them, where those are few.
            s[SERVER] / left if left < cpus[SERVER] else 0.0, 1, apart_s,
        )  # fmt: skip
    busiest = max(KINDS, key=lambda kind: s[kind] / cpus[kind])
    count = max(1, model.shares.threads[busiest] // DATA_NODES)
    return _Parts(
        lambda: (1, _exponential(s[models.LOCK] / 2)),
        lambda: (count, _exponential(s[busiest])),
        s[SERVER],
        max(1, int(cpus[models.SQL_SIDE])),
        apart_s + s[models.DATA_NODES] - s[busiest],
    )


def _limited(work_s: float, cpus: float, window_s: float) -> tuple[int, ciw.dists.Distribution]:
    """Give how many are served at once by so many CPUs, and how long each takes."""
    if cpus < 1:
        return 1, Throttled(work_s, cpus, window_s)
    return int(cpus), _exponential(work_s)


def _exponential(mean_s: float) -> ciw.dists.Distribution:
    return ciw.dists.Exponential(1 / mean_s) if mean_s > 0 else ciw.dists.Deterministic(0.0)


def _read(records: Sequence, visits_each: int, from_s: float) -> np.ndarray:
    """Join the visits of each query: start and end of those that ended after the warm-up."""
    visits = np.array([(r.id_number, r.arrival_date, r.exit_date) for r in records], float)
    visits = visits[np.lexsort((visits[:, 2], visits[:, 1], visits[:, 0]))]
    ids = visits[:, 0]
    begins = np.flatnonzero(np.diff(ids, prepend=-1))
    position = np.arange(len(ids)) - np.repeat(begins, np.diff([*begins, len(ids)]))
    last = np.flatnonzero(position % visits_each == visits_each - 1)
    cycles = np.stack([visits[last - (visits_each - 1), 1], visits[last, 2]], axis=1)
    cycles = cycles[cycles[:, 1] >= from_s]
    return cycles[np.argsort(cycles[:, 1])]


def _told(cycles: np.ndarray, clients: int) -> list[float]:
    took_ms = 1000 * (cycles[:, 1] - cycles[:, 0])
    batches = [np.quantile(part, 0.95) for part in np.array_split(took_ms, BATCHES)]
    _, low, high = estimate.geometric(batches)
    mean_ms, p95_ms = float(took_ms.mean()), float(np.quantile(took_ms, 0.95))
    return [1000 * clients / mean_ms, mean_ms, p95_ms, low, high]
