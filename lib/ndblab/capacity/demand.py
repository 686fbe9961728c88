"""What a query takes of each resource, and how that changes with clients per MySQL server.

In: the runs of a dataset, what processes and NDB threads used in them. Out: CPU time a query for
each run, and a law fitted to those of one server. It predicts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from ndblab.analysis import summary
from ndblab.analysis.cpu_use import Usage
from ndblab.planning.workload import SYSBENCH

SECOND_US = 1e6
CLIENT, SERVER = SYSBENCH, "mysqld"
KINDS = ("recv", "tc", "ldm", "query", "send")
"""NDB threads that queries go through; the others work as much without them."""
OTHER = "other NDB threads"
_EXPONENTS = np.linspace(-0.6, 0.6, 49)


@dataclass(frozen=True)
class Law:
    """CPU time a query: `one_us` with one client a server, that times n**`exponent` with n.

    An exponent below zero is batching: signals of several clients share the cost of waking up. One
    above zero, or `each_us` for every further client, is contention. `background_cpus` are used
    whether queries come or not. Past `upto` clients a server the demand stays what it is there.
    """

    one_us: float
    exponent: float = 0.0
    each_us: float = 0.0
    background_cpus: float = 0.0
    upto: float = np.inf

    def us(self, clients_per_server: np.ndarray | float) -> np.ndarray:
        """Give the demand in microseconds, for one number of clients a server or many."""
        n = np.clip(np.asarray(clients_per_server, float), 1.0, self.upto)
        return self.one_us * n**self.exponent + self.each_us * (n - 1)


def measured(
    runs: pd.DataFrame, processes: pd.DataFrame, ndb_threads: pd.DataFrame
) -> pd.DataFrame:
    """Divide what each resource used by the queries it was used for (the utilisation law).

    Source: Denning and Buzen 1978; utilisation is throughput times demand. Idle MySQL servers are
    left out, and so are failed runs.

    Returns
    -------
    A row for each run and resource: `run_id`, `servers`, `clients`, `repeat`, `qps`,
    `latency_avg_ms`, `resource`, `cpus` (logical CPUs used), `demand_us`.
    """
    good = summary.good(runs[runs["clients"] >= runs["servers"]])
    usage = Usage(processes, ndb_threads)
    ids = good["run_id"].astype(str)
    table = pd.DataFrame(index=ids)
    table[CLIENT] = usage.roles.reindex(ids).get(CLIENT, pd.Series(np.nan, index=ids))
    serving = [
        usage.of_serving(list(group["run_id"].astype(str)), int(servers))
        for servers, group in good.groupby("servers")
    ]
    table[SERVER] = pd.concat(serving).reindex(ids)
    threads = usage.of_threads(list(ids))
    kinds = threads.groupby(["run_id", "thread"])["pct"].sum().unstack().reindex(ids)
    for kind in KINDS:
        table[kind] = kinds.get(kind, pd.Series(0.0, index=ids))
    others = kinds.drop(columns=[k for k in KINDS if k in kinds])
    table[OTHER] = others.sum(axis=1)
    facts = good.set_index(ids)[["servers", "clients", "repeat", "qps", "latency_avg_ms"]]
    long = (table / 100).melt(ignore_index=False, var_name="resource", value_name="cpus")
    joined = facts.join(long).rename_axis("run_id").reset_index()
    joined["demand_us"] = SECOND_US * joined["cpus"] / joined["qps"]
    return joined


def by_run(table: pd.DataFrame) -> pd.DataFrame:
    """Turn rows of `measured` into one row a run: CPUs of each resource beside its facts."""
    facts = table.drop_duplicates("run_id").set_index("run_id")
    wide = table.pivot(index="run_id", columns="resource", values="cpus")
    return facts[["servers", "clients", "qps", "latency_avg_ms"]].join(wide).sort_index()


def fit(runs: pd.DataFrame, weight: np.ndarray | None = None) -> dict[str, Law]:
    """Fit a law to each resource, by least squares of the relative error, none below zero.

    The NDB threads share their exponent, as they share the signals that come in batches: it is
    that of all of them together, which is known better than that of any.

    Parameters
    ----------
    runs : of one MySQL server, as `by_run` gives them.
    weight : how often each run counts (a bootstrap draws some twice).
    """
    n, qps = (runs["clients"] / runs["servers"]).to_numpy(float), runs["qps"].to_numpy(float)
    weight = np.ones(len(runs)) if weight is None else weight
    ndb = runs[list(KINDS)].sum(axis=1).to_numpy(float)
    batching, growth = _EXPONENTS[_EXPONENTS <= 0], _EXPONENTS[_EXPONENTS >= 0]
    shared = np.array([_power(ndb, qps, n, weight, batching, True).exponent])
    laws = {
        CLIENT: _power(runs[CLIENT].to_numpy(float), qps, n, weight, growth, False),
        SERVER: _linear(runs[SERVER].to_numpy(float), qps, n, weight),
    }
    for kind in KINDS:
        laws[kind] = _power(runs[kind].to_numpy(float), qps, n, weight, shared, True)
    laws[OTHER] = Law(0.0, background_cpus=float(np.average(runs[OTHER], weights=weight)))
    return laws


def little(runs: pd.DataFrame) -> pd.DataFrame:
    """Hold Little's law against every good run: clients are throughput times mean latency.

    Source: Little 1961; a client of sysbench has one query under way at any time, save for the
    moment that sysbench takes between two.

    Returns
    -------
    `run_id`, `servers`, `clients`, `qps`, `latency_avg_ms`, `in_flight` and its `ratio` to the
    clients.
    """
    columns = ["run_id", "servers", "clients", "qps", "latency_avg_ms"]
    table = summary.good(runs)[columns].copy()
    table["in_flight"] = table["qps"] * table["latency_avg_ms"] / 1000
    return table.assign(ratio=table["in_flight"] / table["clients"]).reset_index(drop=True)


def _linear(cpus: np.ndarray, qps: np.ndarray, n: np.ndarray, weight: np.ndarray) -> Law:
    (one, each), _ = _least(np.stack([qps, qps * (n - 1)], axis=1), cpus, weight)
    return Law(float(SECOND_US * one), each_us=float(SECOND_US * each))


def _power(
    cpus: np.ndarray,
    qps: np.ndarray,
    n: np.ndarray,
    weight: np.ndarray,
    exponents: np.ndarray,
    background: bool,
) -> Law:
    best: tuple[float, Law] | None = None
    for exponent in exponents:
        columns = [qps * n**exponent, np.full(len(qps), float(background))]
        (one, fixed), error = _least(np.stack(columns, axis=1), cpus, weight)
        if best is None or error < best[0]:
            law = Law(float(SECOND_US * one), float(exponent), background_cpus=float(fixed))
            best = error, law
    assert best is not None
    return best[1]


def _least(columns: np.ndarray, values: np.ndarray, weight: np.ndarray) -> tuple:
    """Solve for coefficients, none below zero, with the least relative error (Lawson, Hanson)."""
    known = values > 0
    if not known.any():
        return (0.0, 0.0), 0.0
    scale = np.sqrt(weight[known]) / values[known]
    return nnls(columns[known] * scale[:, None], values[known] * scale)
