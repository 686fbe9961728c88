"""One run of checked writes through a fault: load, fault, recovery, and what is there afterwards.

In: a cluster with its nodes up, a point and a `Fault`. Out: the tables and logs of one run, for a
dataset. A cluster that does not recover is a result and no crash; it judges none of the writes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd
import pymysql

from ndblab.cluster import node_log, readiness
from ndblab.error import LabError
from ndblab.faults import injection
from ndblab.workloads import monitor
from ndblab.workloads.checked_writes import load, replicas
from ndblab.workloads.sysbench_run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ndblab.cluster.lifecycle import Cluster
    from ndblab.planning.fault import Fault
    from ndblab.planning.profile import Profile

AFTER = 0.5
"""How long the load goes on once all is well again, as a share of the time before the fault."""
OK = "ok"


@dataclass(frozen=True)
class Outlived(Run):
    """A run that a fault was in; `recovered` says whether all nodes served afterwards."""

    recovered: bool = False


def measure(cluster: Cluster, size: Profile, point, repeat: int, fault: Fault) -> Outlived:
    """Load a cluster with checked writes, do a fault to it, and read what it holds afterwards.

    The load runs for the profile's seconds before the fault, then until the last action is done,
    then for half of those seconds.

    Raises
    ------
    LabError
        If the load fails, or the cluster before any fault.
    """
    replicas.prepare(cluster, point.clients)
    servers = cluster.servers(point.servers, point.transporter)
    before_s = size.warmup_s + size.duration_s
    started, status = datetime.now(UTC), OK
    marks: list[injection.Mark] = []
    with (
        monitor.sampling(cluster) as samples,
        load.running(cluster, servers, point.clients, size.seed) as running,
    ):
        samples.watch("client", 0, running.pid)
        time.sleep(before_s)
        try:
            for mark in injection.perform(cluster, fault):
                marks.append(mark)
                _watch(samples, cluster)
            time.sleep(AFTER * before_s)
        except LabError as failure:
            status = f"{failure.what}: {failure.found}"
        history = running.stop()
        ended, now_s = time.monotonic(), time.time()
    if status == OK:
        status, held = _held(cluster)
    else:
        held = {}
    run_id, lasted = point.run_id(repeat), ended - running.began
    processes = samples.processes(running.began, lasted)
    used = processes.loc[processes.role == "client", "cpu_pct"]
    row = {
        **point.facts(repeat),
        "status": status,
        "started_utc": started.isoformat(timespec="seconds"),
        "warmup_s": 0,
        "duration_s": round(lasted, 3),
        **totals(history, lasted),
        "client_cpu_pct": round(used.mean(), 1) if len(used) else None,
        **samples.host(running.began, lasted),
    }
    began_s = now_s - lasted
    log = cluster.log()
    tables = {
        "runs": pd.DataFrame([row]),
        "intervals": intervals(history, point.clients, lasted),
        "processes": processes,
        "ndb_threads": samples.ndb_threads(running.began, lasted),
        "events": _events(
            marks, running.began, node_log.events(log, began_s, began_s + lasted), began_s
        ),
        "history": history,
        **held,
    }
    for name in (name for name in tables if "run_id" not in tables[name]):
        tables[name].insert(0, "run_id", run_id)
    told = node_log.between(log, began_s, time.time())
    return Outlived(tables, {f"{run_id}.cluster.log": told}, status == OK)


def totals(history: pd.DataFrame, lasted_s: float) -> dict[str, float | None]:
    """Give what the row of a run tells of all its operations.

    `queries` were answered as they should be, `errors` were given up, `reconnects` are operations
    that another server answered than the client's one before; latencies are of the first.
    """
    answered = history[history["outcome"] == "ok"]
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
    """Give what clients saw second by second, at the end of each whole one.

    A second in which nothing was answered is there too, without a latency.
    """
    seconds = pd.RangeIndex(int(lasted_s))
    second = history["t_s"].astype(int)
    answered = history["outcome"] == "ok"
    counts = {
        name: second[of].value_counts().reindex(seconds, fill_value=0).astype(float)
        for name, of in (
            ("qps", answered),
            ("errors_per_s", _given_up(history)),
            ("reconnects_per_s", _moved(history)),
        )
    }
    p95 = history.loc[answered, "latency_ms"].groupby(second[answered]).quantile(0.95)
    return pd.DataFrame(
        {
            "t_s": seconds + 1.0,
            "clients": clients,
            "qps": counts["qps"],
            "latency_p95_ms": p95.reindex(seconds),
            "errors_per_s": counts["errors_per_s"],
            "reconnects_per_s": counts["reconnects_per_s"],
        }
    )


def _given_up(history: pd.DataFrame) -> pd.Series:
    return history["outcome"].isin(["failed", "unknown"])


def _moved(history: pd.DataFrame) -> pd.Series:
    """Mark operations that ended on another server than the one before of the same client."""
    before = history.groupby("client")["server"].shift()
    return history["server"] != before.fillna(history["first_server"])


def _held(cluster: Cluster) -> tuple[str, dict[str, pd.DataFrame]]:
    """Wait until every node serves, and read what each replica holds: "ok", or why not."""
    try:
        for node in cluster.plan.nodes:
            readiness.wait_node(cluster, node)
        copies, counters = replicas.take(cluster)
    except LabError as failure:
        return f"{failure.what}: {failure.found}", {}
    except pymysql.Error as failure:
        return f"the writes could not be read back: {failure}", {}
    return OK, {"copies": copies, "counters": counters}


def _watch(samples: monitor.Samples, cluster: Cluster) -> None:
    """Sample nodes that have been started again as well; one that is known already stays so."""
    for role, node_id, pid in cluster.pids():
        samples.watch(role, node_id, pid)


def _events(
    marks: Sequence[injection.Mark],
    began: float,
    told: Sequence[node_log.Event],
    began_s: float,
) -> pd.DataFrame:
    """What was done, and what the cluster log tells, in the order of time."""
    rows = [(round(m.at - began, 3), m.node_id, m.event, m.text) for m in marks]
    rows += [(round(e.at_s - began_s, 3), e.node_id, e.event, e.text) for e in told]
    return pd.DataFrame(sorted(rows), columns=["t_s", "node_id", "event", "text"])
