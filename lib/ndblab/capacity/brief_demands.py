"""The capacity model of the brief's own server, from nothing but its published numbers.

In: the anchors of Figures 4, 5 and 9. Out: a model of the EPYC, and how else the brief's 32 logical
CPUs of a data node could be split. It measured nothing, and every guess is a named constant.

Figure 4 gives the throughput and the CPU of one MySQL server. The two ndb_top screens (Figures 5
and 9) give how busy the NDB threads of one data node were under one server and under 16; the
other data node is taken to be like it. sysbench's CPU was not published, and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from ndblab.capacity import model
from ndblab.capacity.demand import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.capacity.model import LOCK, Model, Shares
from ndblab.claims.publication import Anchor
from ndblab.planning import cpu_budget

DATA_NODES = 2
THREADS = {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3}
"""Of a data node with NumCPUs=32 (seen in NDB 8.0 and 9.7: AutomaticThreadConfig)."""
IDLE_THREADS = 2
"""main and rep, which queries do not go through."""
LDM_COUNTS = (2, 4, 6, 8, 10, 12)
PEAK = (16, 1024)
SCREENS = {"5": 1, "9": 16}
"""Figures that are ndb_top screens, with their number of MySQL servers."""


def threads(anchors: Sequence[Anchor]) -> pd.DataFrame:
    """Add up a screen's threads by kind.

    A screen lists its busiest threads only. Those of a kind that it leaves out are between idle and
    as busy as the least busy one it lists; the middle is taken.

    Returns
    -------
    `figure`, `kind`, `threads`, `listed`, and in logical CPUs of one data node `cpus`, `cpus_low`,
    `cpus_high`.
    """
    rows = []
    for figure in SCREENS:
        screen = [a for a in anchors if a.figure == figure and " thr_no " in a.series]
        least = min(a.value for a in screen) / 100
        for kind, count in THREADS.items():
            seen = [a.value / 100 for a in screen if a.series.split()[0] == kind]
            missing = count - len(seen)
            low, high = sum(seen), sum(seen) + missing * least
            rows.append([figure, kind, count, len(seen), (low + high) / 2, low, high])
    columns = ["figure", "kind", "threads", "listed", "cpus", "cpus_low", "cpus_high"]
    return pd.DataFrame(rows, columns=columns)


def epyc(anchors: Sequence[Anchor]) -> Model:
    """Give the model of the brief's server.

    - mysqld: the CPU of Figure 4 over its peak throughput. Past the peak throughput is not
      published but for being lower, so that these demands are the least there can be; the CPU is
      flat from the last published number of clients on, and so is the demand.
    - a lock in each MySQL server: one server peaked with CPUs to spare, so something in it serves
      one query after another, and no faster than the peak
    - NDB threads: a line through both screens, at the throughput of each

    Raises
    ------
    ValueError
        If an anchor that this needs is missing.
    """
    peak = _value(anchors, "4", "throughput")
    cpu = [(a.clients, a.value / 100) for a in anchors if a.figure == "4" and "CPU" in a.series]
    n, used = (np.array(values, float) for values in zip(*sorted(cpu), strict=True))
    (one, each), _ = nnls(np.stack([np.ones_like(n), n - 1], axis=1), 1e6 * used / peak)
    band = [_value(anchors, "1", f"throughput, {end} of") for end in ("lowest", "highest")]
    rates = {"5": peak, "9": sum(band) / 2}
    table = threads(anchors).pivot(index="kind", columns="figure", values="cpus") * DATA_NODES
    laws = {
        CLIENT: Law(0.0),
        SERVER: Law(one, each_us=each, upto=float(n.max())),
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


def splits(own: Model, points: pd.DataFrame) -> pd.DataFrame:
    """Try every other split of a data node's threads, as many in all, and predict its throughput.

    The demand of a kind stays what it is, however many threads share it: what more threads cost in
    waking up, and gain in less waiting for each other, no published number tells.

    Parameters
    ----------
    points : columns `servers` and `clients`, at which throughput is predicted.

    Returns
    -------
    `ldm`, `query`, `tc`, `send`, `recv` of one data node, `bound_qps` of its threads alone,
    `busiest` (the kind that sets it), `qps` (the best predicted at the points) and its
    `bottleneck`, best first; the brief's own split has `automatic` set. NDB wants query
    threads to be a multiple of the ldm threads.
    """
    total = sum(THREADS.values())
    rows = []
    for ldm, multiple, send, recv in product(LDM_COUNTS, (1, 2), range(1, 7), range(1, 9)):
        tc = total - ldm * (1 + multiple) - send - recv
        if tc < 1:
            continue
        counts = {"ldm": ldm, "query": ldm * multiple, "tc": tc, "send": send, "recv": recv}
        rows.append(counts)
    table = pd.DataFrame(rows)
    limits = pd.DataFrame({kind: limit_qps(own, kind, table[kind]) for kind in KINDS})
    table["bound_qps"], table["busiest"] = limits.min(axis=1), limits.idxmin(axis=1)
    order = ["bound_qps", "ldm", "send"]
    table = table.sort_values(order, ascending=[False, True, True]).reset_index(drop=True)
    table["automatic"] = (table[list(THREADS)] == pd.Series(THREADS)).all(axis=1)
    kept = table[table["automatic"] | (table.index < 10)].copy()
    told = [_best(own, row._asdict(), points) for row in kept.itertuples(index=False)]
    kept[["qps", "bottleneck"]] = told
    return kept.reset_index(drop=True)


def limit_qps(own: Model, kind: str, count: pd.Series) -> pd.Series:
    """Throughput at which this many threads of a kind on each data node are used up."""
    law = own.laws[kind]
    left = DATA_NODES * count - law.background_cpus
    return 1e6 * left.clip(lower=0) / law.one_us if law.one_us else left * np.inf


def _best(own: Model, split: Mapping[str, int], points: pd.DataFrame) -> tuple[float, str]:
    counts = {kind: DATA_NODES * int(split[kind]) for kind in KINDS}
    shares = Shares(
        own.shares.host_cpus, own.shares.sql_cpus, own.shares.data_node_cpus, None, counts
    )
    other = replace(own, shares=shares)
    predicted = model.predict(other, points)
    best = predicted.loc[predicted["qps"].idxmax()]
    return float(best["qps"]), str(best["bottleneck"])


def _value(anchors: Sequence[Anchor], figure: str, series: str) -> float:
    found = [a.value for a in anchors if a.figure == figure and a.series.startswith(series)]
    if not found:
        raise ValueError(f"Figure {figure} has no anchor that begins with {series!r}")
    return found[0]
