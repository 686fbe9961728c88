"""Predictions compared with measured points and runs.

In: predictions, means of measured points, runs. Out: absolute percentage errors, point by point and
as medians; how many runs the intervals cover. It leaves no point out.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

GOAL_PCT = {"qps": 10.0, "latency_p95_ms": 25.0}
"""Goal for the median absolute error of the model, by metric."""
MODEL = "capacity model"


def errors(predictions: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Compare predictions with the measured mean of each point.

    Parameters
    ----------
    predictions : `name`, `servers`, `clients`, `qps`, `latency_p95_ms`.
    points : of `summary.points`, several servers.

    Returns
    -------
    `name`, `servers`, `clients`, `metric`, `predicted`, `measured`, `error_pct` (positive if the
    prediction is too high) and `ape_pct`, its absolute value.
    """
    keys = ["servers", "clients"]
    tables = []
    for metric in GOAL_PCT:
        means = points[[*keys, f"{metric}_mean"]].rename(columns={f"{metric}_mean": "measured"})
        own = predictions[["name", *keys, metric]].rename(columns={metric: "predicted"})
        tables.append(own.merge(means, on=keys).assign(metric=metric))
    table = pd.concat(tables, ignore_index=True)
    table["error_pct"] = 100 * (table["predicted"] / table["measured"] - 1)
    table["ape_pct"] = table["error_pct"].abs()
    order = ["name", *keys, "metric", "predicted", "measured", "error_pct", "ape_pct"]
    return table[order]


def verdicts(errors: pd.DataFrame) -> pd.DataFrame:
    """Summarise the errors of each method.

    Returns
    -------
    A row for each name and metric: `points`, `median_pct` and `p90_pct` of the absolute errors,
    `bias_pct` (median of the signed errors), and `goal_pct` for the model.
    """
    groups = errors.groupby(["name", "metric"], sort=False)
    table = groups.agg(
        points=("ape_pct", "count"),
        median_pct=("ape_pct", "median"),
        p90_pct=("ape_pct", lambda values: values.quantile(0.9)),
        bias_pct=("error_pct", "median"),
    ).reset_index()
    table["goal_pct"] = table["metric"].map(GOAL_PCT).where(table["name"] == MODEL)
    return table


def coverage(predicted: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> pd.DataFrame:
    """Count the single runs whose throughput is within its predicted interval.

    Parameters
    ----------
    predicted : by name of the method: `servers`, `clients`, `qps`, `qps_low`, `qps_high`. Runs of
        other points do not count.

    Returns
    -------
    `name`, `runs`, `covered_pct` and `half_width_pct`, the median over runs.
    """
    rows = []
    for name, table in predicted.items():
        both = table.merge(runs, on=["servers", "clients"], suffixes=("", "_measured"))
        covered = both["qps_measured"].between(both["qps_low"], both["qps_high"])
        half = (both["qps_high"] - both["qps_low"]) / both["qps"] / 2
        rows.append([name, len(both), 100 * covered.mean(), 100 * half.median()])
    return pd.DataFrame(rows, columns=["name", "runs", "covered_pct", "half_width_pct"])
