"""Which method the lab predicts with: a rule over recorded comparisons, and what it says.

Throughput and p95 are chosen apart, between the capacity model and the simpler methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ndblab.experiments.capacity.comparison import GOAL_PCT, MODEL, simpler
from ndblab.experiments.capacity.model import Shares
from ndblab.formatting import count, listed, plain, sentence

WORDS = {"qps": "throughput", "latency_p95_ms": "p95"}


def in_use(tables: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Choose the method by which the lab predicts each metric, from recorded comparisons.

    The rule, written after the errors had been seen: the method whose median error is the smallest,
    averaged over the comparisons. One is with another sweep, whose host has drifted; one with the
    same sweep, which leaves the method's own error. A user's sweep may be either.

    Parameters
    ----------
    tables : of `verdicts`, one of each comparison.

    Returns
    -------
    The name of the method by metric.
    """
    medians = pd.concat(tables).groupby(["metric", "name"], sort=False)["median_pct"].mean()
    return {metric: medians[metric].idxmin() for metric in GOAL_PCT}


def with_p95(
    predicted: pd.DataFrame, by: str, alone: pd.DataFrame, runs: pd.DataFrame, shares: Shares
) -> pd.DataFrame:
    """Replace the p95 of a prediction by that of a method, and say in `p95_by` whose it is.

    Beyond the fitted clients per server no simple method was tested, and the model's stays.

    Parameters
    ----------
    predicted : of `model.predict`; the others are those of `simpler`.
    """
    if by == MODEL:
        return predicted.assign(p95_by=MODEL)
    simple = simpler(alone, runs, shares, predicted, (by,))["latency_p95_ms"].to_numpy()
    tested = predicted["extrapolated"] == ""
    return predicted.assign(
        p95_by=np.where(tested, by, MODEL),
        latency_p95_ms=np.where(tested, simple, predicted["latency_p95_ms"]),
    )


def advised(methods: Mapping[str, str], metric: str) -> str:
    """Say by which method a metric is to be predicted, and that the lab does so."""
    name, word = methods[metric], WORDS[metric]
    if name == MODEL:
        return f"for {word} use the model: ./lab predict does"
    return f'for {word} use a simple method, "{name}", and not the model: ./lab predict does'


def in_words(methods: Mapping[str, str], tables: Sequence[pd.DataFrame]) -> str:
    """Say it of every metric, with the errors of that method and whether they meet the goal.

    `methods` are those of `in_use`, `tables` of `verdicts`.
    """
    said = []
    for metric, name in methods.items():
        rows = [table.set_index(["name", "metric"]).loc[name, metric] for table in tables]
        off = [row["median_pct"] for row in rows]
        met = sum(error <= GOAL_PCT[metric] for error in off)
        said += [
            advised(methods, metric),
            f"its median errors are {listed(map(plain, off))} %, so its goal of "
            f"{plain(GOAL_PCT[metric])} % is met in {met} of {count(len(off), 'comparison')}",
        ]
    return " ".join(map(sentence, said))


def apart_in_words(apart: pd.DataFrame) -> str:
    """Say how far one server in one sweep was from one in another, given rows of `errors`."""
    off = apart["ape_pct"]
    if off.empty:
        return "The tested sweep has no run of one server."
    return (
        f"One server alone differs by {plain(off.median())} % at the median "
        f"({plain(off.min())} to {plain(off.max())} %). No prediction that is fitted to one sweep "
        "can be expected to come nearer to the other than that."
    )
