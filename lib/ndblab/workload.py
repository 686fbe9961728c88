"""The workload: sysbench on a running cluster, prepared, warmed up, measured and watched.

In: a cluster, a profile and a point. Out: the tables and logs of one run, for a dataset.
It decides neither the points nor their order, and writes no file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd

from ndblab import monitor, process, sysbench
from ndblab.error import LabError

if TYPE_CHECKING:
    from ndblab.cluster import Cluster
    from ndblab.profile import Profile

DATABASE = "sbtest"
PREPARE_TIMEOUT_S = 6 * 3600
CONNECT_S_PER_CLIENT = 0.5
"""How long a client may take to connect before a run counts as stuck; a generous bound."""


_ENGINE = ("--mysql-storage-engine=ndbcluster",)


@dataclass(frozen=True)
class Run:
    """One measured run: its tables by name (`runs` has one row) and its raw outputs."""

    tables: dict[str, pd.DataFrame]
    logs: dict[str, str] = field(default_factory=dict)


def prepare(cluster: Cluster, profile: Profile) -> float:
    """Fill the tables through the first server and give the seconds it took.

    Raises
    ------
    LabError
        If sysbench fails.
    """
    began = time.monotonic()
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    outcome = sysbench.run(
        _argv(cluster, profile, "oltp_point_select", servers=1, clients=profile.tables,
              command="prepare", extra=_ENGINE),
        env=cluster.binaries.sysbench_env,
        timeout_s=PREPARE_TIMEOUT_S,
        spawn=process.opener(cluster.folder),
    )  # fmt: skip
    cluster.check_alive()
    if outcome.exit_status != 0:
        raise LabError(
            "The tables could not be filled",
            found=sysbench.complaint(outcome.text) or f"exit status {outcome.exit_status}",
            expected=f"{profile.tables} tables of {profile.table_size} rows",
            next_step="See the logs in the cluster's folder; a smaller --table-size may fit.",
        )
    return round(time.monotonic() - began, 2)


def measure(
    cluster: Cluster, profile: Profile, point, repeat: int, warmup_s: float, duration_s: float
) -> Run:
    """Warm up, then run sysbench at a point with the monitors on.

    A run that sysbench itself calls a failure comes back as a row with its reason.

    Raises
    ------
    LabError
        If a node of the cluster has died.
    """
    warm = _sysbench(cluster, profile, point, warmup_s, None).status if warmup_s else "ok"
    started_utc = datetime.now(UTC).isoformat(timespec="seconds")
    with monitor.sampling(cluster) as samples:
        outcome = _sysbench(cluster, profile, point, duration_s, samples)
        ended = time.monotonic()
    cluster.check_alive()
    run_id, result = point.run_id(repeat), outcome.result
    lasted = result.duration_s if result else duration_s
    began = outcome.began or ended - lasted
    processes = samples.processes(began, lasted)
    client = processes.loc[processes.role == "sysbench", "cpu_pct"]
    numbers = ("queries", "errors", "reconnects", "qps", "latency_min_ms", "latency_avg_ms",
               "latency_p95_ms", "latency_max_ms")  # fmt: skip
    row = {
        "run_id": run_id,
        "status": outcome.status if warm == "ok" else f"warm-up failed: {warm}",
        "servers": point.servers,
        "clients": point.clients,
        "repeat": repeat,
        "transporter": point.transporter,
        "workload": point.workload,
        "started_utc": started_utc,
        "warmup_s": warmup_s,
        "duration_s": lasted,
        **{name: getattr(result, name, None) for name in numbers},
        "client_cpu_pct": round(client.mean(), 1) if len(client) else None,
        **samples.host(began, lasted),
    }
    tables = {
        "runs": pd.DataFrame([row]),
        "intervals": result.intervals if result else pd.DataFrame(),
        "processes": processes,
        "ndb_threads": samples.ndb_threads(began, lasted),
    }
    for name in ("intervals", "processes", "ndb_threads"):
        if "run_id" not in tables[name]:
            tables[name].insert(0, "run_id", run_id)
    return Run(tables, {f"{run_id}.sysbench.txt": outcome.text})


def commands(binaries, profile, sockets: list[str], order) -> list[list[str]]:
    """Give every sysbench command of a sweep, in order: prepare, then warm-up and run of each."""
    prepare_ = _arguments(
        binaries, profile, "oltp_point_select", sockets[:1], profile.tables,
        command="prepare", extra=_ENGINE,
    )  # fmt: skip
    runs = [
        _arguments(binaries, profile, p.workload, sockets[: p.servers], p.clients, time_s=seconds)
        for p, _ in order
        for seconds in (profile.warmup_s, profile.duration_s)
        if seconds
    ]
    return [prepare_, *runs]


def _sysbench(cluster, profile, point, time_s, samples) -> sysbench.Outcome:
    argv = _argv(cluster, profile, point.workload, point.servers, point.clients, time_s=int(time_s))
    start = process.opener(cluster.folder)

    def spawn(argv, **how):
        child = start([*cluster.client_prefix(), *argv], **how)
        if samples:
            samples.watch("sysbench", 0, child.pid)
        return child

    timeout_s = 2 * time_s + 30 + CONNECT_S_PER_CLIENT * point.clients
    outcome = sysbench.run(argv, cluster.binaries.sysbench_env, timeout_s, spawn)
    cluster.check_alive()
    return outcome


def _argv(cluster, profile, workload, servers, clients, **options) -> list[str]:
    sockets = cluster.sockets(servers)
    return _arguments(cluster.binaries, profile, workload, sockets, clients, **options)


def _arguments(binaries, profile, workload, sockets, clients, **options) -> list[str]:
    return sysbench.argv(
        binaries.sysbench,
        binaries.sysbench_script(workload),
        sockets=sockets,
        tables=profile.tables,
        table_size=profile.table_size,
        clients=clients,
        version=binaries.sysbench_version,
        database=DATABASE,
        **options,
    )
