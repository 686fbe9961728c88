"""Slices of contrasts made up for tests, with known parts of variance; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ndblab.design.contrast import DUET, Contrast

SLICE_S = 5.4


def of(
    contrast: Contrast,
    blocks: int,
    *,
    ratio: float = 1.0,
    qps: float = 1000.0,
    sd: tuple[float, float, float] = (0.03, 0.0, 0.0),
    busy_pct: Mapping[str, float] | None = None,
    seed: int = 1,
) -> pd.DataFrame:
    """Make the slices of a contrast.

    Parameters
    ----------
    ratio : the true throughput of side A over side B, the level of which is `qps`.
    sd : standard deviation of the logarithm that a slice, a block and a cluster start add.
    busy_pct : of the host, by side.
    """
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    start, of_start = 1, 0.0
    clock = pd.Timestamp("2021-09-30T12:00:00Z")
    for number in range(1, blocks + 1):
        if contrast.begins_start(number) or number == 1:
            start += number > 1
            of_start = rng.normal(0, sd[2]) if number == 1 or sd[2] else 0.0
        of_block = rng.normal(0, sd[1])
        for slot in contrast.block(number, seed):
            for each in slot:
                point = contrast.side(each.side).point
                level = qps * (ratio if each.side == "a" else 1.0)
                noise = of_start + of_block + rng.normal(0, sd[0])
                rows.append(
                    each.columns()
                    | {
                        "start": start, "status": "ok", "servers": point.servers,
                        "clients": point.clients, "transporter": point.transporter,
                        "workload": point.workload, "variant": point.variant,
                        "started_utc": clock.strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "warmup_s": 1.0, "duration_s": 4.0, "errors": 0,
                        "qps": level * np.exp(noise),
                        "host_busy_pct": (busy_pct or {}).get(each.side, 60.0),
                    }
                )  # fmt: skip
            clock += pd.Timedelta(seconds=SLICE_S)
    return pd.DataFrame(rows)


def seconds_of_block(contrast: Contrast) -> float:
    """Return how long a block takes in these slices."""
    return (2 if contrast.design == DUET else 4) * SLICE_S


def processes(slices: pd.DataFrame, query_us: Mapping[str, float]) -> pd.DataFrame:
    """Make CPU use in which a query costs this much, by side; a side without is not watched.

    A third of it each is used by a MySQL server, a data node and sysbench.
    """
    watched = slices[slices["side"].isin(query_us)]
    cpu_pct = watched["qps"] * watched["side"].map(query_us) / 1e4
    parts = [
        pd.DataFrame(
            {"run_id": watched["run_id"], "t_s": 4.0, "role": role, "node_id": i,
             "cpu_pct": cpu_pct / 3, "rss_bytes": 1}
        )
        for i, role in enumerate(("mysqld", "ndbmtd", "sysbench"), 1)
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)
