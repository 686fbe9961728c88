"""Simpler predictions that the capacity model has to beat.

In: runs of one server, the CPU shares of the host. Out: throughput and p95 at points. Each method
takes the latency of one server with as many clients, and stretches it by Little's law.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import curve_fit

from ndblab.experiments.capacity.demands import SERVER
from ndblab.experiments.capacity.model import Shares

LINEAR, USL, DIVISION = "linear, capped", "USL", "the brief's division"
NAMES = (LINEAR, USL, DIVISION)


def usl(clients: np.ndarray, one: float, contention: float, coherency: float) -> np.ndarray:
    """Return the throughput of the Universal Scalability Law for this many clients.

    Source: Gunther 2007, "Guerrilla Capacity Planning", chapter 4.
    """
    clients = np.asarray(clients, float)
    return one * clients / (1 + contention * (clients - 1) + coherency * clients * (clients - 1))


def fit_usl(clients: np.ndarray, qps: np.ndarray) -> tuple[float, float, float]:
    """Fit the three non-negative coefficients of the law by least squares of logarithms."""
    clients, qps = np.asarray(clients, float), np.asarray(qps, float)
    start = (float(qps[clients == clients.min()].mean() / clients.min()), 0.1, 1e-4)
    found, _ = curve_fit(
        lambda n, *law: np.log(usl(n, *law)),
        clients, np.log(qps), start, bounds=(1e-9, np.inf), maxfev=20_000,
    )  # fmt: skip
    return tuple(float(v) for v in found)


def predict(
    alone: pd.DataFrame, runs: pd.DataFrame, own: Shares, points: pd.DataFrame
) -> pd.DataFrame:
    """Predict points by each of the three methods.

    - linear, capped: every server has the throughput of the one with as many clients; the cap is
      the host's CPUs over the CPU time per query
    - USL: the law fitted to the clients of one server, the same for every server
    - the brief's division: linear up to the number of servers whose CPU use, each at its best,
      fills the SQL side ("Scaling up a Single MySQL Server"), constant after that

    Parameters
    ----------
    alone : rows of `demands.of_one_server`.
    runs : the good runs of one server, for their p95.

    Returns
    -------
    `name`, `servers`, `clients`, `qps`, `latency_p95_ms`.
    """
    facts = alone.drop_duplicates("run_id")
    one = facts.groupby("clients")["qps"].mean()
    host_us = 1e6 * alone.groupby("run_id")["cpus"].sum() / facts.set_index("run_id")["qps"]
    of_clients = facts.set_index("run_id")["clients"]
    cost = host_us.groupby(of_clients.reindex(host_us.index)).mean()
    used = alone[alone["resource"] == SERVER].groupby("clients")["cpus"].mean()
    worth = max(1.0, own.sql_cpus / float(used.loc[one.idxmax()]))
    law = fit_usl(facts["clients"].to_numpy(), facts["qps"].to_numpy())
    servers = points["servers"].to_numpy(float)
    clients = points["clients"].to_numpy(float)
    active = np.minimum(servers, clients)
    n = clients / active
    alike = _at(one, n)
    by_name: Mapping[str, np.ndarray] = {
        LINEAR: np.minimum(active * alike, 1e6 * own.host_cpus / _at(cost, n)),
        USL: active * usl(n, *law),
        DIVISION: np.minimum(active, worth) * alike,
    }
    p95 = runs.groupby("clients")["latency_p95_ms"].mean()
    tables = []
    for name, qps in by_name.items():
        stretched = _at(p95, n) * active * alike / qps
        both = {"name": name, "qps": qps, "latency_p95_ms": stretched}
        tables.append(points[["servers", "clients"]].assign(**both))
    return pd.concat(tables, ignore_index=True)


def _at(means: pd.Series, n: np.ndarray) -> np.ndarray:
    """Interpolate a curve of one server on logarithmic axes; constant beyond its ends."""
    known = means.sort_index()
    logs = np.log(known.to_numpy(float))
    return np.exp(np.interp(np.log(n), np.log(known.index.to_numpy(float)), logs))
