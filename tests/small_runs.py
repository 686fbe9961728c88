"""Hand-made tables of one run, the double that the tests of datasets and sweeps stand on."""

from __future__ import annotations

from typing import Any

import pandas as pd

IDENTITY: dict[str, Any] = {
    "host": {"cpu_model": "Test CPU", "logical_cpus": 2},
    "versions": {"ndb": "9.7.4", "mysqld": "9.7.4", "sysbench": "1.0.20"},
    "plan": "a1b2",
    "profile": {"name": "smoke", "duration_s": 3},
    "sweep": [[1, 1]],
    "seed": 1,
}
BASE: dict[str, Any] = {
    "host": {"cpu_model": "Test CPU", "cpus": [0, 1]},
    "versions": IDENTITY["versions"],
    "plan": {"budget": {"kind": "scaled", "reason": "2 logical CPUs"}},
    "profile": IDENTITY["profile"],
    "overrides": {},
    "git_commit": "0" * 40,
}


def tables(
    run_id: str = "s01_c0001_r1",
    *,
    status: str = "ok",
    qps: float = 1234.5,
    started_utc: str = "2021-09-30T12:00:00Z",
    **columns: Any,
) -> dict[str, pd.DataFrame]:
    """Return the four tables of one run of two seconds."""
    run = {
        "run_id": run_id,
        "status": status,
        "servers": 1,
        "clients": 1,
        "repeat": 1,
        "transporter": "shm",
        "workload": "oltp_point_select",
        "variant": "default",
        "started_utc": started_utc,
        "warmup_s": 1.0,
        "duration_s": 2.0034,
        "queries": 2473,
        "errors": 0,
        "reconnects": 0,
        "qps": qps,
        "latency_min_ms": 0.07,
        "latency_avg_ms": 0.8,
        "latency_p95_ms": 1.5,
        "latency_max_ms": 38.52,
        "client_cpu_pct": 12.5,
        "host_busy_pct": 80.0,
        "host_steal_pct": 0.1,
        "host_load_1min": 1.5,
    }
    seconds = [1.0, 2.0]
    return {
        "runs": pd.DataFrame([run | columns]),
        "intervals": pd.DataFrame(
            {
                "run_id": run_id,
                "t_s": seconds,
                "clients": 1,
                "qps": [1200.25, 1268.75],
                "latency_p95_ms": 1.5,
                "errors_per_s": 0.0,
                "reconnects_per_s": 0.0,
            }
        ),
        "processes": pd.DataFrame(
            {
                "run_id": run_id,
                "t_s": seconds,
                "role": "mysqld",
                "node_id": 11,
                "cpu_pct": [23.4, 23.1],
                "rss_bytes": 300_000_000,
            }
        ),
        "ndb_threads": pd.DataFrame(
            {
                "run_id": run_id,
                "t_s": seconds,
                "node_id": 2,
                "thr_no": 0,
                "thread": "main",
                "os_user_pct": 3,
                "os_system_pct": 1,
                "os_idle_pct": 96,
                "exec_pct": 2,
                "send_pct": 1,
                "sleep_pct": 97,
                "spin_pct": 0,
            }
        ),
    }
