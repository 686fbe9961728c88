"""The tables of a dataset: their columns, order, types, units and ranges, declared once.

`table` enforces them.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab import discovery
from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.error import LabError
from ndblab.planning import workload
from ndblab.planning.workload import OK

# Version of the layout of a dataset folder, these schemas included.
VERSION = 4

_OF_EXPERIMENTS = discovery.modules("tables")
WITHOUT_QUERIES = tuple(
    name for module in _OF_EXPERIMENTS for name in getattr(module, "WITHOUT_QUERIES", ())
)
"""Workloads whose runs have neither queries nor a rate."""

TRANSPORTERS = ("shm", "tcp")
FAULT, RESTART, SERVED, HEALED = "fault", "restart", "served", "healed"
"""Events of a run with a fault: a node, host or link was hit; a node was started again; it serves
again; the network or a host is restored."""
EVENTS = (
    "local_checkpoint_started",
    "local_checkpoint_completed",
    "node_started",
    "node_failed",
    "node_connected",
    "node_disconnected",
    "warning",
    FAULT,
    RESTART,
    SERVED,
    HEALED,
)
ROLES = ("ndb_mgmd", "ndbmtd", "mysqld", *workload.CLIENT_ROLES, "lab")

# Above 100: the kernel and the data node do not end a second at the same moment. Far below what a
# value in another unit would be.
THREAD_PCT_LIMIT = 120.0
# What a good run must have, and what a good run that ends by itself must have.
MEASURED = ("duration_s", "queries", "errors", "qps")
MEASURED_ACTION = ("duration_s", "errors")
# Counts, which a failed run leaves empty: floats in memory, whole numbers in the file.
COUNTS = ("queries", "errors", "reconnects")

_UTC = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"


def _good_runs_are_whole(runs: pd.DataFrame) -> pd.Series:
    whole = runs[list(MEASURED)].notna().all(axis=1)
    action = runs["workload"].isin(WITHOUT_QUERIES)
    whole |= action & runs[list(MEASURED_ACTION)].notna().all(axis=1)
    return (runs["status"] != OK) | whole


# A monitor's own clock ticks may begin just before the run's.
_SAMPLED_S = column.real(least=-1.0)
_THREAD_PCT = column.real(most=THREAD_PCT_LIMIT)

_RUN_OR_SLICE = {
    "transporter": column.one_of(TRANSPORTERS),
    "workload": column.text(),
    "variant": column.like(r"^[a-z0-9-]+$", "default"),
    "started_utc": column.like(_UTC, "2021-09-30T12:00:00Z"),
    "warmup_s": column.real(),
    "duration_s": column.real(empty=True),
    "queries": column.real(empty=True),
    "errors": column.real(empty=True),
    "reconnects": column.real(empty=True),
    "qps": column.real(empty=True),
}
_COMPANY = {
    "company_pct": column.real(empty=True),
    "company": replace(column.text(), empty=True),
}
"""CPU of processes that are not the lab's, in percent of the host's, and the busiest of them."""

SCHEMAS: dict[str, Schema] = {
    "runs": Schema(
        "One row per run, failed ones included",
        {
            "run_id": replace(column.like(r"^[a-z0-9_-]+$", "s08_c0064_r2"), unique=True),
            "status": column.like(r"^\S", "ok, or a reason"),
            "servers": column.whole(1),
            "clients": column.whole(1),
            "repeat": column.whole(1),
            **_RUN_OR_SLICE,
            "latency_min_ms": column.real(empty=True),
            "latency_avg_ms": column.real(empty=True),
            "latency_p95_ms": column.real(empty=True),
            "latency_max_ms": column.real(empty=True),
            "client_cpu_pct": column.real(empty=True),
            "host_busy_pct": column.real(most=100.0, empty=True),
            "host_steal_pct": column.real(most=100.0, empty=True),
            "host_load_1min": column.real(empty=True),
            **_COMPANY,
        },
        rule=(_good_runs_are_whole, f"a good run has {', '.join(MEASURED)}"),
    ),
    "intervals": Schema(
        "What the load generator reported, interval by interval",
        {
            "run_id": column.text(),
            "t_s": column.real(),
            "clients": column.whole(0),
            "qps": column.real(),
            "latency_p95_ms": column.real(empty=True),
            "errors_per_s": column.real(),
            "reconnects_per_s": column.real(),
        },
    ),
    "processes": Schema(
        "CPU and memory of every process, second by second",
        {
            "run_id": column.text(),
            "t_s": _SAMPLED_S,
            "role": column.one_of(ROLES),
            "node_id": column.whole(0),
            "cpu_pct": column.real(),
            "rss_bytes": column.whole(0),
        },
        packing=column.GZIP,
    ),
    "ndb_threads": Schema(
        "CPU of every thread of the data nodes, second by second",
        {
            "run_id": column.text(),
            "t_s": _SAMPLED_S,
            "node_id": column.whole(1),
            "thr_no": column.whole(0),
            "thread": column.text(),
            "os_user_pct": _THREAD_PCT,
            "os_system_pct": _THREAD_PCT,
            "os_idle_pct": _THREAD_PCT,
            "exec_pct": _THREAD_PCT,
            "send_pct": _THREAD_PCT,
            "sleep_pct": _THREAD_PCT,
            "spin_pct": _THREAD_PCT,
        },
        packing=column.GZIP,
    ),
    "events": Schema(
        "Checkpoints, nodes that joined or left, and injected faults",
        {
            "run_id": column.text(),
            "t_s": _SAMPLED_S,
            "node_id": column.whole(0),
            "event": column.one_of(EVENTS),
            "text": column.text(),
        },
    ),
    "slices": Schema(
        "One row per slice of a contrast, failed ones included",
        {
            "run_id": replace(column.like(r"^[a-z0-9_-]+$", "servers-1-2_b003_4a"), unique=True),
            "contrast": column.like(r"^[a-z0-9-]+$", "servers-1-2"),
            "block": column.whole(1),
            "slot": column.whole(1),
            "side": column.one_of(("a", "b")),
            "of": column.whole(1),
            "start": column.whole(1),
            "status": column.like(r"^\S", "ok, or a reason"),
            "servers": column.whole(1),
            "clients": column.whole(1),
            **_RUN_OR_SLICE,
            "latency_avg_ms": column.real(empty=True),
            "latency_p95_ms": column.real(empty=True),
            "client_cpu_pct": column.real(empty=True),
            "host_busy_pct": column.real(most=100.0, empty=True),
            "host_steal_pct": column.real(most=100.0, empty=True),
            **_COMPANY,
        },
        rule=(_good_runs_are_whole, f"a good slice has {', '.join(MEASURED)}"),
        optional=True,
    ),
    **{name: schema for module in _OF_EXPERIMENTS for name, schema in module.SCHEMAS.items()},
}
OPTIONAL = tuple(name for name, schema in SCHEMAS.items() if schema.optional)
REQUIRED = tuple(name for name in SCHEMAS if name not in OPTIONAL)
ROW_PER_RUN = ("runs", "slices")
"""Each run or slice has its row in one of these."""


def damaged(what: str, found: object, expected: object = None) -> LabError:
    """Make the error of a dataset that is not as the lab wrote it."""
    next_step = "Measure it again, or get an undamaged copy of the dataset."
    return LabError(what, found=found, expected=expected, next_step=next_step)


def file_name(table: str) -> str:
    """Return the name of a table's file.

    >>> file_name("runs"), file_name("processes")
    ('runs.csv', 'processes.csv.gz')
    """
    return f"{table}.csv{SCHEMAS[table].packing}"
