"""What each query of TPC-H gains from pushed joins, and which part of it is pushed.

A run or slice with another result than InnoDB's has failed and gives no number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ndblab.dataset.schema import OK
from ndblab.error import MissingData
from ndblab.experiments.tpc_h import TPC_H, WRONG_RESULT, query_number
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.statistics import contrasts, recordings
from ndblab.statistics.estimate import Estimate

PUSHED, UNPUSHED = DEFAULT_VARIANT, "no-pushdown"
"""The variants that are compared."""
FASTER, SLOWER, OPEN = "faster", "slower", "open"
_COUNTED = ("rows", "tables", "joins", "joined")


def contrast_name(query: int) -> str:
    """Name the contrast of a query.

    >>> contrast_name(5)
    'q05'
    """
    return f"q{query:02d}"


def table(slices: pd.DataFrame, runs: pd.DataFrame, pushed: pd.DataFrame) -> pd.DataFrame:
    """Compare each query with pushed joins and without; MissingData if there is no query at all.

    Returns
    -------
    One row per query, in their order. `ratio` is how many times as fast the query is with pushed
    joins, `low` and `high` its interval, by `blocks`; without a whole block it is that of the
    sweep, without an interval. `gain` is "faster" or "slower" if the interval says so, else "open".
    `pushed_ms` and `unpushed_ms` are mean times of an execution, `innodb_ms` is that of the single
    one in InnoDB. Of the `tables` that the plan reads, `joined` are in `joins` pushed joins, whose
    `reads` are per execution; `is_pushed` says if there were any. `rows` are those of the result.
    `why` says why a query has no ratio.
    """
    columns = ["run_id", "status", "workload", "variant", "qps"]
    measured = pd.concat([slices[columns], runs[columns]], ignore_index=True)
    workloads = measured["workload"].astype(str)
    measured = measured[workloads.str.startswith(TPC_H)]
    if measured.empty:
        raise MissingData("no query of TPC-H")
    rows = [
        _row(query_number(str(name)), mine, slices, pushed)
        for name, mine in measured.groupby("workload", observed=True)
    ]
    return pd.DataFrame(rows).sort_values("query", ignore_index=True)


def wrong(slices: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Return the statuses of runs and slices with another result than InnoDB's, each once."""
    statuses = pd.concat([runs["status"], slices["status"]]).astype(str)
    return list(dict.fromkeys(statuses[statuses.str.contains(WRONG_RESULT, regex=False)]))


def _row(
    query: int, measured: pd.DataFrame, slices: pd.DataFrame, pushed: pd.DataFrame
) -> dict[str, object]:
    good = measured[(measured["status"] == OK) & (measured["qps"] > 0)]
    ratio = contrasts.measured_ratio(slices, contrast_name(query))
    timed, blocks = good, 0
    if not math.isnan(ratio.value):
        # Times of other runs may contradict a ratio of blocks.
        timed = contrasts.whole(slices, contrast_name(query))
        blocks = timed["block"].nunique()
    rates = np.exp(np.log(timed["qps"]).groupby(timed["variant"].astype(str)).mean())
    times_ms = {name: 1000 / rates.get(name, math.nan) for name in (PUSHED, UNPUSHED)}
    if not blocks:
        ratio = Estimate(times_ms[UNPUSHED] / times_ms[PUSHED])
    why = ""
    if math.isnan(ratio.value):
        why = next(iter(measured["status"][measured["status"] != OK].astype(str)), "not measured")
    return {
        "query": query,
        "ratio": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "blocks": blocks,
        "gain": _gain(ratio),
        "pushed_ms": times_ms[PUSHED],
        "unpushed_ms": times_ms[UNPUSHED],
        **_pushed(good[good["variant"].astype(str) == PUSHED], pushed),
        "why": why,
    }


def together(newest: pd.DataFrame, recorded: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the newest recording's `table`, with each query's ratio from all recordings together.

    A query that one recording lacks is open.
    """
    pooled = newest.copy()
    for at, query in newest["query"].items():
        try:
            ratio = of_recordings(query, recorded)
        except MissingData:
            ratio = Estimate(math.nan)
        pooled.loc[at, ["ratio", "low", "high"]] = list(ratio)
        pooled.loc[at, "gain"] = _gain(ratio)
    return pooled


def _gain(ratio: Estimate) -> str:
    return FASTER if ratio.low > 1 else SLOWER if ratio.high < 1 else OPEN


def of_recordings(query: int, recorded: Sequence[pd.DataFrame]) -> Estimate:
    """Return how many times as fast a query is with pushed joins, by the slices of recordings."""
    name = contrast_name(query)
    return recordings.of_contrast([contrasts.log_ratios(slices, name) for slices in recorded])


def _pushed(good: pd.DataFrame, pushed: pd.DataFrame) -> dict[str, object]:
    """Return what was pushed in the last run; plans follow from statistics that never change."""
    mine = pushed[pushed["run_id"].isin(good["run_id"])]
    if mine.empty:
        nothing = dict.fromkeys(_COUNTED, 0)
        return {**nothing, "reads": 0.0, "is_pushed": False, "innodb_ms": math.nan}
    last = mine.iloc[-1]
    return {
        **{name: int(last[name]) for name in _COUNTED},
        "reads": float(last["reads"] / last["executions"]),
        "is_pushed": bool(last["executed"] > 0),
        "innodb_ms": float(last["innodb_ms"]),
    }
