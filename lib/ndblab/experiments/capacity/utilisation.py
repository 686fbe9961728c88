"""Utilisation of each resource, predicted and measured, and how well demands follow their laws.

In: a model, its predictions, the CPU use of runs. Out: tables, a row for each point and resource.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, PARTS, SECOND_US, SERVER
from ndblab.experiments.capacity.model import DATA_NODES, HOST, NONE, SQL_SIDE, Model, Shares

RESOURCES = (SERVER, SQL_SIDE, DATA_NODES, HOST, *KINDS)


def cpus(own: Model, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the logical CPUs that each part uses at predicted points, background included.

    Returns
    -------
    `servers`, `clients`, `resource`, `cpus`.
    """
    points = predicted[["servers", "clients"]]
    n = _per_server(predicted)
    tables = []
    for part, law in own.laws.items():
        taken = predicted["qps"] * law.us(n) / SECOND_US + law.background_cpus
        tables.append(points.assign(resource=part, cpus=taken))
    return pd.concat(tables, ignore_index=True)


def utilisation(used: pd.DataFrame, own: Shares) -> pd.DataFrame:
    """Divide the CPU use of each resource by the CPUs it has.

    Parameters
    ----------
    used : `servers`, `clients`, `resource`, `cpus`; several runs of a point are averaged.

    Returns
    -------
    `servers`, `clients`, `resource` of `RESOURCES`, `utilisation`: 1 if saturated. Each
    thread counts as a whole CPU, even if a quota allows all of them together less.
    """
    keys = ["servers", "clients"]
    wide = used.pivot_table(index=keys, columns="resource", values="cpus", aggfunc="mean")
    together = {DATA_NODES: [*KINDS, OTHER], SQL_SIDE: [CLIENT, SERVER], HOST: list(wide)}
    for pool, parts in together.items():
        wide[pool] = wide.reindex(columns=parts).sum(axis=1)
    servers = np.minimum(*(wide.index.get_level_values(key).to_numpy(float) for key in keys))
    each = np.inf if own.server_cpus is None else own.server_cpus
    there = {
        SERVER: np.minimum(servers * each, own.sql_cpus),
        SQL_SIDE: own.sql_cpus,
        DATA_NODES: own.data_node_cpus,
        HOST: own.host_cpus,
        **{kind: own.threads[kind] for kind in KINDS if own.threads.get(kind)},
    }
    parts = pd.DataFrame(
        {name: wide[name] / there[name] for name in RESOURCES if name in wide and name in there}
    )
    long = parts.melt(ignore_index=False, var_name="resource", value_name="utilisation")
    return long.reset_index()


def against_laws(own: Model, measured: pd.DataFrame) -> pd.DataFrame:
    """Compare measured demands with the laws of one server, at the same clients per server.

    Returns
    -------
    `servers`, `clients`, `resource`, `measured_us`, `law_us` and their `ratio`; both include
    background CPU use.
    """
    keys = ["servers", "clients", "resource"]
    means = measured.groupby(keys)[["qps", "cpus"]].mean().reset_index()
    tables = []
    for part, rows in means.groupby("resource"):
        law = own.laws.get(str(part), NONE)
        idle_us = SECOND_US * law.background_cpus / rows["qps"]
        measured_us = SECOND_US * rows["cpus"] / rows["qps"]
        law_us = law.us(_per_server(rows)) + idle_us
        tables.append(rows[keys].assign(measured_us=measured_us, law_us=law_us))
    table = pd.concat(tables, ignore_index=True)
    table["ratio"] = table["measured_us"] / table["law_us"]
    return table.sort_values(keys, ignore_index=True)


def drift(against: pd.DataFrame) -> pd.DataFrame:
    """Summarise `against_laws`: median ratio over clients, servers down and resources across."""
    sound = against[np.isfinite(against["ratio"])]
    table = sound.pivot_table(index="servers", columns="resource", values="ratio", aggfunc="median")
    return table.reindex(columns=in_order(table))


def beyond_laws(against: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time per query in excess of the laws, in us: median over clients.

    Servers down, resources across, and `all` of them together.
    """
    more = against.assign(more_us=against["measured_us"] - against["law_us"])
    table = more.pivot_table(
        index="servers", columns="resource", values="more_us", aggfunc="median"
    )
    table = table.reindex(columns=in_order(table))
    both = more.groupby(["servers", "clients"])["more_us"].sum()
    return table.assign(all=both.groupby("servers").median())


def in_order(parts: Iterable[str]) -> list[str]:
    """Sort the parts of a cluster in the order in which a query meets them."""
    return sorted(parts, key=PARTS.index)


def _per_server(points: pd.DataFrame) -> np.ndarray:
    servers, clients = (points[key].to_numpy(float) for key in ("servers", "clients"))
    return clients / np.minimum(servers, clients)
