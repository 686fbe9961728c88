"""Percentiles of latency: the capacity model's network, simulated query by query with Ciw.

In: a model and points. Out: mean and 95th percentile of latency; `cached` keeps them on disk. It
fits nothing.

Mean value analysis gives means only. A percentile also depends on the service order and on how a
quota is handed out, so the same stations are simulated: a query goes to its MySQL server, to a data
node, back to the server (half of its CPU time each) and to its client. Waiting queries are served
in random order, since the kernel schedules threads without knowing about queries.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import ciw
import numpy as np
import pandas as pd

from ndblab import install
from ndblab.experiments.capacity import demands, network
from ndblab.experiments.capacity import model as models
from ndblab.experiments.capacity.demands import CLIENT, KINDS, SERVER
from ndblab.statistics import estimate

DATA_NODES = 2
QUERIES, QUERIES_PER_SERVER, QUERIES_PER_CLIENT = 500, 200, 3
"""Length of a simulation, which grows with servers: more of them complete the same queries in fewer
windows of a quota, and percentiles are averaged over windows."""
WARM_UP = 0.3
BATCHES = 8
# More clients than are ever simulated, so that every point has its own seed.
_POINTS = 1_000_000
_KEYS = ["servers", "clients"]


class Throttled(ciw.dists.Distribution):
    """Service time under a quota: full speed until the window's CPU time is exhausted, then none.

    Parameters
    ----------
    work_s : mean CPU time of a visit, exponentially distributed.
    cpus : CPUs of the quota, below one.
    window_s : period after which the quota is replenished.
    """

    def __init__(self, work_s: float, cpus: float, window_s: float) -> None:
        self._work_s, self._window_s = work_s, window_s
        self._budget_s = self._left_s = min(1.0, cpus) * window_s
        self._window = 0

    def sample(self, t: float | None = None, ind: object = None) -> float:
        """Return the seconds from the start of a service at `t` to its end."""
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
    """A node that recomputes its next event only after one of its own events.

    Ciw asks every node after every event. Here no query leaves a queue, is blocked or changes its
    class, so only an arrival or an end of service can change the next event.
    """

    _is_known = False

    def accept(self, next_individual: ciw.Individual, completed: bool = False) -> None:
        """Accept a query."""
        self._is_known = False
        super().accept(next_individual, completed)

    def have_event(self) -> None:
        """End a service."""
        self._is_known = False
        super().have_event()

    def update_next_event_date(self) -> None:
        """Find the next end of a service, unless it is known."""
        if not self._is_known:
            super().update_next_event_date()
            self._is_known = True


class Route(ciw.routing.ProcessBased):
    """An endless route, generated step by step."""

    def next_node(self, ind: ciw.Individual, node_id: int) -> ciw.Node:
        """Return the next node of a query's route."""
        return self.simulation.nodes[next(ind.route)]


def simulate(
    model: models.Model,
    points: pd.DataFrame,
    window_s: float | None,
    seed: int = models.SEED,
    progress: Callable[[Iterable], Iterable] = iter,
) -> pd.DataFrame:
    """Simulate points, and summarise the latency that their clients see.

    Parameters
    ----------
    points : columns `servers` and `clients`. The result of a point does not depend on the others.
    window_s : of the quota, from `model.quota_window_s`; None if there is none.
    progress : wraps the points, to show progress.

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
        rows.append([point.servers, point.clients, *_summary(cycles, int(point.clients))])
    p95 = [f"latency_p95_ms{end}" for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*_KEYS, "qps", "latency_avg_ms", *p95])


def cached(
    model: models.Model,
    points: pd.DataFrame,
    window_s: float | None,
    progress: Callable[[Iterable], Iterable] = iter,
) -> pd.DataFrame:
    """Return `simulate` of points, reading from disk those that were simulated before.

    A file holds all points of a model, and is named after everything that they depend on, code
    included. It is always replaced as a whole. If it cannot be written, the next call simulates.
    """
    file = install.location() / "simulated" / f"{_name(model, window_s)}.csv"
    known = _read(file)
    missing = points[_KEYS].drop_duplicates().merge(known, how="left", on=_KEYS)
    missing = missing.loc[missing["qps"].isna(), _KEYS]
    if len(missing):
        made = simulate(model, missing, window_s, progress=progress)
        # Another process may have added points in the meantime.
        tables = [table for table in (_read(file), made) if len(table)]
        known = pd.concat(tables, ignore_index=True).drop_duplicates(_KEYS)
        temporary = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                known.to_csv(temporary, index=False)
                os.replace(temporary, file)
            finally:
                temporary.unlink(missing_ok=True)
    return points[_KEYS].merge(known, on=_KEYS, how="left")


def _read(file: Path) -> pd.DataFrame:
    with suppress(OSError, ValueError):
        return pd.read_csv(file, float_precision="round_trip")
    return pd.DataFrame(columns=[*_KEYS, "qps"])


def _name(model: models.Model, window_s: float | None) -> str:
    length = QUERIES, QUERIES_PER_SERVER, QUERIES_PER_CLIENT
    facts = repr([model, window_s, length, _code()])
    return hashlib.sha256(facts.encode()).hexdigest()[:20]


@functools.cache
def _code() -> str:
    """Hash the code that a simulation runs: the lab's own modules and the libraries below."""
    sources = [__file__, *(module.__file__ for module in (models, network, demands, estimate))]
    versions = [metadata.version(name) for name in ("ciw", "numpy", "scipy")]
    code = b"".join(Path(source).read_bytes() for source in sources)
    return hashlib.sha256(code + repr(versions).encode()).hexdigest()


def _cycles(
    model: models.Model, servers: int, clients: int, qps: float, window_s: float | None
) -> np.ndarray:
    """Simulate a point; return start and end of each query in seconds, sorted by end."""
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
        routing=Route(route),
    )
    simulation = ciw.Simulation(plan, node_class=Station)
    simulation.simulate_until_max_time(lasts_s)
    return _joined(simulation.get_all_records(), 4 + len(shared), WARM_UP * lasts_s)


@dataclass(frozen=True)
class _Parts:
    """The stations of a query, in seconds of CPU time per visit.

    Under a quota each MySQL server and each data node is one throttled server; if the pools leave
    the MySQL servers less than their quotas, they queue for the rest together. Without a quota a
    MySQL server is its lock, its CPU time is spent on the CPUs of the SQL side, and a data node is
    its busiest kind of threads. All other CPU time is `apart_s`, without queueing.
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
        others = s[CLIENT] + s[models.DATA_NODES]
        left = min(cpus[models.SQL_SIDE] - qps * s[CLIENT], cpus[models.HOST] - qps * others)
        each, every = cpus[SERVER] / active, cpus[models.DATA_NODES] / DATA_NODES
        return _Parts(
            lambda: _limited(s[SERVER] / 2, each, window_s),
            lambda: _limited(s[models.DATA_NODES], every, window_s),
            # Servers share a queue if the pools leave them fewer CPUs than their quotas.
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
    """Return how many queries these CPUs serve at once, and their service time."""
    return (1, Throttled(work_s, cpus, window_s)) if cpus < 1 else (int(cpus), _exponential(work_s))


def _exponential(mean_s: float) -> ciw.dists.Distribution:
    return ciw.dists.Exponential(1 / mean_s) if mean_s > 0 else ciw.dists.Deterministic(0.0)


def _joined(records: Sequence, visits_each: int, from_s: float) -> np.ndarray:
    """Join the visits of each query; return start and end of those that end after the warm-up."""
    visits = np.array([(r.id_number, r.arrival_date, r.exit_date) for r in records], float)
    visits = visits[np.lexsort((visits[:, 2], visits[:, 1], visits[:, 0]))]
    ids = visits[:, 0]
    begins = np.flatnonzero(np.diff(ids, prepend=-1))
    position = np.arange(len(ids)) - np.repeat(begins, np.diff([*begins, len(ids)]))
    last = np.flatnonzero(position % visits_each == visits_each - 1)
    cycles = np.stack([visits[last - (visits_each - 1), 1], visits[last, 2]], axis=1)
    cycles = cycles[cycles[:, 1] >= from_s]
    return cycles[np.argsort(cycles[:, 1])]


def _summary(cycles: np.ndarray, clients: int) -> list[float]:
    took_ms = 1000 * (cycles[:, 1] - cycles[:, 0])
    batches = [np.quantile(part, 0.95) for part in np.array_split(took_ms, BATCHES)]
    _, low, high = estimate.geometric(batches)
    mean_ms, p95_ms = float(took_ms.mean()), float(np.quantile(took_ms, 0.95))
    return [1000 * clients / mean_ms, mean_ms, p95_ms, low, high]
