"""Shares of local reads: by run, by variant and by side of a contrast."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.planning.node import REPLICAS
from ndblab.planning.workload import TRANSACTION_LOOKUPS
from ndblab.statistics import contrasts, summary

LOCAL, NEAR = "local", "near"
"""Share of rows from the data node that coordinates the transaction; share of bytes from the data
nodes near the server: those of its location domain, or its own."""
PRIMARY_ONLY, READ_BACKUP, FULLY_REPLICATED = "primary-only", "read-backup", "fully-replicated"
"""Kinds of tables: READ_BACKUP=0, READ_BACKUP=1, and FULLY_REPLICATED=1 as well."""


def of_runs(reads: pd.DataFrame) -> pd.DataFrame:
    """Return the shares `local` and `near` of all servers together, by the id of a run or slice."""
    counts = reads.drop(columns=["run_id", "node_id"])
    sums = counts.groupby(reads["run_id"].astype(str)).sum()
    local = sums["local_rows"] / sums["rows"]
    near = sums["near_bytes"] / sums["received_bytes"]
    return pd.DataFrame({LOCAL: local, NEAR: near})


def with_shares(runs: pd.DataFrame, reads: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `runs` or `slices` with the columns `local` and `near`."""
    shares, ids = of_runs(reads), runs["run_id"].astype(str)
    return runs.assign(**{name: ids.map(shares[name]) for name in shares})


def of_variants(runs: pd.DataFrame, reads: pd.DataFrame) -> pd.DataFrame:
    """Average the shares of good runs.

    Returns
    -------
    `workload`, `variant`, `runs`, `local`, `near`.
    """
    good = with_shares(summary.good(runs), reads).astype({"workload": str, "variant": str})
    groups = good.groupby(["workload", "variant"], sort=False)
    means = groups.agg(runs=("run_id", "count"), local=(LOCAL, "mean"), near=(NEAR, "mean"))
    return means.reset_index()


def of_contrasts(slices: pd.DataFrame, reads: pd.DataFrame) -> pd.DataFrame:
    """Average the shares on each side of each contrast, over whole blocks.

    Returns
    -------
    `contrast`, `side`, `workload`, `variant`, `blocks`, `local`, `near`.
    """
    tables = []
    for name in dict.fromkeys(slices["contrast"].astype(str)):
        try:
            tables.append(contrasts.whole(slices, name))
        except MissingData:
            continue
    keys = ["contrast", "side", "workload", "variant"]
    columns = [*keys, "blocks", LOCAL, NEAR]
    if not tables:
        return pd.DataFrame(columns=columns)
    measured = with_shares(pd.concat(tables), reads).astype(dict.fromkeys(keys, str))
    groups = measured.groupby(keys, sort=False)
    means = groups.agg(blocks=("block", "nunique"), local=(LOCAL, "mean"), near=(NEAR, "mean"))
    return means.reset_index()[columns]


def expected_local(tables: str, data_nodes: int) -> float:
    """Return the share of local rows if only chance brings rows of a transaction together.

    A transaction is coordinated where its first row is, so that row is local. Any other row is
    local if the coordinating data node may read it: as the only node, one of two, or any node.

    >>> expected_local(PRIMARY_ONLY, 4), expected_local(READ_BACKUP, 4)
    (0.325, 0.55)
    """
    readers = {PRIMARY_ONLY: 1, READ_BACKUP: REPLICAS, FULLY_REPLICATED: data_nodes}[tables]
    return (1 + (TRANSACTION_LOOKUPS - 1) * readers / data_nodes) / TRANSACTION_LOOKUPS


def expected(data_nodes: int) -> pd.DataFrame:
    """Return `tables` and the share `local` that chance gives in transactions of ten lookups."""
    kinds = (PRIMARY_ONLY, READ_BACKUP, FULLY_REPLICATED)
    rows = [(kind, expected_local(kind, data_nodes)) for kind in kinds]
    return pd.DataFrame(rows, columns=["tables", LOCAL])
