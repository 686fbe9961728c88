"""The answer about TPC-C: partitioning, servers, and whether the rows stayed consistent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.formatting import change, moved, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, held, under_quotas, within_one_start

_SUBJECTS = {
    loads.PARTITIONING: "partitioning tables by warehouse",
    loads.SERVERS: "a second MySQL server",
    loads.MORE_SERVERS: "two more MySQL servers",
}

_MORE_SERVERS = (loads.SERVERS, loads.MORE_SERVERS)


@answers("tpc-c")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what partitioning and servers gain, how local reads are, and what failed."""
    ratios = loads.ratios(dataset.tables)
    ratios = ratios[ratios["low"].notna()]
    said: list[Clause | str] = [*loads.inconsistent(dataset.tables)]
    is_open: list[str] = []
    by_quota: list[str] = []
    for row in ratios.itertuples():
        subject = _SUBJECTS[row.contrast]
        per_transaction = row.quantity != "transactions/s"
        if dataset.budget == "scaled" and row.contrast in _MORE_SERVERS and not per_transaction:
            by_quota.append(change(row.ratio, row.low, row.high))
            continue
        what = "the data nodes' CPU for a transaction" if per_transaction else "throughput"
        did = moved(row.ratio, row.low, row.high, what)
        finding = f"{subject} {did}"
        if per_transaction:
            finding += within_one_start(dataset.slices, row.contrast)
        else:
            finding = held(finding, dataset, row.contrast)
        (is_open if row.low <= 1 <= row.high else said).append(finding)
    return [
        *said,
        *_shares(dataset),
        *is_open,
        *([under_quotas(by_quota)] if by_quota else ()),
        Clause("D-linear", "", "", "what more data nodes gain"),
        Clause("D-2110", "", "", "what RonDB 21.10.1 gains over 21.04.1"),
    ]


def _advice(dataset: Dataset, pruned: pd.Series) -> Iterator[Advice]:
    """Advise to partition by what transactions share, as far as scans or throughput show it."""
    ratios = loads.ratios(dataset.tables)
    by_transactions = ratios["quantity"] == "transactions/s"
    gained = ratios[(ratios["contrast"] == loads.PARTITIONING) & by_transactions]
    gained = gained.dropna(subset="low")
    if pruned[loads.BY_WAREHOUSE] > pruned[loads.BY_KEY] and not (gained["high"] < 1).any():
        is_open = bool((gained["low"] <= 1).any())
        yield Advice(
            "Partition tables by the column that a transaction's statements share: scans then "
            f"read one partition{', though no gain in throughput is certain' * is_open}"
        )


def _shares(dataset: Dataset) -> Iterator[str]:
    """Say how local the reads of both ways are, with the most servers and clients."""
    points = loads.points(dataset.tables)
    most = points.groupby("variant").tail(1).set_index("variant")
    if {loads.BY_WAREHOUSE, loads.BY_KEY} <= set(most.index):
        pruned = (
            f"{100 * most['pruned_share'][way]:.0f} %" for way in (loads.BY_WAREHOUSE, loads.BY_KEY)
        )
        yield (
            "with tables partitioned by warehouse, {} of the scans read a single partition; with "
            "tables partitioned by the whole key, {}".format(*pruned)
        )
        yield from _advice(dataset, most["pruned_share"])
    if not loads.inconsistent(dataset.tables):
        failed = 100 * loads.most_failed(dataset.tables)
        yield (
            f"at most {plain(round(failed, 2))} % of the transactions failed in any configuration, "
            "and all rows that were checked were consistent"
        )
