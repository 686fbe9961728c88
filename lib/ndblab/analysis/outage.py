"""What a fault did to the service: how long nothing succeeded, who gave up, what was lost.

In: the tables of a dataset of faults. Out: one row a run, or the worst of each fault; times in
seconds on the clock of the load. It judges nothing, and never averages an outage away.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.analysis import write_history
from ndblab.planning import workload
from ndblab.planning.fault import FAULT, FAULTS, RESTART, SERVED

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

TABLES = ("runs", "events", "history", "copies", "counters")
# A shorter time than this has no throughput to speak of.
SHORTEST_S = 1.0


@dataclass(frozen=True)
class Outage:
    """One run, as its clients felt it. What there was none of is NaN.

    `ends_s` is when the last operation ended; what a table has of later is no matter of the load.
    `longest_gap_s` is the longest time without a successful operation that reaches into the time
    from the first fault to the end, `gap_began_s` its begin, `gap_before_s` the longest one before
    the fault. Operations that were given up (`failed`), that needed their retry (`retried`), and
    the clients of the first are counted from the fault on; `failed_before` before it.
    `restarted_s` and `served_again_s` are the times from the first fault until a node was started
    again and until the last one served again; `during` ends there.
    """

    fault_s: float
    ends_s: float
    longest_gap_s: float
    gap_began_s: float
    gap_before_s: float
    failed: int
    failed_before: int
    retried: int
    gave_up_clients: int
    restarted_s: float
    served_again_s: float
    qps_before: float
    qps_during: float
    qps_after: float
    p95_before_ms: float
    p95_during_ms: float
    p95_after_ms: float


COLUMNS = [
    "run_id", "fault", "repeat", "status", "clients", *(field.name for field in fields(Outage)),
    "replicas", "wrong", "lost", "lost_up_to_s", "writes",
]  # fmt: skip


def of_run(operations: pd.DataFrame, events: pd.DataFrame) -> Outage:
    """Measure what one run's fault did.

    Parameters
    ----------
    operations : the run's history, one row an operation; `t_s` is its end.
    events : of the run; the first fault among them is what everything is measured from.

    Raises
    ------
    ValueError
        If there is no fault or no operation.
    """
    kind = events["event"].astype(str)
    faults_s = events.loc[kind == FAULT, "t_s"]
    if faults_s.empty or operations.empty:
        raise ValueError("an outage needs operations and a fault")
    fault_s, end_s = float(faults_s.min()), float(operations["t_s"].max())
    outcome = operations["outcome"].astype(str)
    ok = operations[outcome == workload.OK]
    ends = np.sort(ok["t_s"].to_numpy(float))
    gap_s, gap_began_s = _longest_gap(ends, fault_s, end_s)
    steps = np.diff(ends[ends < fault_s])
    since = operations["t_s"] >= fault_s
    given_up = outcome.isin(workload.GIVEN_UP)
    served_s = events.loc[(kind == SERVED) & (events["t_s"] >= fault_s), "t_s"].max()
    during_s = (fault_s, end_s if math.isnan(served_s) else min(float(served_s), end_s))
    spans = {"before": (0.0, fault_s), "during": during_s, "after": (during_s[1], end_s)}
    phases = {name: _phase(ok, *span) for name, span in spans.items()}
    return Outage(
        fault_s=fault_s,
        ends_s=end_s,
        longest_gap_s=gap_s,
        gap_began_s=gap_began_s,
        gap_before_s=float(steps.max()) if len(steps) else math.nan,
        failed=int((given_up & since).sum()),
        failed_before=int((given_up & ~since).sum()),
        retried=int(((operations["attempts"] > 1) & ~given_up & since).sum()),
        gave_up_clients=int(operations.loc[given_up & since, "client"].nunique()),
        restarted_s=float(events.loc[kind == RESTART, "t_s"].min()) - fault_s,
        served_again_s=float(served_s) - fault_s,
        **{f"qps_{name}": phase[0] for name, phase in phases.items()},
        **{f"p95_{name}_ms": phase[1] for name, phase in phases.items()},
    )


def of_runs(tables: Mapping[str, pd.DataFrame], seed: object = None) -> pd.DataFrame:
    """Measure every run that had its fault, in the order of the faults.

    Runs that did not get that far have no row.

    Parameters
    ----------
    tables : of a dataset, `TABLES` among them.
    seed : of the values that clients wrote, as `history.check` takes it.

    Returns
    -------
    `COLUMNS`: what a run is told by, the fields of `Outage`, and what `history.check` found:
    `replicas` that were read, things `wrong` in all, acknowledged writes `lost`, how long before
    the gap the oldest of these had been acknowledged (`lost_up_to_s`), and all of it in words.
    """
    runs = tables["runs"]
    kept = {name: _of(runs, tables[name]) for name in TABLES[1:]}
    findings = write_history.of_runs(kept["history"], kept["copies"], kept["counters"], seed)
    operations, events = _by_run(kept["history"]), _by_run(kept["events"])
    rows = []
    for run in runs.itertuples():
        name = str(run.run_id)
        own = events.get(name)
        if name not in operations or own is None or not (own["event"].astype(str) == FAULT).any():
            continue
        felt, found = of_run(operations[name], own), findings[name]
        oldest_s = min(found.lost_t_s, default=math.nan)
        rows.append(
            {
                "run_id": name,
                "fault": str(run.variant),
                "repeat": int(run.repeat),
                "status": str(run.status),
                "clients": int(run.clients),
                **asdict(felt),
                "replicas": found.replicas,
                "wrong": found.faults,
                "lost": found.lost,
                "lost_up_to_s": felt.gap_began_s - oldest_s,
                "writes": found.words(),
            }
        )
    place = {fault: at for at, fault in enumerate(FAULTS)}
    rows.sort(key=lambda row: (place.get(row["fault"], len(place)), row["repeat"], row["run_id"]))
    return pd.DataFrame(rows, columns=COLUMNS)


@functools.lru_cache(maxsize=2)
def of_dataset(data: Dataset) -> pd.DataFrame:
    """Measure every run of a dataset that had its fault, as `of_runs`; once, for all who ask."""
    tables = {name: getattr(data, name) for name in TABLES}
    return of_runs(tables, data.manifest.get("profile", {}).get("seed"))


def worst(outages: pd.DataFrame) -> pd.DataFrame:
    """Give the worst of each fault's runs, value by value: `fault`, `runs`, then what was felt."""
    most = ["longest_gap_s", "gave_up_clients", "failed", "retried", "served_again_s", "lost"]
    groups = outages.groupby("fault", sort=False)
    table = groups[most].max()
    table.insert(0, "runs", groups.size())
    return table.reset_index()


def struck(events: pd.DataFrame, role: str) -> int | None:
    """Give the number of the process of this role that the faults of a run name; None if none."""
    texts = events.loc[events["event"].astype(str) == FAULT, "text"].astype(str)
    named = (re.search(rf"\b{role}[. ](\d+)", text) for text in texts)
    return next((int(found[1]) for found in named if found), None)


def failed_elsewhere(operations: pd.DataFrame, server: int, since_s: float) -> int:
    """Count operations of which an attempt on another server than this one failed.

    A first attempt failed if there was a second one; a second one failed if the operation was
    given up.
    """
    since = operations[operations["t_s"] >= since_s]
    given_up = since["outcome"].astype(str).isin(workload.GIVEN_UP)
    first_failed = (since["attempts"] > 1) | given_up
    first = (since["first_server"] != server) & first_failed
    second = (since["server"] != server) & (since["attempts"] > 1) & given_up
    return int((first | second).sum())


def _of(runs: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["run_id"].astype(str).isin(set(runs["run_id"].astype(str)))]


def _by_run(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    names = table["run_id"].astype(str)
    return {str(name): own for name, own in table.groupby(names, sort=False)}


def _longest_gap(ends_s: np.ndarray, begin_s: float, end_s: float) -> tuple[float, float]:
    """Give the longest time without an end of an operation from `begin_s` on, and when it began.

    The one that is under way at `begin_s` counts from the last end before it.
    """
    before = ends_s[ends_s < begin_s][-1:]
    inside = ends_s[(ends_s >= begin_s) & (ends_s <= end_s)]
    times = np.concatenate([before if len(before) else [begin_s], inside, [end_s]])
    gaps = np.diff(times)
    longest = int(gaps.argmax())
    return float(gaps[longest]), float(times[longest])


def _phase(ok: pd.DataFrame, begin_s: float, end_s: float) -> tuple[float, float]:
    """Give throughput and p95 latency of the operations that ended in a span of time."""
    if end_s - begin_s < SHORTEST_S:
        return math.nan, math.nan
    here = ok[(ok["t_s"] > begin_s) & (ok["t_s"] <= end_s)]
    return len(here) / (end_s - begin_s), float(here["latency_ms"].quantile(0.95))
