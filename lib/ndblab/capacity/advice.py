"""How many MySQL servers, clients and CPUs for each side a host is worth.

In: a model of one host, the CPUs of another. Out: a recommendation with its reason. It knows no
more than the model, and says where that is extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ndblab.analysis import formatting
from ndblab.capacity import model as models
from ndblab.capacity.demand import CLIENT, KINDS, SERVER
from ndblab.capacity.model import Model

ENOUGH = 0.97
"""Of the best throughput of any point: more servers or clients than this takes gain little."""
MOST_SERVERS, MOST_CLIENTS = 64, 2048
DATA_SHARES = np.round(np.arange(0.10, 0.61, 0.05), 2)


@dataclass(frozen=True)
class Advice:
    """What is recommended for a host, what it should give, and why."""

    host_cpus: float
    servers: int
    clients_per_server: int
    data_node_cpus: float
    sql_cpus: float
    qps: float
    latency_avg_ms: float
    bottleneck: str
    reason: str
    extrapolated: str


def advise(own: Model, host_cpus: float) -> Advice:
    """Recommend the fewest servers, then the fewest clients, that come close to the best.

    Every part keeps its share of the host (a MySQL server cannot use more than its own), save that
    the CPUs between the data nodes and the SQL side are tried in steps of 5 % of the host.
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
        f"with {n:.0f} clients a server a query takes {us[SERVER]:.0f} us of mysqld, "
        f"{ndb_us:.0f} us of the data nodes and {us[CLIENT]:.0f} us of sysbench: {all_us:.0f} us "
        f"in all, so {host_cpus:g} CPUs cannot do more than {most} "
        f"queries/s; what is used up first is {row['bottleneck']}, at {bound}"
    )
    other = ""
    if host_cpus != own.shares.host_cpus:
        other = f"measured on {own.shares.host_cpus:g} CPUs, asked for {host_cpus:g}"
    return Advice(
        host_cpus,
        int(row["servers"]),
        round(n),
        float(row["data_node_cpus"]),
        float(host_cpus - row["data_node_cpus"]),
        float(row["qps"]),
        float(row["latency_avg_ms"]),
        str(row["bottleneck"]),
        reason,
        other,
    )
