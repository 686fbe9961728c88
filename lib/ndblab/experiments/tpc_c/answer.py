"""The answer about TPC-C: partitioning, servers, and whether the rows stayed consistent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.tpc_c import analysis as loads
from ndblab.formatting import plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

_THROUGHPUT = {
    loads.PARTITIONING: "tables partitioned by warehouse carry {} the transactions of those "
    "partitioned by whole key",
    loads.SERVERS: "two servers carry {} as many as one",
    loads.MORE_SERVERS: "four servers carry {} as many as two",
}


@answers("tpc-c")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what partitioning and servers bring, how local reads are, and what failed."""
    found = loads.ratios(dataset.tables)
    found = found[found["low"].notna()]
    said: list[Clause | str] = [*loads.inconsistent(dataset.tables)]
    for row in found.itertuples():
        words = f"{plain(row.ratio)} times ({plain(row.low)} to {plain(row.high)})"
        if row.contrast == loads.PARTITIONING and row.quantity != "transactions/s":
            said.append(f"their data nodes need {words} the CPU for a transaction")
        else:
            said.append(_THROUGHPUT[row.contrast].format(words))
    said += _shares(dataset)
    return [
        *said,
        Clause("D-linear", "", "", "what more data nodes bring"),
        Clause("D-2110", "", "", "what RonDB 21.10.1 gains over 21.04.1"),
    ]


def _shares(dataset: Dataset) -> Iterator[str]:
    """Say how local the reads of both ways are, with the most servers and clients."""
    points = loads.points(dataset.tables)
    most = points.groupby("variant").tail(1).set_index("variant")
    if {loads.BY_WAREHOUSE, loads.BY_KEY} <= set(most.index):
        pruned = (
            f"{100 * most['pruned_share'][way]:.0f} %" for way in (loads.BY_WAREHOUSE, loads.BY_KEY)
        )
        yield "{} against {} of their scans read a single partition".format(*pruned)
    if not loads.inconsistent(dataset.tables):
        failed = 100 * points["failed_share"].max()
        yield (
            f"at most {plain(round(failed, 2))} % of the transactions of a point fail, and all "
            "rows stay consistent"
        )
