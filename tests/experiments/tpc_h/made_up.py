"""Slices and pushed joins of TPC-H's queries made up for tests; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import made_up_slices
import small_runs
from experiments import planned
from ndblab.design import catalogue
from ndblab.experiments.tpc_h import of_query

EXPERIMENT = catalogue.find("tpc-h")
CONTRASTS = planned.contrasts(EXPERIMENT)


def tables(
    ratios: Mapping[int, float], blocks: int = 4, unpushed: tuple[int, ...] = ()
) -> dict[str, pd.DataFrame]:
    """Make the tables of queries that are so many times as fast with pushed joins.

    Parameters
    ----------
    ratios : by number of query.
    unpushed : queries of which NDB is given nothing.
    """
    slices = pd.concat(
        [
            made_up_slices.of(CONTRASTS[f"q{n:02d}"], blocks, ratio=ratio, qps=10.0, seed=n)
            for n, ratio in ratios.items()
        ],
        ignore_index=True,
    )
    runs = pd.concat(
        [
            small_runs.tables(
                f"s01_c0001_r1_tpc_h_q{n:02d}{'_no-pushdown' * (variant != 'default')}",
                workload=of_query(n), variant=variant, qps=qps,
            )["runs"]
            for n, ratio in ratios.items()
            for variant, qps in (("default", 10.0 * ratio), ("no-pushdown", 10.0))
        ],
        ignore_index=True,
    )  # fmt: skip
    rows = [
        {
            "run_id": row.run_id, "query": int(row.workload[-2:]), "executions": 4, "rows": 5,
            "tables": 3, "joins": int(pushes), "joined": 3 * pushes, "defined": int(pushes),
            "dropped": 0, "executed": 4 * pushes, "reads": 400 * pushes, "innodb_ms": 12.0,
        }
        for row in pd.concat([slices, runs]).itertuples()
        for pushes in [row.variant == "default" and int(row.workload[-2:]) not in unpushed]
    ]  # fmt: skip
    return {"slices": slices, "runs": runs, "pushed": pd.DataFrame(rows)}
