"""Loads of TPC-C: throughput by point, transactions by kind, aborts, locality, ratios.

A run that left inconsistent rows has failed and gives no number.

tpmC is the number of New-Order transactions a minute (clause 5.4.1). The lab's loads have neither
the keying and think times nor the rows that the specification demands for that name, so here it is
a rate, not a result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from ndblab.dataset.schema import OK
from ndblab.error import MissingData
from ndblab.experiments.tpc_c import INCONSISTENT, TPC_C, TRANSACTIONS
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.statistics import contrasts, summary
from ndblab.statistics.cpu_use import Usage
from ndblab.statistics.estimate import Estimate

BY_WAREHOUSE, BY_KEY = DEFAULT_VARIANT, "by-key"
"""The variants: how tables are partitioned."""
PARTITIONING, SERVERS, MORE_SERVERS = "partitioning", "servers-1-2", "servers-2-4"
"""Names of contrasts."""
COMPARED = {
    PARTITIONING: "by warehouse over by whole key",
    SERVERS: "2 servers over 1",
    MORE_SERVERS: "4 servers over 2",
}
"""What each contrast compares."""
NEW_ORDER = TRANSACTIONS[0]
_POINT = ["variant", "servers", "clients"]


def runs(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the good runs with what they committed and how local their reads were.

    Returns
    -------
    Rows of `runs` with `tps` (transactions a second), `tpm_c`, `failed_share` (of all
    transactions), and `local_share` of the rows read and `pruned_share` of the scans,
    NaN where there were none. MissingData if there is no good run.
    """
    good = summary.good(tables["runs"])
    good = good[good["workload"].astype(str) == TPC_C]
    if good.empty:
        raise MissingData("no good run of TPC-C")
    ids = good["run_id"].astype(str)
    counted = _by_run(tables["transactions"])
    committed, failed = (counted[name].sum(axis=1) for name in ("committed", "failed"))
    tps = good["qps"].astype(float)
    share = counted["committed"][NEW_ORDER] / committed
    locality = tables["locality"]
    return good.assign(
        variant=good["variant"].astype(str),
        tps=tps,
        tpm_c=60 * tps * ids.map(share),
        failed_share=ids.map(failed / (committed + failed)),
        local_share=ids.map(_share(locality, "local_reads", "reads")),
        pruned_share=ids.map(_share(locality, "pruned_scans", "scans")),
    )


def points(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the means of `runs` over each point: `tps`, `tpm_c` and the shares."""
    columns = ["tps", "tpm_c", "failed_share", "local_share", "pruned_share"]
    return runs(tables).groupby(_POINT)[columns].mean().reset_index()


def most_failed(tables: Mapping[str, pd.DataFrame]) -> float:
    """Return the largest share of transactions that failed at a point, slices included."""
    columns = ["run_id", "status", "workload", *_POINT]
    every = pd.concat([tables["runs"][columns], tables["slices"][columns]])
    every = every[(every["status"] == OK) & (every["workload"].astype(str) == TPC_C)]
    counted = tables["transactions"].astype({"run_id": str})
    sums = counted.groupby("run_id")[["committed", "failed"]].sum()
    every = every.astype({"run_id": str, "variant": str}).join(sums, on="run_id")
    at = every.groupby(_POINT)[["committed", "failed"]].sum()
    return float((at["failed"] / at.sum(axis=1)).max())


def kinds(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Add up transactions by kind under the loads that both ways of partitioning had.

    Returns
    -------
    `variant`, `transaction`, `committed`, `failed`, `latency_avg_ms` of those that committed; kinds
    are in the order of the specification.
    """
    in_order = pd.CategoricalDtype(list(TRANSACTIONS))
    mine = _of_variants(tables, "transactions").astype({"transaction": in_order})
    mine = mine.assign(total_ms=mine["latency_avg_ms"].fillna(0) * mine["committed"])
    groups = mine.groupby(["variant", "transaction"], observed=True)
    sums = groups[["committed", "failed", "total_ms"]].sum().reset_index()
    sums["latency_avg_ms"] = sums.pop("total_ms") / sums["committed"]
    return sums.astype({"transaction": str})


def aborts(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Count failed transactions by error and statement, of the same loads as `kinds`.

    Returns
    -------
    `error`, `statement`, and a column of counts for each variant; the most frequent first.
    """
    mine = _of_variants(tables, "aborts")
    if mine.empty:
        return pd.DataFrame(columns=["error", "statement"])
    keys = ["error", "statement"]
    counts = mine.pivot_table("transactions", keys, "variant", "sum", fill_value=0)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].rename_axis(columns=None).reset_index()


def inconsistent(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the statuses of runs and slices that left inconsistent rows, each once."""
    statuses = pd.concat([tables["runs"]["status"], tables["slices"]["status"]]).astype(str)
    return list(dict.fromkeys(statuses[statuses.str.startswith(INCONSISTENT)]))


def ratios(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the ratios of the contrasts that were measured, of throughput and of node CPU.

    Returns
    -------
    `contrast`, `compared` and `quantity` (in words), `blocks`, `ratio`, `low`, `high`. CPU of the
    data nodes per transaction is compared only between ways of partitioning.
    """
    rows = []
    for name, words in COMPARED.items():
        for quantity, ratio in (
            ("transactions/s", contrasts.measured_ratio(tables["slices"], name)),
            ("CPU of the data nodes per transaction", _node_cpu(tables, name)),
        ):
            if not math.isnan(ratio.value):
                blocks = contrasts.whole(tables["slices"], name)["block"].nunique()
                rows.append((name, words, quantity, blocks, *ratio))
    columns = ["contrast", "compared", "quantity", "blocks", "ratio", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _node_cpu(tables: Mapping[str, pd.DataFrame], contrast: str) -> Estimate:
    """Compare the data nodes' CPU time per transaction; NaN where it was not recorded."""
    if contrast != PARTITIONING:
        return Estimate(math.nan)
    slices, roles = tables["slices"], Usage(tables["processes"]).roles
    qps = slices.set_index(slices["run_id"].astype(str))["qps"].astype(float)
    cost = roles.reindex(index=qps.index, columns=["ndbmtd"])["ndbmtd"] / qps
    return contrasts.measured_ratio(slices, contrast, cost)


def _share(locality: pd.DataFrame, part: str, whole: str) -> pd.Series:
    """Return a part of a whole by run; NaN where the whole is 0."""
    by_run = locality.set_index(locality["run_id"].astype(str))
    return by_run[part] / by_run[whole].where(by_run[whole] > 0)


def _by_run(transactions: pd.DataFrame) -> pd.DataFrame:
    """Return `committed` and `failed`, each with a column per kind, by run."""
    plain = transactions.astype({"run_id": str, "transaction": str})
    counts = plain.pivot(index="run_id", columns="transaction", values=["committed", "failed"])
    return counts.astype(float)


def _of_variants(tables: Mapping[str, pd.DataFrame], name: str) -> pd.DataFrame:
    """Return the rows of a table from good loads that both ways of partitioning had, with variant.

    With fewer servers or more clients transactions wait longer, whatever the partitioning.
    """
    runs, slices = tables["runs"], tables["slices"]
    runs = runs[runs["servers"] == runs["servers"].max()]
    slices = slices[slices["contrast"].astype(str) == PARTITIONING]
    columns = ["run_id", "status", "variant", "workload"]
    known = pd.concat([runs[columns], slices[columns]])
    known = known[(known["status"] == OK) & (known["workload"].astype(str) == TPC_C)]
    variants = known.set_index(known["run_id"].astype(str))["variant"].astype(str)
    table = tables[name]
    variant = table["run_id"].astype(str).map(variants)
    text = {"transaction": str} if "transaction" in table else {"statement": str}
    return table.astype(text).assign(variant=variant)[variant.notna()]
