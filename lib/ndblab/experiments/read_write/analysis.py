"""OLTP read/write: runs without a variation, CPUs without quotas, and the ratios of contrasts."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.read_write import TRANSACTION_QUERIES, lookups
from ndblab.planning.workload import READ_WRITE
from ndblab.statistics import contrasts, summary
from ndblab.statistics.cpu_use import QUERY_ROLES, Usage
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

SERVERS, MORE_SERVERS, FILTER, DATA_NODES = "servers-1-2", "servers-2-4", "filter", "data-nodes"
PROCESSES, LOOKUPS, UNDIVIDED = "processes-4", "lookups", "undivided"
"""Names of contrasts."""
RATIOS = {
    SERVERS: "2 servers over 1",
    MORE_SERVERS: "4 servers over 2",
    FILTER: "filtered over plain ranges",
    DATA_NODES: "data nodes: all CPUs over half",
    PROCESSES: "4 processes of sysbench over 1",
    "in-10-1": "lookups: 10 keys a list over 1",
    "in-100-10": "lookups: 100 keys a list over 10",
    LOOKUPS: "lookups: best lists over singles",
}
"""What each contrast with two sides compares; lookups are counted by keys, others by queries."""
_OF_KEYS = "lookups"


def transactions(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the good runs of unfiltered read/write under one process of sysbench, with `tps`.

    Runs that leave servers idle are left out. MissingData if there is no other.
    """
    mine = summary.select(summary.good(runs), workload=READ_WRITE)
    mine = mine[mine["clients"] >= mine["servers"]]
    if mine.empty:
        raise MissingData(f"no good run of {READ_WRITE}")
    return mine.assign(tps=mine["qps"].astype(float) / TRANSACTION_QUERIES)


def undivided_cpus(newest: Dataset) -> pd.Series:
    """Return the logical CPUs that each role used in filtered transactions without quotas.

    They are those of the newest recording that has them; empty if none has.
    """
    for recording in (newest, *reversed(newest.earlier)):
        with contextlib.suppress(MissingData):
            whole = contrasts.whole(recording.tables["slices"], UNDIVIDED)
            usage = Usage(recording.tables["processes"])
            used = usage.of_roles(list(whole["run_id"].astype(str))).mean() / 100
            return used.reindex(list(QUERY_ROLES)).dropna()
    return pd.Series(dtype=float)


def ratio(slices: pd.DataFrame, contrast: str) -> Estimate:
    """Return the ratio of a contrast, of lookups if it compares keys; MissingData without one."""
    of_keys = RATIOS[contrast].startswith(_OF_KEYS)
    quantity = lookups.per_s(slices) if of_keys else "qps"
    return contrasts.ratio(contrasts.log_ratios(slices, contrast, quantity))


def ratios(slices: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios that were measured.

    Returns
    -------
    `contrast`, `compared` (in words), `blocks`, `ratio`, `low`, `high`.
    """
    rows = []
    for name, words in RATIOS.items():
        try:
            blocks = contrasts.whole(slices, name)["block"].nunique()
            rows.append((name, words, blocks, *ratio(slices, name)))
        except MissingData:
            continue
    return pd.DataFrame(rows, columns=["contrast", "compared", "blocks", "ratio", "low", "high"])
