"""The capacity model of the brief's own server: what it predicts, and what was published.

In: the published numbers. Out: tables. Nothing of it was measured by the lab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from ndblab.capacity import brief_demands, model
from ndblab.capacity.forecast import simulation_cache
from ndblab.capacity.model import Model
from ndblab.claims import publication
from ndblab.claims.publication import Anchor
from ndblab.planning import profile

SERVERS = (1, 2, 4, 8, 16)
MOST_CLIENTS = 1024
_OF_THE_HOUR = ("p95, mean", "throughput, highest of the band")
"""Of Figure 1, what is shown beside Figures 6 to 8, whose last point it is."""


def own_model() -> Model:
    """Give the model of the brief's server, from the numbers of its Figures 1, 4, 5 and 9."""
    return brief_demands.epyc(publication.anchors())


def anchors() -> list[Anchor]:
    """Give the published numbers that the predictions are held against, each once."""
    found: dict[tuple, Anchor] = {}
    for anchor in publication.anchors():
        hour = anchor.figure == "1" and anchor.series in _OF_THE_HOUR
        if hour or anchor.figure in ("6", "7", "8"):
            place = (anchor.unit, anchor.servers, anchor.clients, anchor.value)
            found.setdefault(place, anchor)
    return list(found.values())


def predicted() -> pd.DataFrame:
    """Predict Figures 6 and 7: as `model.predict`, with every server at work."""
    grid = [(s, c) for s in SERVERS for c in profile.powers_of_two(MOST_CLIENTS) if c >= s]
    return model.predict(own_model(), pd.DataFrame(grid, columns=["servers", "clients"]))


def simulated(progress: Callable[[Iterable], Iterable] = iter) -> pd.DataFrame:
    """Simulate the points whose p95 was published: as `kept.simulate`."""
    grid = sorted({(a.servers, a.clients) for a in anchors() if a.unit == "ms"})
    points = pd.DataFrame(grid, columns=["servers", "clients"])
    return simulation_cache.simulate(own_model(), points, None, progress=progress)


def splits() -> pd.DataFrame:
    """Try other splits of a data node's threads under the most servers: `published.splits`."""
    clients = [MOST_CLIENTS // 4, MOST_CLIENTS // 2, MOST_CLIENTS]
    points = pd.DataFrame({"servers": max(SERVERS), "clients": clients})
    return brief_demands.splits(own_model(), points)


def little() -> pd.DataFrame:
    """Hold Little's law against the brief's own numbers, where both of its sides are known.

    A mean latency was never published. Clients over throughput is what it was, and has to stay
    below the published p95, unless a very long tail raises the mean above it.

    Returns
    -------
    `figure`, `series`, `servers`, `clients`, `qps`, `latency_avg_ms` (clients over throughput),
    `p95_ms_low` and `p95_ms_high`: the lowest and highest p95 published of this point.
    """
    every = publication.anchors()
    rows = []
    for anchor in every:
        point = anchor.servers, anchor.clients
        p95 = [a.value for a in every if a.unit == "ms" and (a.servers, a.clients) == point]
        if anchor.unit == "queries/s" and p95:
            mean_ms = 1000 * anchor.clients / anchor.value
            facts = [anchor.figure, anchor.series, *point, anchor.value, mean_ms]
            rows.append([*facts, min(p95), max(p95)])
    columns = ["figure", "series", "servers", "clients", "qps", "latency_avg_ms"]
    return pd.DataFrame(rows, columns=[*columns, "p95_ms_low", "p95_ms_high"])


def limits() -> pd.DataFrame:
    """Say at which throughput the threads of each kind would be used up, the lowest first.

    Returns
    -------
    Index `kind`; `threads` of one data node, `one_us` that a query takes of all of both,
    `idle_cpus` that they take without any, `limit_qps`.
    """
    own = own_model()
    table = pd.DataFrame({"threads": pd.Series(brief_demands.THREADS)}).rename_axis("kind")
    laws = pd.Series(dict(own.laws)).reindex(table.index)
    table["one_us"] = [law.one_us for law in laws]
    table["idle_cpus"] = [law.background_cpus for law in laws]
    table["limit_qps"] = [
        float(brief_demands.limit_qps(own, kind, table["threads"])[kind]) for kind in table.index
    ]
    return table.sort_values("limit_qps")
