"""Dumps: their time, their size, and what compression saves."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.dump import COMPRESSIONS
from ndblab.statistics import estimate, summary

MB = 1e6


def of(runs: pd.DataFrame, dumps: pd.DataFrame) -> pd.DataFrame:
    """Return the good dumps during which nothing else ran; MissingData if there is no such dump.

    Returns
    -------
    The columns of `dumps` and `duration_s`, `content_mb`, `written_mb` (1 MB is 10^6 bytes),
    `ratio` of the two, and `mb_per_s` of content.
    """
    good = summary.good(runs[~summary.disturbed(runs)])
    table = good[["run_id", "duration_s"]].merge(dumps, on="run_id")
    if table.empty:
        beside = int(summary.disturbed(runs).sum())
        why = f": other processes used the CPUs beside {beside} of {len(runs)}" if beside else ""
        raise MissingData(f"no good dump{why}")
    table["content_mb"] = table["content_bytes"] / MB
    table["written_mb"] = table["written_bytes"] / MB
    table["ratio"] = table["content_bytes"] / table["written_bytes"]
    table["mb_per_s"] = table["content_mb"] / table["duration_s"]
    return table


def by_compression(dumps: pd.DataFrame) -> pd.DataFrame:
    """Average the dumps of `of` by tool and compression, the uncompressed first.

    Returns
    -------
    `tool`, `compression`, `dumps` (their number), `duration_s` with its 95 % interval `low`,
    `high`, and `mb_per_s`, `content_mb`, `written_mb`, `ratio`.
    """
    means, rows = ["mb_per_s", "content_mb", "written_mb", "ratio"], []
    for (tool, compression), kind in dumps.groupby(["tool", "compression"], observed=True):
        taken_s = estimate.positive(kind["duration_s"])
        rows.append((str(tool), str(compression), len(kind), *taken_s, *kind[means].mean()))
    columns = ["tool", "compression", "dumps", "duration_s", "low", "high", *means]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "compression", key=lambda kinds: kinds.map(COMPRESSIONS.index), kind="stable",
        ignore_index=True,
    )  # fmt: skip
