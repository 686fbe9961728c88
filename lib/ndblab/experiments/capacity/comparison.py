"""Predictions compared with measured points, with simpler methods, and with measured CPU use.

Errors leave no point out. The simpler methods take the latency of one server with as many clients,
and stretch it by Little's law.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, PARTS, SECOND_US, SERVER
from ndblab.experiments.capacity.model import DATA_NODES, HOST, SQL_SIDE, Model, Shares

MODEL, LINEAR, USL = "capacity model", "linear, capped", "USL"
DIVISION = "the brief's division"
SIMPLE = (LINEAR, USL, DIVISION)
ONE_SERVER = "one server, measured before"
GOAL_PCT = {"qps": 6.0, "latency_p95_ms": 20.0}
"""Goal for the median absolute error of the model, by metric."""
_SIGNIFICANT = 0.05
RESOURCES = (SERVER, SQL_SIDE, DATA_NODES, HOST, *KINDS)
_KEYS = ["servers", "clients"]


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
    coefficients, _ = scipy.optimize.curve_fit(
        lambda n, *law: np.log(usl(n, *law)),
        clients, np.log(qps), start, bounds=(1e-9, np.inf), maxfev=20_000,
    )  # fmt: skip
    return tuple(float(v) for v in coefficients)


def simpler(
    alone: pd.DataFrame,
    runs: pd.DataFrame,
    shares: Shares,
    points: pd.DataFrame,
    names: Sequence[str] = SIMPLE,
) -> pd.DataFrame:
    """Predict points by simpler methods, of which there are three.

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
    facts = alone.drop_duplicates("run_id").set_index("run_id")
    one = facts.groupby("clients")["qps"].mean()
    host_us = SECOND_US * alone.groupby("run_id")["cpus"].sum() / facts["qps"]
    cost = host_us.groupby(facts["clients"]).mean()
    used = alone[alone["resource"] == SERVER].groupby("clients")["cpus"].mean()
    worth = max(1.0, shares.sql_cpus / float(used.loc[one.idxmax()]))
    active = np.minimum(points["servers"], points["clients"]).to_numpy(float)
    n = _per_server(points)
    alike = _at(one, n)
    by_name = {
        LINEAR: lambda: np.minimum(active * alike, SECOND_US * shares.host_cpus / _at(cost, n)),
        USL: lambda: active * usl(n, *fit_usl(facts["clients"], facts["qps"])),
        DIVISION: lambda: np.minimum(active, worth) * alike,
    }
    rates = {name: by_name[name]() for name in names}
    p95_ms = _at(runs.groupby("clients")["latency_p95_ms"].mean(), n)
    tables = [
        points[_KEYS].assign(name=name, qps=qps, latency_p95_ms=p95_ms * active * alike / qps)
        for name, qps in rates.items()
    ]
    return pd.concat(tables, ignore_index=True)


def errors(predictions: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Compare predictions with the measured mean of each point.

    Parameters
    ----------
    predictions : `name`, `servers`, `clients`, `qps`, `latency_p95_ms`.
    points : of `summary.points`, several servers.

    Returns
    -------
    `name`, `servers`, `clients`, `metric`, `predicted`, `measured`, `error_pct` (positive if the
    prediction is too high) and `ape_pct`, its absolute value.
    """
    tables = []
    for metric in GOAL_PCT:
        means = points[[*_KEYS, f"{metric}_mean"]].rename(columns={f"{metric}_mean": "measured"})
        own = predictions[["name", *_KEYS, metric]].rename(columns={metric: "predicted"})
        tables.append(own.merge(means, on=_KEYS).assign(metric=metric))
    table = pd.concat(tables, ignore_index=True)
    table["error_pct"] = 100 * (table["predicted"] / table["measured"] - 1)
    table["ape_pct"] = table["error_pct"].abs()
    return table[["name", *_KEYS, "metric", "predicted", "measured", "error_pct", "ape_pct"]]


def verdicts(errors: pd.DataFrame) -> pd.DataFrame:
    """Summarise the errors of each method.

    Returns
    -------
    A row for each name and metric: `points`, `median_pct` and `p90_pct` of the absolute errors,
    `bias_pct` (median of the signed errors), and `goal_pct` for the model.
    """
    groups = errors.groupby(["name", "metric"], sort=False)
    table = groups.agg(
        points=("ape_pct", "count"),
        median_pct=("ape_pct", "median"),
        p90_pct=("ape_pct", lambda values: values.quantile(0.9)),
        bias_pct=("error_pct", "median"),
    ).reset_index()
    table["goal_pct"] = table["metric"].map(GOAL_PCT).where(table["name"] == MODEL)
    return table


def is_best(errors: pd.DataFrame, name: str) -> bool:
    """Return whether a method is told apart from every other: it is nearer at clearly more points.

    Sign tests, at 5 % each. Points of one sweep depend on each other, which makes differences look
    clearer than they are.

    Parameters
    ----------
    errors : rows of `errors`, of one metric.
    """
    wide = errors.pivot_table(index=_KEYS, columns="name", values="ape_pct")
    apart = wide.drop(columns=name).sub(wide[name], axis=0)
    nearer, farther = (apart > 0).sum(), (apart < 0).sum()
    chance = 2 * scipy.special.bdtr(np.minimum(nearer, farther), nearer + farther, 0.5)
    return bool(((nearer > farther) & (chance < _SIGNIFICANT)).all())


def coverage(predicted: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Count the single runs of predicted points whose throughput is within its interval.

    Returns
    -------
    One row: `runs`, `covered_pct` and `half_width_pct`, the median over runs.
    """
    both = predicted.merge(runs, on=_KEYS, suffixes=("", "_measured"))
    covered = both["qps_measured"].between(both["qps_low"], both["qps_high"])
    half = (both["qps_high"] - both["qps_low"]) / both["qps"] / 2
    facts = [len(both), 100 * covered.mean(), 100 * half.median()]
    return pd.DataFrame([facts], columns=["runs", "covered_pct", "half_width_pct"])


def cpus(own: Model, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the logical CPUs that each part uses at predicted points, background included.

    Returns
    -------
    `servers`, `clients`, `resource`, `cpus`.
    """
    n = _per_server(predicted)
    tables = []
    for part, law in own.laws.items():
        taken = predicted["qps"] * law.us(n) / SECOND_US + law.background_cpus
        tables.append(predicted[_KEYS].assign(resource=part, cpus=taken))
    return pd.concat(tables, ignore_index=True)


def utilisation(used: pd.DataFrame, shares: Shares) -> pd.DataFrame:
    """Divide the CPU use of each resource by the CPUs it has.

    Parameters
    ----------
    used : `servers`, `clients`, `resource`, `cpus`; several runs of a point are averaged.

    Returns
    -------
    `servers`, `clients`, `resource` of `RESOURCES`, `utilisation`: 1 if saturated. Each
    thread counts as a whole CPU, even if a quota allows all of them together less.
    """
    wide = used.pivot_table(index=_KEYS, columns="resource", values="cpus", aggfunc="mean")
    together = {DATA_NODES: [*KINDS, OTHER], SQL_SIDE: [CLIENT, SERVER], HOST: list(wide)}
    for pool, parts in together.items():
        wide[pool] = wide.reindex(columns=parts).sum(axis=1)
    servers = np.minimum(*(wide.index.get_level_values(key).to_numpy(float) for key in _KEYS))
    server_cpus = np.inf if shares.server_cpus is None else shares.server_cpus
    there = {
        SERVER: np.minimum(servers * server_cpus, shares.sql_cpus),
        SQL_SIDE: shares.sql_cpus,
        DATA_NODES: shares.data_node_cpus,
        HOST: shares.host_cpus,
        **{kind: shares.threads[kind] for kind in KINDS if shares.threads.get(kind)},
    }
    parts = pd.DataFrame(
        {name: wide[name] / there[name] for name in RESOURCES if name in wide and name in there}
    )
    long = parts.melt(ignore_index=False, var_name="resource", value_name="utilisation")
    return long.reset_index()


def beyond_laws(own: Model, measured: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time per query in excess of the laws of one server, in us.

    The laws are taken at the same clients per server, and include background CPU use.

    Parameters
    ----------
    measured : of `demands.measured`.

    Returns
    -------
    Median over clients: servers down, resources across, and `all` of them together.
    """
    keys = [*_KEYS, "resource"]
    used = measured.groupby(keys)[["qps", "cpus"]].mean().reset_index()
    expected = cpus(own, used.drop_duplicates(_KEYS)).set_index(keys)["cpus"]
    more_us = SECOND_US * (used.set_index(keys)["cpus"] - expected) / used.set_index(keys)["qps"]
    table = more_us.unstack("resource")[list(PARTS)]
    return table.assign(all=table.sum(axis=1)).groupby("servers").median()


def _at(means: pd.Series, n: np.ndarray) -> np.ndarray:
    """Interpolate a curve of one server on logarithmic axes; constant beyond its ends."""
    known = means.sort_index()
    logs = np.log(known.to_numpy(float))
    return np.exp(np.interp(np.log(n), np.log(known.index.to_numpy(float)), logs))


def _per_server(points: pd.DataFrame) -> np.ndarray:
    servers, clients = (points[key].to_numpy(float) for key in _KEYS)
    return clients / np.minimum(servers, clients)
