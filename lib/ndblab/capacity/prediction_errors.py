"""The capacity model put to the test: predictions beside what was measured, error by error.

In: predictions, means of measured points. Out: absolute percentage errors, point by point and as
medians. It predicts nothing, and leaves no point out.
"""

from __future__ import annotations

import pandas as pd

METRICS = {"qps": "throughput", "latency_p95_ms": "p95"}
GOAL_PCT = {"qps": 10.0, "latency_p95_ms": 25.0}
MODEL = "capacity model"


def errors(predictions: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Compare predictions with the measured mean of each point.

    Parameters
    ----------
    predictions : `name`, `servers`, `clients`, `qps`, `latency_p95_ms`.
    points : of `summary.points`, several servers.

    Returns
    -------
    `name`, `servers`, `clients`, `metric`, `predicted`, `measured`, `error_pct` (its sign says
    whether the prediction was too high) and `ape_pct`, the same without a sign.
    """
    means = points[["servers", "clients"]].assign(
        **{metric: points[f"{metric}_mean"] for metric in METRICS}
    )
    keys = ["servers", "clients"]
    tables = []
    for metric in METRICS:
        both = predictions[["name", *keys, metric]].merge(
            means[[*keys, metric]], on=keys, suffixes=("_predicted", "_measured")
        )
        both = both.rename(
            columns={f"{metric}_predicted": "predicted", f"{metric}_measured": "measured"}
        )
        both["metric"] = metric
        tables.append(both)
    table = pd.concat(tables, ignore_index=True)
    table["error_pct"] = 100 * (table["predicted"] / table["measured"] - 1)
    table["ape_pct"] = table["error_pct"].abs()
    order = ["name", *keys, "metric", "predicted", "measured", "error_pct", "ape_pct"]
    return table[order]


def verdicts(errors: pd.DataFrame) -> pd.DataFrame:
    """Sum up the errors of each way to predict.

    Returns
    -------
    A row for each name and metric: `points`, `median_pct`, `p90_pct` of the absolute errors,
    `goal_pct` for the model, and `bias_pct`, the median with its sign.
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
