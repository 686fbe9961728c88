"""CPU time per query of each resource, and how it changes with clients per MySQL server.

The CPU use of processes and NDB threads is divided by the queries served, and a law fitted to the
runs of one server. Nothing is predicted here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ndblab import formatting
from ndblab.dataset import Dataset
from ndblab.error import LabError, MissingData
from ndblab.planning.workload import SYSBENCH
from ndblab.statistics import summary
from ndblab.statistics.cpu_use import Usage

SECOND_US = 1e6
CLIENT, SERVER = SYSBENCH, "mysqld"
KINDS = ("recv", "tc", "ldm", "query", "send")
"""Kinds of NDB threads that serve queries; the load of the others does not depend on queries."""
OTHER = "other NDB threads"
PARTS = (CLIENT, SERVER, *KINDS, OTHER)
"""The parts of a cluster, in the order in which a query meets them."""
LEAST_CLIENT_COUNTS = 4
MEASURE = "Measure it: ./lab reproduce --experiment single-server-scaling"
_EXPONENTS = np.linspace(-0.6, 0.6, 49)


@dataclass(frozen=True)
class Law:
    """CPU time per query: `one_us` * n**`exponent` + `each_us` * (n - 1) with n clients per server.

    A negative exponent is batching: signals of several clients share the cost of a wake-up. A
    positive one, or `each_us`, is contention. `background_cpus` are used even without queries.
    Beyond `upto` clients per server the demand stays constant.
    """

    one_us: float
    exponent: float = 0.0
    each_us: float = 0.0
    background_cpus: float = 0.0
    upto: float = np.inf

    def us(self, clients_per_server: np.ndarray | float) -> np.ndarray:
        """Return the demand in microseconds at one or many numbers of clients per server."""
        n = np.clip(np.asarray(clients_per_server, float), 1.0, self.upto)
        return self.one_us * n**self.exponent + self.each_us * (n - 1)


def alone(data: Dataset) -> pd.DataFrame:
    """Return the runs of one MySQL server: default workload over shared memory, failed ones too."""
    runs = summary.select(data.runs)
    return runs[runs["servers"] == 1]


def left_out(runs: pd.DataFrame) -> str:
    """Describe how many runs are not averaged, and why; empty if all are."""
    why = summary.why_excluded(runs)
    reasons = why[why != ""].value_counts()
    if reasons.empty:
        return ""
    causes = ", ".join(f"{number} x {reason}" for reason, number in reasons.items())
    return f"{reasons.sum()} of {formatting.count(len(runs), 'run')} left out: {causes}"


def of_one_server(data: Dataset) -> pd.DataFrame:
    """Return the rows of `measured` that a model is fitted to: those of one server.

    LabError if too few numbers of clients have a good run, or the dataset has no CPU use.
    """
    runs = alone(data)
    counts = sorted(int(c) for c in summary.good(runs)["clients"].unique())
    if len(counts) < LEAST_CLIENT_COUNTS:
        there = "no run" if runs.empty else "no good run"
        if counts:
            there = f"good runs with {formatting.listed(map(str, counts))} clients"
        parts = [f"{there} of one server in {data.id}", left_out(runs)]
        raise LabError(
            "The capacity model needs a sweep of one MySQL server",
            found="; ".join(part for part in parts if part),
            expected="good runs of point selects over shared memory with at least "
            f"{LEAST_CLIENT_COUNTS} numbers of clients",
            next_step=MEASURE,
        )
    return of_runs(data, runs)


def of_runs(data: Dataset, runs: pd.DataFrame) -> pd.DataFrame:
    """Return `measured` of some runs of a dataset; LabError if it has no CPU use."""
    try:
        return measured(runs, data.processes, data.ndb_threads)
    except MissingData as missing:
        raise LabError(
            "The dataset lacks the CPU use of its runs",
            found=f"{missing} in {data.id}",
            expected="the CPU use of processes and of NDB threads",
            next_step=MEASURE,
        ) from missing


def measured(
    runs: pd.DataFrame, processes: pd.DataFrame, ndb_threads: pd.DataFrame
) -> pd.DataFrame:
    """Divide the CPU use of each resource by throughput (the utilisation law).

    Source: Denning and Buzen 1978: utilisation is throughput times demand. Failed runs, and runs
    with idle MySQL servers, are left out.

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
    table[list(KINDS)] = kinds.reindex(columns=list(KINDS), fill_value=0.0)
    other = kinds.drop(columns=list(KINDS), errors="ignore").sum(axis=1)
    table[OTHER] = other.where(kinds.notna().any(axis=1))
    facts = good.set_index(ids)[["servers", "clients", "repeat", "qps", "latency_avg_ms"]]
    long = (table / 100).melt(ignore_index=False, var_name="resource", value_name="cpus")
    joined = facts.join(long).rename_axis("run_id").reset_index()
    joined["demand_us"] = SECOND_US * joined["cpus"] / joined["qps"]
    return joined


def by_run(table: pd.DataFrame) -> pd.DataFrame:
    """Pivot rows of `measured` to one row per run: its facts, and the CPUs of each resource."""
    facts = table.drop_duplicates("run_id").set_index("run_id")
    wide = table.pivot(index="run_id", columns="resource", values="cpus")
    return facts[["servers", "clients", "qps", "latency_avg_ms"]].join(wide).sort_index()


def fit(runs: pd.DataFrame, weight: np.ndarray | None = None) -> dict[str, Law]:
    """Fit a law to each resource by non-negative least squares of the relative error.

    The NDB threads share one exponent, as they share batches of signals. It is fitted to their sum,
    which is more precise than any single kind. `runs` are those of one MySQL server, from `by_run`;
    `weight` says how often each counts (a bootstrap draws some twice).
    """
    part = {name: runs[name].to_numpy(float) for name in (*PARTS, "servers", "clients", "qps")}
    n, qps = part["clients"] / part["servers"], part["qps"]
    weight = np.ones(len(qps)) if weight is None else weight
    batching, growth = _EXPONENTS[_EXPONENTS <= 0], _EXPONENTS[_EXPONENTS >= 0]
    ndb = np.sum([part[kind] for kind in KINDS], axis=0)
    shared = np.array([_power(ndb, qps, n, weight, batching, True).exponent])
    laws = {
        CLIENT: _power(part[CLIENT], qps, n, weight, growth, False),
        SERVER: _linear(part[SERVER], qps, n, weight),
    }
    for kind in KINDS:
        laws[kind] = _power(part[kind], qps, n, weight, shared, True)
    known = ~np.isnan(part[OTHER]) & (weight > 0)
    others = np.average(part[OTHER][known], weights=weight[known]) if known.any() else 0.0
    laws[OTHER] = Law(0.0, background_cpus=float(others))
    return laws


def little(runs: pd.DataFrame) -> pd.DataFrame:
    """Check Little's law on every good run: clients equal throughput times mean latency.

    Source: Little 1961. A sysbench client always has one query in flight, except for the moment
    that sysbench takes between two.

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
    (one_s, each_s), _ = _least(np.stack([qps, qps * (n - 1)], axis=1), cpus, weight)
    return Law(float(SECOND_US * one_s), each_us=float(SECOND_US * each_s))


def _power(
    cpus: np.ndarray,
    qps: np.ndarray,
    n: np.ndarray,
    weight: np.ndarray,
    exponents: np.ndarray,
    background: bool,
) -> Law:
    tried = []
    for exponent in exponents:
        columns = [qps * n**exponent, np.full(len(qps), float(background))]
        (one_s, fixed), error = _least(np.stack(columns, axis=1), cpus, weight)
        law = Law(float(SECOND_US * one_s), float(exponent), background_cpus=float(fixed))
        tried.append((error, law))
    return min(tried, key=lambda trial: trial[0])[1]


def _least(columns: np.ndarray, values: np.ndarray, weight: np.ndarray) -> tuple:
    """Solve for non-negative coefficients with the least relative error (Lawson, Hanson)."""
    known = values > 0
    if not known.any():
        return (0.0, 0.0), 0.0
    scale = np.sqrt(weight[known]) / values[known]
    return scipy.optimize.nnls(columns[known] * scale[:, None], values[known] * scale)
