"""Recommended MySQL servers, clients and CPU split for a host.

In: a model of one host, the CPUs of another. Out: a recommendation and its reason. It knows no more
than the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ndblab import formatting
from ndblab.experiments.capacity import model as models
from ndblab.experiments.capacity.demands import CLIENT, KINDS, SERVER
from ndblab.experiments.capacity.model import Model

ENOUGH = 0.97
"""Part of the best throughput that is good enough: more servers or clients gain little."""
MOST_SERVERS, MOST_CLIENTS = 64, 2048
DATA_SHARES = np.round(np.arange(0.10, 0.61, 0.05), 2)


@dataclass(frozen=True)
class Advice:
    """A recommendation for a host, its predicted performance and the reason."""

    host_cpus: float
    servers: int
    clients_per_server: int
    data_node_cpus: float
    sql_cpus: float
    qps: float
    latency_avg_ms: float
    bottleneck: str
    reason: str


def advise(own: Model, host_cpus: float) -> Advice:
    """Recommend the fewest servers, then the fewest clients, close to the best throughput.

    Each MySQL server keeps its share of the host; the split of CPUs between the data nodes and the
    SQL side is varied in steps of 5 % of the host.
    """
    shares = own.shares.scaled(host_cpus)
    low, high = own.clients_per_server
    each = sorted({int(n) for n in 2 ** np.arange(0, 11) if low <= n <= high} | {int(low)})
    counts = np.unique(np.geomspace(1, MOST_SERVERS, 25).round().astype(int))
    pairs = [(s, s * n) for s in counts for n in each if s * n <= MOST_CLIENTS]
    grid = pd.DataFrame(pairs, columns=["servers", "clients"])
    tables = []
    for part in DATA_SHARES:
        divided = replace(shares, data_node_cpus=part * host_cpus, sql_cpus=(1 - part) * host_cpus)
        found = models.predict(replace(own, shares=divided), grid)
        tables.append(found.assign(data_node_cpus=part * host_cpus))
    table = pd.concat(tables, ignore_index=True)
    best = table["qps"].max()
    enough = table[table["qps"] >= ENOUGH * best].sort_values(
        ["servers", "clients", "qps"], ascending=[True, True, False]
    )
    row = enough.iloc[0]
    n = row["clients"] / row["servers"]
    us = {name: float(own.laws[name].us(n)) for name in (CLIENT, SERVER, *KINDS)}
    ndb_us, all_us = sum(us[kind] for kind in KINDS), sum(us.values())
    most, bound = formatting.plain(1e6 * host_cpus / all_us), formatting.plain(row["bound_qps"])
    reason = (
        f"with {n:.0f} clients per server a query costs {us[SERVER]:.0f} us of CPU time in mysqld, "
        f"{ndb_us:.0f} us in the data nodes and {us[CLIENT]:.0f} us in sysbench: {all_us:.0f} us "
        f"in all, so {host_cpus:g} CPUs can serve at most {most} queries/s; "
        f"the bottleneck ({row['bottleneck']}) saturates first, at {bound} queries/s"
    )
    data_cpus, qps, mean_ms = (float(row[k]) for k in ("data_node_cpus", "qps", "latency_avg_ms"))
    return Advice(
        host_cpus, int(row["servers"]), round(n), data_cpus, host_cpus - data_cpus, qps, mean_ms,
        str(row["bottleneck"]), reason,
    )  # fmt: skip
