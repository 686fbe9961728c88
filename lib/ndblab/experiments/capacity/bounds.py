"""Bounds on throughput and mean latency of one server, whatever its queues look like.

In: a model. Out: bounds against clients, and the point where they meet.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.experiments.capacity import model as models
from ndblab.experiments.capacity import network
from ndblab.experiments.capacity.model import Model

_PLACES = 120


def of_one_server(model: Model) -> pd.DataFrame:
    """Return the bounds against clients, and the model's own prediction.

    Returns
    -------
    `clients`, `qps_least`, `qps_most`, `qps`, `latency_least_ms`, `latency_most_ms`,
    `latency_avg_ms`, `bottleneck`, `balanced` (number of clients that would just saturate the
    bottleneck if none of them waited).
    """
    most = model.clients_per_server[1]
    clients = np.unique(np.geomspace(1, most, _PLACES).round()).astype(int)
    points = pd.DataFrame({"servers": 1, "clients": clients})
    predicted = models.predict(model, points)
    asked = model.network(points["servers"].to_numpy(), clients)
    low, high = network.bounds(asked, clients)
    return points.assign(
        qps_least=low,
        qps_most=high,
        qps=predicted["qps"],
        latency_least_ms=1000 * clients / high,
        latency_most_ms=1000 * clients / low,
        latency_avg_ms=predicted["latency_avg_ms"],
        bottleneck=predicted["bottleneck"],
        balanced=asked.least_us * asked.bound_qps / network.SECOND_US,
    )


def balance(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return where the bounds meet (N*): one row, `clients`, `qps`, `bottleneck`.

    Source: Lazowska and others 1984, "Quantitative System Performance", chapter 5. Empty if even
    the most clients do not saturate the bottleneck.
    """
    reached = bounds[bounds["clients"] >= bounds["balanced"]].head(1)
    facts = {"clients": reached["balanced"], "qps": reached["qps_most"]}
    return pd.DataFrame({**facts, "bottleneck": reached["bottleneck"]}).reset_index(drop=True)
