"""Bulk loads made up for tests; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import small_runs


def load(
    way: str = "load-data", connections: int = 4, repeat: int = 1, *, rows_per_s: float = 20_000.0,
    rows: int = 100_000, cpu_pct: Mapping[str, float] | None = None,
    checkpoints: Mapping[str, tuple[float, ...]] | None = None, status: str = "ok",
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Make the tables of one bulk load.

    Parameters
    ----------
    cpu_pct : CPU by role, in percent of one logical CPU.
    checkpoints : seconds at which local checkpoints "started" and "completed".
    """
    variant = "default" if way == "load-data" else way
    name = f"s01_c{connections:04d}_r{repeat}_bulk_load_{variant}"
    seconds = rows / rows_per_s
    run = small_runs.tables(
        name, status=status, repeat=repeat, workload="bulk_load", variant=variant,
        clients=connections, queries=rows, qps=rows_per_s, duration_s=seconds, company_pct=0.0,
    )  # fmt: skip
    used = cpu_pct or {"mysqld": 100.0, "ndbmtd": 60.0, "client": 20.0}
    processes = ((role, n, pct) for n, (role, pct) in enumerate(used.items(), 1))
    run["processes"] = small_runs.cpu(name, *processes).assign(t_s=seconds)
    events = [
        (name, at_s, 2, f"local_checkpoint_{what}", "")
        for what, times in (checkpoints or {}).items()
        for at_s in times
    ]
    columns = ["run_id", "t_s", "node_id", "event", "text"]
    return {**run, "events": pd.DataFrame(events, columns=columns)}
