"""The workload: sysbench on a running cluster, prepared, warmed up, measured and watched.

In: a cluster, a profile and a point. Out: the tables and logs of one run, for a dataset.
It decides neither the points nor their order, and writes no file.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.cluster import node_log
from ndblab.error import LabError
from ndblab.workloads import monitor, sysbench

if TYPE_CHECKING:
    from ndblab.cluster.lifecycle import Cluster
    from ndblab.planning.profile import Profile

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


@dataclass(frozen=True)
class Filled:
    """What filling the tables took: seconds, rows, and data memory by node id, in bytes."""

    seconds: float
    rows: int
    data_memory_bytes: dict[int, int]


def prepare(cluster: Cluster, profile: Profile) -> Filled:
    """Fill the tables through the first server.

    Raises
    ------
    LabError
        If sysbench fails.
    """
    began = time.monotonic()
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    before = _data_memory(cluster)
    outcome = sysbench.run(
        prepare_command(cluster.binaries, profile, cluster.plan.servers),
        env=cluster.binaries.sysbench_env,
        timeout_s=PREPARE_TIMEOUT_S,
        spawn=cluster.spawn_client,
    )  # fmt: skip
    cluster.check_alive()
    # sysbench prepares in threads, and may exit with 0 though one of them gave up.
    short = _short_tables(cluster, profile) if outcome.exit_status == 0 else "none counted"
    if short:
        why = sysbench.complaint(outcome.text) or f"sysbench exited {outcome.exit_status}"
        raise LabError(
            "The tables could not be filled",
            found=f"{why}; rows: {short}",
            expected=f"{profile.tables} tables of {profile.table_size} rows",
            next_step="See the logs in the cluster's folder; a smaller --table-size may fit.",
        )
    taken = {node: after - before[node] for node, after in _data_memory(cluster).items()}
    return Filled(round(time.monotonic() - began, 2), profile.rows, taken)


def _short_tables(cluster: Cluster, profile: Profile) -> str:
    """Name the tables that do not have all of their rows."""
    tables = [f"sbtest{number}" for number in range(1, profile.tables + 1)]
    there = {name for (name,) in cluster.query(f"SHOW TABLES FROM {DATABASE}")}
    counts = {
        name: cluster.query(f"SELECT COUNT(*) FROM {DATABASE}.{name}")[0][0] if name in there else 0
        for name in tables
    }
    return ", ".join(f"{n} in {name}" for name, n in counts.items() if n != profile.table_size)


def _data_memory(cluster: Cluster) -> dict[int, int]:
    rows = cluster.query(
        "SELECT node_id, used FROM ndbinfo.memoryusage WHERE memory_type = 'Data memory'"
    )
    return {int(node): int(used) for node, used in rows}


def measure(
    cluster: Cluster,
    profile: Profile,
    point,
    repeat: int,
    warmup_s: float,
    duration_s: float,
    tcp_clients: bool = False,
) -> Run:
    """Warm up, then run sysbench at a point with the monitors on.

    `tcp_clients` come over TCP/IP on loopback instead of the Unix sockets. A run that sysbench
    itself calls a failure comes back as a row with its reason.

    Raises
    ------
    LabError
        If a node of the cluster has died.
    """
    run_sysbench = functools.partial(_sysbench, cluster, profile, point, tcp_clients)
    warm = run_sysbench(warmup_s, None).status if warmup_s else "ok"
    started = datetime.now(UTC)
    with monitor.sampling(cluster) as samples:
        outcome = run_sysbench(duration_s, samples)
        ended, now_s = time.monotonic(), time.time()
    cluster.check_alive()
    run_id, result = point.run_id(repeat), outcome.result
    lasted = result.duration_s if result else duration_s
    began = outcome.began or ended - lasted
    processes = samples.processes(began, lasted)
    client = processes.loc[processes.role == "sysbench", "cpu_pct"]
    numbers = ("queries", "errors", "reconnects", "qps", "latency_min_ms", "latency_avg_ms",
               "latency_p95_ms", "latency_max_ms")  # fmt: skip
    row = {
        **point.facts(repeat),
        "status": outcome.status if warm == "ok" else f"warm-up failed: {warm}",
        "started_utc": started.isoformat(timespec="seconds"),
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
        "events": _events(cluster, now_s - (ended - began), lasted),
    }
    for name in ("intervals", "processes", "ndb_threads", "events"):
        if "run_id" not in tables[name]:
            tables[name].insert(0, "run_id", run_id)
    return Run(tables, {f"{run_id}.sysbench.txt": outcome.text})


def _events(cluster: Cluster, began_s: float, lasted_s: float) -> pd.DataFrame:
    """What the cluster log tells of a run that began at `began_s` seconds since the epoch."""
    events = node_log.events(cluster.log(), began_s, began_s + lasted_s)
    rows = [(round(e.at_s - began_s, 2), e.node_id, e.event, e.text) for e in events]
    return pd.DataFrame(rows, columns=["t_s", "node_id", "event", "text"])


def prepare_command(binaries, profile, servers) -> list[str]:
    """Give the command that fills the tables through the first of these MySQL servers."""
    return _argv(
        binaries, profile, "oltp_point_select", servers[:1], profile.tables,
        command="prepare", extra=_ENGINE,
    )  # fmt: skip


def commands(binaries, profile, point, servers, tcp_clients=False) -> list[list[str]]:
    """Give the commands of one run at a point with these MySQL servers: warm-up and run."""
    return [
        _argv(
            binaries, profile, point.workload, servers, point.clients, tcp_clients, time_s=seconds
        )
        for seconds in (profile.warmup_s, profile.duration_s)
        if seconds
    ]


def _sysbench(cluster, profile, point, tcp_clients, time_s, samples) -> sysbench.Outcome:
    servers = cluster.servers(point.servers, point.transporter)
    argv = _argv(
        cluster.binaries, profile, point.workload, servers, point.clients, tcp_clients,
        time_s=int(time_s),
    )  # fmt: skip

    def spawn(argv, **how):
        child = cluster.spawn_client(argv, **how)
        if samples:
            samples.watch("sysbench", 0, child.pid)
        return child

    timeout_s = 2 * time_s + 30 + CONNECT_S_PER_CLIENT * point.clients
    outcome = sysbench.run(argv, cluster.binaries.sysbench_env, timeout_s, spawn)
    cluster.check_alive()
    return outcome


def _argv(binaries, profile, workload, servers, clients, tcp_clients=False, **options) -> list[str]:
    where = [str(node.port) for node in servers] if tcp_clients else [n.socket for n in servers]
    return sysbench.argv(
        binaries.sysbench,
        binaries.sysbench_script(workload),
        **{"ports" if tcp_clients else "sockets": where},
        tables=profile.tables,
        table_size=profile.table_size,
        clients=clients,
        version=binaries.sysbench_version,
        database=DATABASE,
        **options,
    )
