"""Which runs of a dataset the capacity model is fitted to, and what makes a dataset unfit.

In: a dataset. Out: its runs and what they used, or an error that says what to measure. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ndblab.analysis import formatting, summary
from ndblab.capacity import demand, model
from ndblab.claims import evidence
from ndblab.error import LabError, MissingData

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

MEASURE = "Measure it: ./lab reproduce --experiment single-server-scaling"


def alone(data: Dataset) -> pd.DataFrame:
    """Give the runs of one MySQL server, good or not: point selects over shared memory."""
    runs = summary.select(data.runs)
    return runs[runs["servers"] == 1]


def good(runs: pd.DataFrame) -> pd.DataFrame:
    """Give the runs that are averaged."""
    return summary.good(runs)


def lost(runs: pd.DataFrame) -> str:
    """Say how many runs are not averaged, and why; empty where all are."""
    why = summary.why_excluded(runs)
    reasons = why[why != ""].value_counts()
    if reasons.empty:
        return ""
    each = ", ".join(f"{number} x {reason}" for reason, number in reasons.items())
    return f"{reasons.sum()} of {formatting.count(len(runs), 'run')} left out: {each}"


def demands(data: Dataset) -> pd.DataFrame:
    """Give what the runs of a dataset used, as `capacity.demand.measured` does.

    Raises
    ------
    Unfit
        If too few numbers of clients have a good run of one server, or nothing tells what it used.
    """
    runs = alone(data)
    counts = sorted(int(c) for c in good(runs)["clients"].unique())
    if len(counts) < model.LEAST_CLIENT_COUNTS:
        found = "no run" if runs.empty else "no good run"
        if counts:
            found = f"good runs with {formatting.listed(map(str, counts))} clients"
        told = [f"{found} of one server in {data.id}", lost(runs)]
        raise model.Unfit(
            "The capacity model needs a sweep of one MySQL server",
            found="; ".join(part for part in told if part),
            expected="good runs of point selects over shared memory with at least "
            f"{model.LEAST_CLIENT_COUNTS} numbers of clients",
            next_step=MEASURE,
        )
    return used(data)


def used(data: Dataset) -> pd.DataFrame:
    """Give what all runs of the plain cluster used, of however many servers.

    Raises
    ------
    Unfit
        If nothing tells of it.
    """
    runs = summary.select(data.runs)
    try:
        return demand.measured(runs, data.processes, data.ndb_threads)
    except MissingData as missing:
        raise model.Unfit(
            "The dataset does not tell what its runs used",
            found=f"{missing} in {data.id}",
            expected="the CPU of processes and of NDB threads",
            next_step=MEASURE,
        ) from missing


def shares(data: Dataset) -> model.Shares:
    """Read off a dataset's plan who may use which CPUs.

    Raises
    ------
    Unfit
        If its budget divides nothing.
    """
    return model.shares(data.manifest["plan"], evidence.usable_cpus(data.host))


def check_alike(fitted: Dataset, tested: Dataset) -> None:
    """Refuse to hold the model of one host, or of one budget, against another.

    Raises
    ------
    LabError
        If budget or logical CPUs differ.
    """
    own, theirs = (
        f"budget {data.budget} and {evidence.usable_cpus(data.host):g} logical CPUs"
        for data in (fitted, tested)
    )
    if own != theirs:
        raise LabError(
            "The model of one cluster cannot be held against another",
            found=f"{theirs} in {tested.id}",
            expected=f"{own} as in {fitted.id}",
            next_step="Give a dataset that was measured on the same host in the same way.",
        )
