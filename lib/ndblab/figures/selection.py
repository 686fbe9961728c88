"""Which runs a figure is drawn of: of one kind, and good.

In: the tables of a dataset. Out: rows of them. It computes nothing, and mixes no two kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ndblab.analysis import summary
from ndblab.error import LabError

Tables = Mapping[str, pd.DataFrame]

DEFAULT = "default"
POINT_SELECT = "oltp_point_select"


def with_variant(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the runs with the column `variant`, which datasets of older versions lack."""
    return runs if "variant" in runs.columns else runs.assign(variant=DEFAULT)


def of_kind(
    tables: Tables,
    transporter: str = "shm",
    workload: str = POINT_SELECT,
    variant: str = DEFAULT,
    servers: int | None = None,
) -> pd.DataFrame:
    """Give the runs of one kind, good or not.

    Raises
    ------
    LabError
        If there is none.
    """
    runs = with_variant(tables["runs"])
    kinds = runs[["transporter", "workload", "variant"]]
    wanted = runs["transporter"] == transporter
    wanted &= (runs["workload"] == workload) & (runs["variant"] == variant)
    if servers is not None:
        wanted &= runs["servers"] == servers
    if not wanted.any():
        there = kinds.assign(servers=runs["servers"]).drop_duplicates()
        shown = [
            f"{k.transporter} {k.workload} {k.variant} with {k.servers} servers"
            for k in there.itertuples()
        ]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        raise LabError(
            "The dataset has no run of the kind that this figure shows",
            found="; ".join(shown[:3]) + more if shown else "no run",
            expected=f"{transporter} {workload} {variant}"
            + ("" if servers is None else f" with servers = {servers}"),
            next_step="Choose a dataset of the experiment that this figure belongs to.",
        )
    return runs[wanted]


def good(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the runs that are averaged.

    Raises
    ------
    LabError
        If there is none.
    """
    kept = summary.good(runs)
    if kept.empty:
        raise nothing_to_draw("no good run")
    return kept


def nothing_to_draw(found: str) -> LabError:
    """Say that a figure has no data."""
    return LabError(
        "The figure has nothing to draw",
        found=found,
        expected="at least one",
        next_step="The marks of the points say why: see status and errors in runs.csv.",
    )
