"""What key lookups cost through SQL and through the NDB API, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import plain
from ndblab.judging.answer import Clause
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
        f"key lookups per second with all CPUs: {'; '.join(each)}",
        Clause(
            "R-nosql",
            "the NDB API does {value} times {interval} the lookups of SQL with the same CPU time",
            "the NDB API does only {value} times {interval} the lookups of SQL with the same CPU "
            "time",
            "how many lookups the NDB API does with the CPU time of one through SQL",
        ),
    ]
