"""The answer about the cost of the network between hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.formatting import less_or_more
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, Disagreement, held
from ndblab.statistics import ratio_tables

_SERVERS = {
    "servers": "with shared memory",
    "servers-by-tcp": "with TCP beside the data nodes",
}


@answers("network-cost")
def cost(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what throughput clients elsewhere get, and servers elsewhere give."""
    other = (
        "in another network namespace" if dataset.manifest.get("namespaces") else "on another host"
    )
    return [
        Clause(
            "N-clients",
            f"clients {other} got {{value_fall_pct}} fewer queries/s than on their server's own "
            "{interval_fall_pct}",
            f"clients {other} got no fewer queries/s than on their server's own ({{change}})",
            "whether clients on another host get fewer queries/s than on their server's own",
        ),
        *_measured(dataset),
    ]


def _measured(dataset: Dataset) -> Iterator[str]:
    """State the ratios that have an interval, and what serves as the network."""
    ratios = ratio_tables.of_contrasts(dataset.slices).set_index("contrast").dropna(subset="low")
    namespaces = dataset.manifest.get("namespaces")
    where = "in other namespaces" if namespaces else "on other hosts"
    agreed = True
    for name, beside in _SERVERS.items():
        if name in ratios.index:
            words = ("fewer queries than", "more queries than")
            ends = ratios.loc[name, ["ratio", "low", "high"]]
            did = less_or_more(*ends, *(f"{many} {beside}" for many in words))
            finding = held(f"servers {where} did {did}", dataset, name)
            agreed &= not isinstance(finding, Disagreement)
            yield finding
    costs = agreed and (ratios.reindex(list(_SERVERS))["high"] < 1).all()
    # Namespaces share their CPUs, and quotas give each process the same anywhere: both hide what a
    # server beside a data node takes from it.
    if costs and not namespaces and dataset.budget != "scaled":
        yield Advice(
            "A MySQL server beside a data node saves network time, but one host's loss takes both"
        )
    if len(ratios) and dataset.manifest.get("links_encrypted"):
        yield "NDB's links over TCP were encrypted, and shared memory was not: TLS is part of this"
    if len(ratios) and namespaces:
        yield "the hosts are network namespaces of one machine, without a cable between them"
