"""Effect of a fault on the service: how long nothing succeeded, who gave up, what was lost.

It judges nothing, and never averages an outage away.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np
import pandas as pd

from ndblab.dataset import Dataset
from ndblab.dataset.schema import FAULT, RESTART, SERVED
from ndblab.experiments.availability import GIVEN_UP, OK, history
from ndblab.experiments.availability.fault import EVERY_FAULT

_DECLARED_DEAD = r"^Node (\d+) declared dead"
# Throughput is not computed over less time than this.
SHORTEST_S = 1.0


@dataclass(frozen=True)
class Outage:
    """One run as its clients experienced it; NaN where a value does not exist.

    `ends_s` is the end of the last operation. `longest_gap_s` is the longest time without a
    successful operation that ends after the first fault, `gap_began_s` its start, `gap_before_s`
    the longest one before the fault. From the fault on, `failed` counts operations given up,
    `gave_up_clients` their clients, and `retried` operations that needed a retry. `restarted_s` and
    `served_again_s` are the times from the first fault until a node was restarted and until the
    last one served again, which ends `during`.
    """

    fault_s: float
    ends_s: float
    longest_gap_s: float
    gap_began_s: float
    gap_before_s: float
    failed: int
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
    """Measure the effect of one run's fault; ValueError if there is no fault or no operation.

    Parameters
    ----------
    operations : the run's history, one row per operation; `t_s` is its end.
    events : of the run; all is measured from the first fault among them.
    """
    kind = events["event"].astype(str)
    faults_s = events.loc[kind == FAULT, "t_s"]
    if faults_s.empty or operations.empty:
        raise ValueError("an outage needs operations and a fault")
    fault_s, end_s = float(faults_s.min()), float(operations["t_s"].max())
    outcome = operations["outcome"].astype(str)
    ok = operations[outcome == OK]
    ends = np.sort(ok["t_s"].to_numpy(float))
    gap_s, gap_began_s = _longest_gap(ends, fault_s, end_s)
    steps = np.diff(ends[ends < fault_s])
    since = operations["t_s"] >= fault_s
    given_up = outcome.isin(GIVEN_UP)
    served_s = _all_served_s(events[events["t_s"] >= fault_s])
    during_s = (fault_s, end_s if math.isnan(served_s) else min(served_s, end_s))
    spans = {"before": (0.0, fault_s), "during": during_s, "after": (during_s[1], end_s)}
    phases = {name: _phase(ok, *span) for name, span in spans.items()}
    return Outage(
        fault_s=fault_s,
        ends_s=end_s,
        longest_gap_s=gap_s,
        gap_began_s=gap_began_s,
        gap_before_s=float(steps.max()) if len(steps) else math.nan,
        failed=int((given_up & since).sum()),
        retried=int(((operations["attempts"] > 1) & ~given_up & since).sum()),
        gave_up_clients=int(operations.loc[given_up & since, "client"].nunique()),
        restarted_s=float(events.loc[kind == RESTART, "t_s"].min()) - fault_s,
        served_again_s=served_s - fault_s,
        **{f"qps_{name}": phase[0] for name, phase in phases.items()},
        **{f"p95_{name}_ms": phase[1] for name, phase in phases.items()},
    )


def _all_served_s(events: pd.DataFrame) -> float:
    """Return when the last node served again; NaN if one that was hit or restarted never did."""
    kind = events["event"].astype(str)
    hit = events[kind.isin((FAULT, RESTART))].groupby("node_id")["t_s"].max()
    served = events[kind == SERVED].groupby("node_id")["t_s"].max()
    return float(served.max()) if (served.reindex(hit.index) >= hit).all() else math.nan


def of_runs(tables: Mapping[str, pd.DataFrame], seed: object = None) -> pd.DataFrame:
    """Measure every run in which a fault was injected, in the order of the faults.

    Parameters
    ----------
    tables : of a dataset.
    seed : of the values that clients wrote, as for `history.check`.

    Returns
    -------
    `COLUMNS`: those that identify a run, the fields of `Outage`, and the result of
    `history.check`: `replicas` read, number of faults (`wrong`), acknowledged writes `lost`,
    how long before the gap the oldest of them was acknowledged (`lost_up_to_s`), and a sentence
    (`writes`).
    """
    written = (tables[name] for name in ("history", "copies", "counters"))
    checked = history.of_runs(*written, seed)
    operations, events = (history.by_run(tables[name]) for name in ("history", "events"))
    rows = []
    for run in tables["runs"].itertuples():
        name = str(run.run_id)
        own = events.get(name)
        if name not in checked or own is None or not (own["event"].astype(str) == FAULT).any():
            continue
        outage, findings = of_run(operations[name], own), checked[name]
        oldest_s = min(findings.lost_t_s, default=math.nan)
        rows.append(
            {
                "run_id": name,
                "fault": str(run.variant),
                "repeat": int(run.repeat),
                "status": str(run.status),
                "clients": int(run.clients),
                **asdict(outage),
                "replicas": findings.replicas,
                "wrong": findings.faults,
                "lost": findings.lost,
                "lost_up_to_s": outage.gap_began_s - oldest_s,
                "writes": findings.words(),
            }
        )
    place = {fault: at for at, fault in enumerate(EVERY_FAULT)}
    rows.sort(key=lambda row: (place.get(row["fault"], len(place)), row["repeat"], row["run_id"]))
    return pd.DataFrame(rows, columns=COLUMNS)


@functools.lru_cache(maxsize=2)
def of_dataset(data: Dataset) -> pd.DataFrame:
    """Return `of_runs` of a dataset, computed once."""
    return of_runs(data.tables, data.manifest.get("profile", {}).get("seed"))


def struck(events: pd.DataFrame, role: str) -> int | None:
    """Return the number of the process in this role that a run's faults name, or None."""
    texts = events.loc[events["event"].astype(str) == FAULT, "text"].astype(str)
    named = (re.search(rf"\b{role}[. ](\d+)", text) for text in texts)
    return next((int(match[1]) for match in named if match), None)


def declared_dead(events: pd.DataFrame, data_nodes: Collection[int]) -> pd.DataFrame:
    """Return the events in which a data node declares another dead, whose id is in column `dead`.

    The management node and MySQL servers have shorter intervals (HeartbeatIntervalDbApi).
    """
    named = events["text"].astype(str).str.extract(_DECLARED_DEAD, expand=False)
    declared = events.assign(dead=pd.to_numeric(named))
    return declared[declared["node_id"].isin(data_nodes) & declared["dead"].isin(data_nodes)]


def data_nodes(data: Dataset) -> list[int]:
    """Return the node ids of a dataset's data nodes."""
    nodes = data.manifest.get("plan", {}).get("data_nodes", ())
    return [int(node["node_id"]) for node in nodes if "node_id" in node]


def declared_wrongly(data: Dataset, fault: str) -> int:
    """Count, over all runs of a fault, the declarations that a live data node is dead.

    Only the node that the fault names is dead, from the fault until its restart.
    """
    events, nodes, wrong = data.events, data_nodes(data), 0
    outages = of_dataset(data)
    for run in outages[outages["fault"] == fault].itertuples():
        own = events[events["run_id"].astype(str) == run.run_id]
        number = struck(own, "ndbmtd")
        dead = declared_dead(own, nodes)
        ends_s = run.restarted_s if math.isfinite(run.restarted_s) else math.inf
        rightly = (dead["t_s"] - run.fault_s).between(0, ends_s)
        if number is not None:
            rightly &= dead["dead"] == nodes[number - 1]
        wrong += int((~rightly).sum())
    return wrong


def failed_elsewhere(operations: pd.DataFrame, server: int, since_s: float) -> int:
    """Count operations with an attempt that failed on a server other than this one.

    A first attempt failed if there was a second; a second failed if the operation was given up.
    """
    since = operations[operations["t_s"] >= since_s]
    given_up = since["outcome"].astype(str).isin(GIVEN_UP)
    first_failed = (since["attempts"] > 1) | given_up
    first = (since["first_server"] != server) & first_failed
    second = (since["server"] != server) & (since["attempts"] > 1) & given_up
    return int((first | second).sum())


def _longest_gap(ends_s: np.ndarray, begin_s: float, end_s: float) -> tuple[float, float]:
    """Return the longest time from `begin_s` on in which no operation ended, and its start.

    A gap under way at `begin_s` counts from the last end before it.
    """
    before = ends_s[ends_s < begin_s][-1:]
    inside = ends_s[(ends_s >= begin_s) & (ends_s <= end_s)]
    times = np.concatenate([before if len(before) else [begin_s], inside, [end_s]])
    gaps = np.diff(times)
    longest = int(gaps.argmax())
    return float(gaps[longest]), float(times[longest])


def _phase(ok: pd.DataFrame, begin_s: float, end_s: float) -> tuple[float, float]:
    """Return throughput and p95 latency of the operations that ended in a span of time."""
    if end_s - begin_s < SHORTEST_S:
        return math.nan, math.nan
    here = ok[(ok["t_s"] > begin_s) & (ok["t_s"] <= end_s)]
    return len(here) / (end_s - begin_s), float(here["latency_ms"].quantile(0.95))
