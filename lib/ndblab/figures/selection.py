"""Which runs a figure shows: of one kind, and good.

It computes nothing, and never mixes two kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ndblab import formatting
from ndblab.error import LabError
from ndblab.statistics import summary

Tables = Mapping[str, pd.DataFrame]

DEFAULT = "default"
TRANSPORTER = "transporter"
POINT_SELECT = "oltp_point_select"


def of_one_kind(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs, good or not, of one workload over SHM without a variant.

    If the cluster has TCP only, they are the runs over TCP: `runs.attrs` say so (`TRANSPORTER`).
    Of several workloads, the brief's point selects are taken, else the one with the most runs.
    LabError if there are none.
    """
    transporter = runs.attrs.get(TRANSPORTER, "shm")
    plain = runs[(runs["transporter"] == transporter) & (runs["variant"] == DEFAULT)]
    workloads = plain["workload"].astype(str)
    if workloads.empty:
        kinds = runs[["transporter", "workload", "variant"]].drop_duplicates()
        shown = [" ".join(map(str, kind)) for kind in kinds.itertuples(index=False)]
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        raise LabError(
            "The dataset has no run of the kind that this figure shows",
            found="; ".join(shown[:3]) + more if shown else "no run",
            expected=f"any workload over shm, variant {DEFAULT}",
            next_step="Choose a dataset of the experiment that this figure belongs to.",
        )
    known = (workloads == POINT_SELECT).any()
    return plain[workloads == (POINT_SELECT if known else workloads.mode().iloc[0])]


def good(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that are averaged; LabError if there are none."""
    averaged = summary.good(runs)
    if averaged.empty:
        raise nothing_to_draw("no good run")
    return averaged


def in_words(run: pd.Series) -> list[str]:
    """Describe a run's servers and clients: "2 servers", "8 clients"."""
    return [formatting.count(int(run[f"{what}s"]), what) for what in ("server", "client")]


def nothing_to_draw(reason: str) -> LabError:
    """Make the error of a figure without data."""
    return LabError(
        "The figure has nothing to draw",
        found=reason,
        expected="at least one",
        next_step="See the columns status and errors in runs.csv for the reason.",
    )
