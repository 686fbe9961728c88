"""Throughput and latency of checked writes."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.availability import GIVEN_UP, OK


def totals(history: pd.DataFrame, lasted_s: float) -> dict[str, float | None]:
    """Compute the metrics of a whole run.

    `queries` were answered correctly, and latencies are theirs; `errors` were given up;
    `reconnects` ended on another server than the client's operation before.
    """
    answered = history[history["outcome"] == OK]
    latency = answered["latency_ms"]
    return {
        "queries": len(answered),
        "errors": int(_given_up(history).sum()),
        "reconnects": int(_moved(history).sum()),
        "qps": round(len(answered) / lasted_s, 2),
        "latency_min_ms": latency.min(),
        "latency_avg_ms": round(latency.mean(), 3),
        "latency_p95_ms": latency.quantile(0.95),
        "latency_max_ms": latency.max(),
    }


def intervals(history: pd.DataFrame, clients: int, lasted_s: float) -> pd.DataFrame:
    """Compute table `intervals`, one row at the end of each whole second.

    A second without an answered operation has a throughput of 0 and no latency.
    """
    answered = history["outcome"] == OK
    counted = pd.DataFrame(
        {
            "qps": answered,
            "errors_per_s": _given_up(history),
            "reconnects_per_s": _moved(history),
        },
        dtype=float,
    )
    ended = history["t_s"].astype(int) + 1.0
    seconds = pd.RangeIndex(1, int(lasted_s) + 1).astype(float)
    table = counted.groupby(ended).sum().reindex(seconds, fill_value=0.0)
    p95 = history.loc[answered, "latency_ms"].groupby(ended[answered]).quantile(0.95)
    table.insert(1, "latency_p95_ms", p95.reindex(seconds))
    table.insert(0, "clients", clients)
    return table.reset_index(names="t_s")


def _given_up(history: pd.DataFrame) -> pd.Series:
    return history["outcome"].isin(GIVEN_UP)


def _moved(history: pd.DataFrame) -> pd.Series:
    """Mark operations that ended on another server than the same client's operation before."""
    before = history.groupby("client")["server"].shift()
    return history["server"] != before.fillna(history["first_server"])
