"""What key lookups cost through SQL and through the NDB API, in words."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.api_ceiling import AT_ONCE
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import count, listed, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, within_one_start
from ndblab.planning.point import DEFAULT_VARIANT


@answers("api-ceiling")
def cost_of_sql(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how many lookups a second each interface does at its best, and what SQL costs."""
    costs = interfaces.costs(dataset.runs, dataset.processes)
    best = costs.loc[costs.groupby("variant", sort=False)["qps"].idxmax()]
    rates = [f"{row.interface} {plain(row.qps)}" for row in best.itertuples()]
    budgets = {"shared": " with all CPUs", "scaled": " under CPU quotas"}
    with_cpus = budgets.get(dataset.budget, "")
    few = _with_few_clients([*dataset.earlier, dataset])
    did = f"with {_clients(dataset)}equal CPU time, clients' included, the NDB API did"
    return [
        Clause(
            "R-nosql",
            f"{did} {{value}} times the lookups of SQL {{interval}}{few}",
            f"{did} only {{value}} times the lookups of SQL {{interval}}{few}",
            "how many lookups the NDB API does with the CPU time of one through SQL",
        ),
        f"key lookups/s{with_cpus}: {'; '.join(rates)}{within_one_start(dataset.slices)}",
        Advice("Where key lookups use up the CPUs, try the NDB API"),
    ]


def _clients(dataset: Dataset) -> str:
    """Say with how many clients the claim is judged."""
    single = dataset.slices["contrast"].astype(str) == interfaces.SINGLE
    clients = dataset.slices.loc[single, "clients"]
    return f"{count(int(clients.max()), 'client')} and " if len(clients) else ""


def _with_few_clients(recorded: Sequence[Dataset]) -> str:
    """Say how the interfaces compare with fewest clients: the more, the more SQL costs.

    There each recording has a few runs and no contrast, so it has a value and no interval.
    """
    [single] = [name for name, number in AT_ONCE.items() if number == 1]
    times: dict[int, list[str]] = {}
    for data in recorded:
        costs = interfaces.costs(data.runs, data.processes)
        cpu_us = costs.pivot(index="clients", columns="variant", values="cpu_us")
        both = cpu_us.reindex(columns=[DEFAULT_VARIANT, single]).dropna()
        if len(both) > 1:
            fewest = both.loc[both.index.min()]
            value = plain(fewest[DEFAULT_VARIANT] / fewest[single])
            times.setdefault(int(both.index.min()), []).append(value)
    if not times:
        return ""
    clients, values = min(times.items())
    return f"; with {count(clients, 'client')} {listed(values)} times"
