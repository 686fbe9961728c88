"""What key lookups cost through SQL and through the NDB API, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import plain
from ndblab.judging.answer import Advice, Clause, within_one_start
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("api-ceiling")
def cost_of_sql(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how many lookups a second each interface does at its best, and what SQL costs."""
    found = interfaces.costs(dataset.runs, dataset.processes)
    best = found.loc[found.groupby("variant", sort=False)["qps"].idxmax()]
    each = [f"{row.interface} {plain(row.qps)}" for row in best.itertuples()]
    return [
        Clause(
            "R-nosql",
            "with the same CPU time, the NDB API did {value} times as many lookups as SQL "
            "{interval}",
            "with the same CPU time, the NDB API did only {value} times as many lookups as SQL "
            "{interval}",
            "how many lookups the NDB API does with the CPU time of one through SQL",
        ),
        f"key lookups/s with all CPUs: {'; '.join(each)}{within_one_start(dataset.slices)}",
        Advice(
            "Where key lookups use up the CPUs, take them out of SQL before adding MySQL servers"
        ),
    ]
