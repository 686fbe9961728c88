"""What key lookups cost through SQL and through the NDB API, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.api_ceiling import AT_ONCE
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import count, plain
from ndblab.judging.answer import Advice, Clause, within_one_start
from ndblab.judging.answers import answers
from ndblab.planning.point import DEFAULT_VARIANT

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
        *_with_few_clients(found),
        f"key lookups/s with all CPUs: {'; '.join(each)}{within_one_start(dataset.slices)}",
        Advice(
            "Where key lookups use up the CPUs, take them out of SQL before adding MySQL servers"
        ),
    ]


def _with_few_clients(costs: pd.DataFrame) -> Iterator[str]:
    """Say how the interfaces compare with fewest clients: the more, the more SQL costs."""
    [single] = [name for name, number in AT_ONCE.items() if number == 1]
    cpu_us = costs.pivot(index="clients", columns="variant", values="cpu_us")
    both = cpu_us.reindex(columns=[DEFAULT_VARIANT, single]).dropna()
    if len(both) > 1:
        fewest = both.loc[both.index.min()]
        times = plain(fewest[DEFAULT_VARIANT] / fewest[single])
        yield f"with {count(both.index.min(), 'client')} it was {times} times as many"
