"""Runs and slices of the experiment read-write, made up for tests; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import made_up_slices
import small_runs
from experiments import planned
from ndblab.design import catalogue
from ndblab.experiments.read_write import FILTERED, IN_KEYS
from ndblab.planning import workload
from ndblab.planning.point import Point

EXPERIMENT = catalogue.find("read-write")
RATIO = {"servers-1-2": 1.9, "servers-2-4": 1.3, "filter": 1.3, "data-nodes": 2.0,
         "in-10-1": 0.4, "in-100-10": 0.3, "lookups": 0.12, "processes-4": 1.0}  # fmt: skip
"""True ratios of queries per second, by contrast."""


def qps(point: Point) -> float:
    """Throughput that the made-up cluster has at a point."""
    served = point.clients / (point.clients + point.servers)
    if point.workload in (workload.READ_WRITE, FILTERED):
        served *= 1.3 if point.workload == FILTERED else 1.0
        return 600 * min(point.servers, 2.5) * served
    return 8000 * served / IN_KEYS.get(point.variant, 1) ** 0.5


def runs(repeats: int = 3) -> pd.DataFrame:
    """Make the runs of the quick sweep."""
    return small_runs.swept(EXPERIMENT, repeats, qps)


def slices(blocks: int = 5) -> pd.DataFrame:
    """Make slices of every contrast."""
    made = [
        made_up_slices.of(contrast, blocks, ratio=RATIO.get(name, 1.0), seed=number)
        for number, (name, contrast) in enumerate(planned.contrasts(EXPERIMENT).items())
    ]
    return pd.concat(made, ignore_index=True)


def tables(repeats: int = 3, blocks: int = 5) -> Mapping[str, pd.DataFrame]:
    """Make `runs`, `slices` and the `processes` of the slices; mysqld uses most of the CPU."""
    rows = slices(blocks)
    used = [("mysqld", 60.0), ("ndbmtd", 30.0), ("sysbench", 10.0)]
    processes = pd.concat(
        [
            pd.DataFrame(
                {"run_id": rows["run_id"], "t_s": 4.0, "role": role, "node_id": number,
                 "cpu_pct": pct, "rss_bytes": 1}
            )
            for number, (role, pct) in enumerate(used)
        ],
        ignore_index=True,
    )  # fmt: skip
    return {"runs": runs(repeats), "slices": rows, "processes": processes}
