"""The answer about connection pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.formatting import count, less_or_more, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, Disagreement, held
from ndblab.judging.evidence import usable_cpus
from ndblab.statistics import contrasts

_JUDGED_FROM_CPUS = 12


@answers("connection-pool")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what more connections gain on this host, then whether that tests the source."""
    return [
        *_measured(dataset),
        Clause(
            "P-pool-8",
            "as published, one connection holds a server back",
            "contrary to the source, one connection does not hold a server back",
            "whether one connection holds back a server that has CPUs as the source's had",
        ),
        Clause(
            "P-pool-16",
            "as published, 16 connections are hardly better than 8",
            "contrary to the source, 16 connections are better than 8",
            "whether 16 connections are better than 8 for such a server",
        ),
    ]


def _load(dataset: Dataset) -> str:
    """Say with how many clients pools are compared: the best number differs from pool to pool."""
    slices = dataset.slices
    clients = slices.loc[slices["contrast"].astype(str) == "pools-1-8", "clients"]
    return f"with {count(int(clients.max()), 'client')} " if len(clients) else ""


def _measured(dataset: Dataset) -> Iterator[str]:
    """State the ratios that have an interval."""
    quota = " and under its quota" if dataset.budget == "scaled" else ""
    beside = f"beside another server{quota}"
    cpus = usable_cpus(dataset.host)
    undivided = f"{_load(dataset)}on {plain(cpus)} undivided CPUs"
    if dataset.budget == "pinned":
        undivided = "on the CPUs that it is bound to, without another server"
    for name, where in (("pools-1-8", undivided), ("pools-1-8-share", beside)):
        ratio = contrasts.measured_ratio(dataset.slices, name)
        if ratio.bounded:
            words = "fewer queries than 1", "more queries than 1"
            did = less_or_more(*ratio, *words)
            finding = held(f"{where}, ndb_cluster_connection_pool=8 gave {did}", dataset, name)
            yield finding
            lost = ratio.high < 1 and not isinstance(finding, Disagreement)
            if name == "pools-1-8" and lost:
                few = "only " * (cpus < _JUDGED_FROM_CPUS)
                yield Advice(f"With {few}{plain(cpus)} CPUs, leave it at 1, the default")
