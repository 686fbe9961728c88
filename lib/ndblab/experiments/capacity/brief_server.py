"""The capacity model of the brief's own server, from its published numbers alone.

The lab measured none of it, and every guess is a named constant. Figure 4 gives the throughput and
the CPU use of one MySQL server. The two ndb_top screens (Figures 5 and 9) give the utilisation of
the NDB threads of one data node under one server and under 16; the other data node is assumed to be
like it. sysbench's CPU use was not published, and is left out.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import scipy

from ndblab.experiments.capacity import model
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.experiments.capacity.model import LOCK, Model, Shares
from ndblab.judging import publication
from ndblab.judging.publication import Anchor
from ndblab.planning import cpu_budget, profile

SERVERS = (1, 2, 4, 8, 16)
MOST_CLIENTS = 1024
DATA_NODES = 2
THREADS = {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3}
"""Of a data node with NumCPUs=32 (NDB 8.0 and 9.7: AutomaticThreadConfig), without main and rep."""
LDM_COUNTS = (2, 4, 6, 8, 10, 12)
SCREENS = ("5", "9")
"""Figures that are ndb_top screens."""
_OF_THE_HOUR = ("p95, mean", "throughput, highest of the band")
"""Series of Figure 1 shown with Figures 6 to 8: the run is their last point."""


def anchors() -> list[Anchor]:
    """Return the published numbers that the predictions are compared with, each once."""
    by_place: dict[tuple, Anchor] = {}
    for anchor in publication.anchors():
        hour = anchor.figure == "1" and anchor.series in _OF_THE_HOUR
        if hour or anchor.figure in ("6", "7", "8"):
            place = (anchor.unit, anchor.servers, anchor.clients, anchor.value)
            by_place.setdefault(place, anchor)
    return list(by_place.values())


def predicted() -> pd.DataFrame:
    """Predict Figures 6 and 7, with every server busy: `model.predict`."""
    grid = [(s, c) for s in SERVERS for c in profile.powers_of_two(MOST_CLIENTS) if c >= s]
    return model.predict(epyc(), pd.DataFrame(grid, columns=["servers", "clients"]))


def little() -> pd.DataFrame:
    """Check Little's law on the brief's numbers, where both sides are published.

    No mean latency was published. By Little's law it is clients over throughput, which has to be
    below the published p95 unless a very long tail raises the mean above it.

    Returns
    -------
    `figure`, `series`, `servers`, `clients`, `qps`, `latency_avg_ms` (clients over throughput),
    `p95_ms_low` and `p95_ms_high`: the lowest and highest p95 published for this point.
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
    """Return the throughput at which the threads of each kind saturate, the lowest first.

    Returns
    -------
    Index `kind`; `threads` of one data node, `one_us` of CPU time per query on both data nodes,
    `idle_cpus` used without queries, `limit_qps`.
    """
    own = epyc()
    table = pd.DataFrame({"threads": pd.Series(THREADS)}).rename_axis("kind")
    table["one_us"] = [own.laws[kind].one_us for kind in THREADS]
    table["idle_cpus"] = [own.laws[kind].background_cpus for kind in THREADS]
    table["limit_qps"] = [limit_qps(own, kind, count) for kind, count in THREADS.items()]
    return table.sort_values("limit_qps")


def threads() -> pd.DataFrame:
    """Sum the utilisation of a screen's threads by kind.

    A screen lists only its busiest threads. The others are between idle and as busy as the least
    busy one listed; the middle is assumed.

    Returns
    -------
    `figure`, `kind`, `threads`, `listed`, and in logical CPUs of one data node `cpus`, `cpus_low`,
    `cpus_high`.
    """
    rows = []
    for figure in SCREENS:
        screen = [a for a in publication.anchors(figure) if " thr_no " in a.series]
        least = min(a.value for a in screen) / 100
        for kind, count in THREADS.items():
            seen = [a.value / 100 for a in screen if a.series.split()[0] == kind]
            missing = count - len(seen)
            low, high = sum(seen), sum(seen) + missing * least
            rows.append([figure, kind, count, len(seen), (low + high) / 2, low, high])
    columns = ["figure", "kind", "threads", "listed", "cpus", "cpus_low", "cpus_high"]
    return pd.DataFrame(rows, columns=columns)


def epyc() -> Model:
    """Fit the model of the brief's server.

    - mysqld: the CPU of Figure 4 over its peak throughput. Beyond the peak only "lower" is
      published, so these demands are lower bounds; they are constant beyond the last published
      number of clients.
    - a lock in each MySQL server: one server peaked with idle CPUs, so something in it serves
      queries one at a time, at the rate of the peak
    - NDB threads: a line through both screens, each at its throughput

    ValueError if a published number that this needs is missing.
    """
    peak = _value("4", "throughput")
    four = publication.anchors("4")
    cpu = [(a.clients, a.value / 100) for a in four if "CPU" in a.series]
    n, used = (np.array(values, float) for values in zip(*sorted(cpu), strict=True))
    columns = np.stack([np.ones_like(n), n - 1], axis=1)
    (one_us, each_us), _ = scipy.optimize.nnls(columns, 1e6 * used / peak)
    band = [_value("1", f"throughput, {end} of") for end in ("lowest", "highest")]
    rates = {"5": peak, "9": sum(band) / 2}
    table = threads().pivot(index="kind", columns="figure", values="cpus") * DATA_NODES
    laws = {
        CLIENT: Law(0.0),
        SERVER: Law(one_us, each_us=each_us, upto=float(n.max())),
        LOCK: Law(1e6 / peak),
        OTHER: Law(0.0),
    }
    for kind in KINDS:
        few, many = table.loc[kind, "5"], table.loc[kind, "9"]
        each_s = max(0.0, (many - few) / (rates["9"] - rates["5"]))
        background = max(0.0, few - each_s * rates["5"])
        laws[kind] = Law(1e6 * each_s, background_cpus=background)
    data = cpu_budget.BRIEF_DATA_NODE_CPUS * DATA_NODES
    own = Shares(
        cpu_budget.BRIEF_CPUS,
        cpu_budget.BRIEF_SQL_SIDE_CPUS,
        data,
        None,
        {kind: DATA_NODES * count for kind, count in THREADS.items()},
    )
    return Model(laws, own, clients_per_server=(float(n.min()), float(n.max())))


def splits() -> pd.DataFrame:
    """Predict the throughput of other splits of a data node's threads, at the same total.

    The demand of a kind is assumed not to depend on the number of its threads: no published number
    says what more threads cost in wake-ups, or gain in shorter queues.

    Returns
    -------
    `ldm`, `query`, `tc`, `send`, `recv` of one data node, `bound_qps` of its threads alone,
    `busiest` (the kind that sets it), `qps` (the best prediction with the most servers) and its
    `bottleneck`, best first; the brief's own split has `automatic` set. NDB requires the number of
    query threads to be a multiple of the ldm threads.
    """
    own = epyc()
    clients = [MOST_CLIENTS // 4, MOST_CLIENTS // 2, MOST_CLIENTS]
    points = pd.DataFrame({"servers": max(SERVERS), "clients": clients})
    total = sum(THREADS.values())
    rows = []
    for ldm, multiple, send, recv in product(LDM_COUNTS, (1, 2), range(1, 7), range(1, 9)):
        tc = total - ldm * (1 + multiple) - send - recv
        if tc >= 1:
            rows.append({"ldm": ldm, "query": ldm * multiple, "tc": tc, "send": send, "recv": recv})
    table = pd.DataFrame(rows)
    limits = pd.DataFrame({kind: limit_qps(own, kind, table[kind]) for kind in KINDS})
    table["bound_qps"], table["busiest"] = limits.min(axis=1), limits.idxmin(axis=1)
    order = ["bound_qps", "ldm", "send"]
    table = table.sort_values(order, ascending=[False, True, True]).reset_index(drop=True)
    table["automatic"] = (table[list(THREADS)] == pd.Series(THREADS)).all(axis=1)
    shown = table[table["automatic"] | (table.index < 10)].reset_index(drop=True)
    counts = shown[list(KINDS)].to_dict("records")
    return shown.assign(**pd.DataFrame([_best(own, split, points) for split in counts]))


def limit_qps(own: Model, kind: str, count: int | pd.Series) -> float | pd.Series:
    """Return the throughput at which so many threads of a kind on each data node saturate."""
    law = own.laws[kind]
    left = DATA_NODES * count - law.background_cpus
    return 1e6 * np.maximum(left, 0) / law.one_us if law.one_us else left * np.inf


def _best(own: Model, split: dict[str, int], points: pd.DataFrame) -> dict[str, object]:
    threads = {kind: DATA_NODES * count for kind, count in split.items()}
    other = replace(own, shares=replace(own.shares, threads=threads))
    predicted = model.predict(other, points)
    return predicted.loc[predicted["qps"].idxmax(), ["qps", "bottleneck"]].to_dict()


def _value(figure: str, series: str) -> float:
    values = [a.value for a in publication.anchors(figure) if a.series.startswith(series)]
    if not values:
        raise ValueError(f"Figure {figure} has no anchor that begins with {series!r}")
    return values[0]
