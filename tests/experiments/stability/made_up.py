"""One run with local checkpoints, made up for tests: never a measurement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from made_up import CONTROL, EVENTS, INTERVALS, PROCESSES, THREADS, Double, double
from ndblab.experiments.stability import checkpoints as spans

CYCLE_S, LASTS_S = 20.0, 7.0
LEVEL = 1000.0


def log(seconds: int) -> pd.DataFrame:
    """Make the events of checkpoints that last 7 s each."""
    rows = []
    for at_s in np.arange(6.5, seconds - LASTS_S, CYCLE_S):
        rows.append(("run", at_s, 2, spans.STARTED, "Local checkpoint started"))
        rows.append(("run", at_s + LASTS_S, 2, spans.COMPLETED, "Local checkpoint completed"))
    return pd.DataFrame(rows, columns=EVENTS)


def with_control(data: Double, spread: float, loss: float = 0.0) -> Double:
    """Add a control whose speed varies by this much, and falls by this share over the run."""
    seconds = len(data.intervals)
    noise = np.random.default_rng(5).normal(0, spread, seconds)
    speed = 5e7 * (1 + noise - loss * np.arange(seconds) / seconds)
    rows = [(data.runs["run_id"].iloc[0], at + 1.0, 500_000, 5e5 / x) for at, x in enumerate(speed)]
    data.control = pd.DataFrame(rows, columns=CONTROL)
    return data


def written(
    seconds: int = 600,
    *,
    fall: float = 0.2,
    spread: float = 0.02,
    drift: float = 0.0,
    checkpoint_cpu_pct: float = 0.0,
    workload: str = "oltp_read_write",
) -> Double:
    """Make a run of reads and writes with a checkpoint every 20 s.

    Parameters
    ----------
    fall : share of throughput that a second in a checkpoint lacks.
    drift : share of throughput lost over the run.
    checkpoint_cpu_pct : what a checkpoint uses of each data node, beyond 0.02 % per query/s.
    """
    dataset = double(lambda n, c: LEVEL, servers=(4,), clients=(16,), repeats=1)
    runs = dataset.runs.assign(run_id="run", workload=workload, duration_s=float(seconds))
    ends_s = np.arange(1.0, seconds + 1)
    inside = spans.inside(ends_s, spans.of_run(log(seconds), seconds))
    noise = np.random.default_rng(2).normal(0, spread, seconds)
    qps = LEVEL * (1 + noise - drift * ends_s / seconds) * (1 - fall * inside)
    intervals = [("run", at, 16, value, 1.35) for at, value in zip(ends_s, qps, strict=True)]
    cpu_pct = 0.02 * qps + checkpoint_cpu_pct * inside
    processes = [
        ("run", at, "ndbmtd", node, pct, 1)
        for at, pct in zip(ends_s, cpu_pct, strict=True)
        for node in (2, 3)
    ]
    threads = [
        ("run", at, node, 3, "ldm", 10 + 20 * part, 0.0)
        for at, part in zip(ends_s, inside, strict=True)
        for node in (2, 3)
    ]
    return replace(
        dataset,
        runs=runs,
        events=log(seconds),
        intervals=pd.DataFrame(intervals, columns=INTERVALS),
        processes=pd.DataFrame(processes, columns=PROCESSES).astype({"role": "category"}),
        ndb_threads=pd.DataFrame(threads, columns=THREADS),
    )


def repeated(many: int, seconds: int = 600, **given: float) -> Double:
    """Make equal runs, named `run`, `run2`, `run3` and so on."""
    first = written(seconds, **given)
    names = ["run", *(f"run{number}" for number in range(2, many + 1))]
    tables = {
        table: pd.concat([getattr(first, table).assign(run_id=name) for name in names])
        for table in ("runs", "events", "intervals", "processes", "ndb_threads")
    }
    return replace(first, **{k: v.reset_index(drop=True) for k, v in tables.items()})
