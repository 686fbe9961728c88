"""Runs and slices of the experiment tpc-c, made up for tests; never a measurement."""

from __future__ import annotations

import pandas as pd

import made_up_slices
import small_runs
from ndblab.design import catalogue
from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.experiments.tpc_c.analysis import BY_KEY
from ndblab.planning.point import Point

EXPERIMENT = catalogue.find("tpc-c")
SIZE = EXPERIMENT.size("quick")
RATIO = {"partitioning": 1.3, "servers-1-2": 1.8, "servers-2-4": 1.4}
"""True ratios of transactions per second, by contrast."""
MIX = dict(zip(TRANSACTIONS, (45, 43, 4, 4, 4), strict=True))
FAILED = 3
"""Deliveries of each run that fail."""


def tps(point: Point) -> float:
    """Throughput that the made-up cluster has at a point."""
    served = point.clients / (point.clients + point.servers)
    return 40 * point.servers**0.7 * served / (1.3 if point.variant == BY_KEY else 1.0)


def runs(repeats: int = 3) -> pd.DataFrame:
    """Make the runs of the quick sweep."""
    return small_runs.swept(EXPERIMENT, repeats, tps, latency_p95_ms=float("nan"))


def slices(blocks: int = 6) -> pd.DataFrame:
    """Make slices of every contrast."""
    found = EXPERIMENT.contrasts(EXPERIMENT, SIZE, pd.DataFrame())
    made = [
        made_up_slices.of(each, blocks, ratio=RATIO[each.name], qps=50.0, seed=number)
        for number, each in enumerate(found)
    ]
    return pd.concat(made, ignore_index=True)


def tables(repeats: int = 3, blocks: int = 6) -> dict[str, pd.DataFrame]:
    """Make all tables of a dataset; a transaction by whole key takes twice the CPU."""
    swept, sliced = runs(repeats), slices(blocks)
    both = pd.concat([swept[["run_id", "variant"]], sliced[["run_id", "variant"]]])
    kinds, aborts, local = [], [], []
    for row in both.itertuples():
        by_key = row.variant == BY_KEY
        kinds += [
            {"run_id": row.run_id, "transaction": name, "committed": 2 * weight,
             "failed": FAILED * (name == "delivery"), "latency_avg_ms": 10.0 * (1 + by_key),
             "latency_p95_ms": 20.0}
            for name, weight in MIX.items()
        ]  # fmt: skip
        aborts += [
            {"run_id": row.run_id, "error": 1297, "statement": "UPDATE stock", "transactions": 1},
            {"run_id": row.run_id, "error": 1205, "statement": "SELECT new_order FOR UPDATE",
             "transactions": FAILED - 1},
        ]  # fmt: skip
        local.append(
            {"run_id": row.run_id, "reads": 1000, "local_reads": 600 if by_key else 900,
             "scans": 200, "pruned_scans": 0 if by_key else 150, "transactions": 210,
             "probes": 10, "hinted": 10}
        )  # fmt: skip
    used = [("mysqld", 60.0), ("ndbmtd", 30.0), ("client", 10.0)]
    processes = pd.concat(
        [
            pd.DataFrame(
                {"run_id": sliced["run_id"], "t_s": 4.0, "role": role, "node_id": number,
                 "cpu_pct": pct * (1 + (sliced["variant"] == BY_KEY)), "rss_bytes": 1}
            )
            for number, (role, pct) in enumerate(used)
        ],
        ignore_index=True,
    )  # fmt: skip
    return {
        "runs": swept, "slices": sliced, "processes": processes,
        "transactions": pd.DataFrame(kinds), "aborts": pd.DataFrame(aborts),
        "locality": pd.DataFrame(local),
    }  # fmt: skip
