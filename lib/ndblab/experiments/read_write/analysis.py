"""OLTP read/write and its variations: the runs of each question, and the ratios of contrasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.read_write import TRANSACTION_QUERIES, lookups
from ndblab.planning.point import DEFAULT_VARIANT
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


@dataclass(frozen=True)
class Variations:
    """Good runs by question, with the column `tps`; a table is empty if nothing was measured.

    `plain` has every number of servers; the others have the largest, `servers`. `processes` has a
    column of that name; `lists` is as in `lookups.best`. `cpus` are the logical CPUs that each role
    used in transactions with filtered ranges that no quota limits.
    """

    plain: pd.DataFrame
    processes: pd.DataFrame
    lists: pd.DataFrame
    cpus: pd.Series
    servers: int


def of(tables: Mapping[str, pd.DataFrame]) -> Variations:
    """Sort `runs`, and CPU of `processes` in `slices`, by question.

    MissingData if there is no good run of read/write.
    """
    runs = summary.good(tables["runs"])
    runs = runs[runs["clients"] >= runs["servers"]]
    words = {name: runs[name].astype(str) for name in ("workload", "variant")}
    runs = runs.assign(**words, tps=runs["qps"].astype(float) / TRANSACTION_QUERIES)
    mine = runs[runs["workload"] == READ_WRITE]
    plain = mine[mine["variant"] == DEFAULT_VARIANT]
    if plain.empty:
        raise MissingData(f"no good run of {READ_WRITE}")
    most = int(plain["servers"].max())
    number = mine["variant"].str.extract(r"^processes-(\d+)$")[0].astype(float)
    split = mine.assign(processes=number.where(mine["variant"] != DEFAULT_VARIANT, 1.0))
    split = split[split["processes"].notna() & (split["servers"] == most)]
    alike = split["clients"].isin(split.loc[split["processes"] > 1, "clients"])
    top = runs[runs["servers"] == most]
    cpus = _cpus(tables["slices"], tables["processes"])
    return Variations(plain, split[alike], lookups.best(top), cpus, most)


def undivided_cpus(newest: Dataset) -> pd.Series:
    """Return the CPUs (`Variations.cpus`) of the newest recording that has them; empty if none."""
    known = [of(recording.tables).cpus for recording in (newest, *reversed(newest.earlier))]
    return next((cpus for cpus in known if len(cpus)), known[0])


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


def _cpus(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.Series:
    """Return the logical CPUs that each role used without quotas; empty if not measured."""
    try:
        whole = contrasts.whole(slices, UNDIVIDED)
        usage = Usage(processes)
        used = usage.of_roles([str(name) for name in whole["run_id"]]).mean() / 100
    except MissingData:
        return pd.Series(dtype=float)
    return used.reindex(list(QUERY_ROLES)).dropna()
