"""Runs, slices and reads of read-locality, made up for tests; never a measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

import made_up_slices
import small_runs
from experiments import planned
from made_up import Double
from ndblab.design import catalogue
from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED
from ndblab.planning.workload import POINT_SELECT

EXPERIMENT = catalogue.find("read-locality")
CONTRASTS = planned.contrasts(EXPERIMENT)
LOCAL = {"default": 0.55, "read-backup": 0.55, "primary-only": 0.325, "fully-replicated": 1.0,
         "domains": 0.55, "domains-primary-only": 0.325}  # fmt: skip
NEAR = {"default": 0.25, "read-backup": 0.5, "primary-only": 0.25, "fully-replicated": 0.99,
        "domains": 0.99, "domains-primary-only": 0.5}  # fmt: skip
"""Shares by variant; single lookups are always local to their transaction."""


def reads(
    runs: pd.DataFrame,
    local: Mapping[str, float] = LOCAL,
    near: Mapping[str, float] = NEAR,
) -> pd.DataFrame:
    """Make the reads of runs or slices: two servers each, one of which reads twice as much."""
    rows = []
    for _, run in runs.iterrows():
        single = run["workload"] == POINT_SELECT
        share = 1.0 if single else local[run["variant"]]
        for server, number in ((11, 40_000), (12, 80_000)):
            received = 200 * number
            rows.append((run["run_id"], server, number, round(share * number), received,
                         round(near[run["variant"]] * received)))  # fmt: skip
    columns = ["run_id", "node_id", "rows", "local_rows", "received_bytes", "near_bytes"]
    return pd.DataFrame(rows, columns=columns)


def runs(repeats: int = 3, qps: Callable[[str], float] = lambda variant: 1000.0) -> pd.DataFrame:
    """Make the runs of the quick sweep."""
    return small_runs.swept(EXPERIMENT, repeats, lambda point: qps(point.variant))


def slices(
    blocks: int = 5, names: tuple[str, ...] = tuple(CONTRASTS), slower: float = 1.0
) -> pd.DataFrame:
    """Make slices of these contrasts; side A has 1.2 times the throughput.

    Parameters
    ----------
    slower : p95 of fully replicated tables over that of the others.
    """
    made = [
        made_up_slices.of(CONTRASTS[name], blocks, ratio=1.2, seed=number)
        for number, name in enumerate(names)
    ]
    every = pd.concat(made, ignore_index=True)
    p95_ms = np.random.default_rng(3).lognormal(0.4, 0.02, len(every))
    full = every["variant"].astype(str) == FULLY_REPLICATED
    return every.assign(latency_p95_ms=p95_ms * full.map({True: slower, False: 1.0}))


def tables(repeats: int = 3) -> dict[str, pd.DataFrame]:
    """Make `runs` and their `reads`."""
    made = runs(repeats)
    return {"runs": made, "reads": reads(made)}


def dataset(
    blocks: int = 5,
    names: tuple[str, ...] = tuple(CONTRASTS),
    local: Mapping[str, float] = LOCAL,
    near: Mapping[str, float] = NEAR,
    slower: float = 1.0,
) -> Double:
    """Make a dataset with all runs, and with blocks of these contrasts."""
    made, pieces = runs(), slices(blocks, names, slower)
    return Double(
        made,
        slices=pieces,
        reads=reads(pd.concat([made, pieces]), local, near),
        manifest={
            "contrasts": [contrast.to_dict() for contrast in CONTRASTS.values()],
            "plan": {"data_nodes": [{}] * 4},
        },
    )
