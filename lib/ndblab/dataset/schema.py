"""The tables of a dataset: their columns, order, types, units and ranges, declared once.

In: nothing. Out: a `Schema` for each table, and the name of its file. `table` enforces them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ndblab.planning import fault, workload

# Version of the layout of a dataset folder, these schemas included.
VERSION = 4
# Version 1 lacks the variant of a run and the events, version 2 the tables of checked writes,
# version 3 the slices of contrasts and the CPU of unrelated processes.
READABLE = (1, 2, 3, 4)

OK = "ok"
"""The status of a run that ended as it should; any other is the reason why it did not."""
TRANSPORTERS = ("shm", "tcp")
EVENTS = (
    "local_checkpoint_started",
    "local_checkpoint_completed",
    "node_started",
    "node_failed",
    "node_connected",
    "node_disconnected",
    "warning",
    fault.FAULT,
    fault.RESTART,
    fault.SERVED,
)
ROLES = ("ndb_mgmd", "ndbmtd", "mysqld", *workload.CLIENT_ROLES, "lab")
OUTCOMES = (workload.OK, *workload.GIVEN_UP, workload.WRONG)

# Above 100: the kernel and the data node do not end a second at the same moment. Far below what a
# value in another unit would be.
THREAD_PCT_LIMIT = 120.0
# What a good run must have.
MEASURED = ("duration_s", "queries", "errors", "qps")
# Counts, which a failed run leaves empty: floats in memory, whole numbers in the file.
COUNTS = ("queries", "errors", "reconnects")

MEASURE_AGAIN = "Measure it again, or get an undamaged copy of the dataset."
PACKED = ".gz"
_UTC = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"

Allows = Callable[[pd.Series], pd.Series]


@dataclass(frozen=True)
class Column:
    """What a column may hold.

    `dtype` is "str", "int64" or "float64". `expected` words for an error what `allows` accepts;
    cells may be empty only where `empty`. `before` is the value in datasets older than version
    `since`, which lack the column.
    """

    dtype: str
    allows: Allows
    expected: str
    empty: bool = False
    unique: bool = False
    before: str | float | None = None
    since: int = 1

    def faults(self, values: pd.Series) -> Iterator[tuple[pd.Series, str]]:
        """Mark the cells that break each rule, with what was expected instead."""
        missing = values.isna()
        if not self.empty:
            yield missing, "a value"
        if self.unique:
            yield values.duplicated(), "a value that no other line has"
        yield ~(self.allows(values) | missing), self.expected


@dataclass(frozen=True)
class Schema:
    """A table: one line on what it holds, its columns in order, and a rule for whole rows.

    Only some experiments have an `optional` table. `since` is the first version that had it.
    """

    about: str
    columns: Mapping[str, Column]
    rule: tuple[Callable[[pd.DataFrame], pd.Series], str] | None = None
    optional: bool = False
    compressed: bool = False
    since: int = 1


def _text() -> Column:
    return Column("str", lambda values: values.notna(), "text")


def _one_of(words: tuple[str, ...]) -> Column:
    return Column("str", lambda values: values.isin(words), "one of " + ", ".join(words))


def _like(pattern: str, example: str) -> Column:
    def matches(values: pd.Series) -> pd.Series:
        return values.astype(str).str.match(pattern)

    return Column("str", matches, f"something like {example}")


def _whole(least: int) -> Column:
    return Column("int64", lambda values: values >= least, f"{least} or more")


def _real(most: float = math.inf, *, least: float = 0.0, empty: bool = False) -> Column:
    limit = "any finite number" if math.isinf(most) else f"{most:g}"
    finite = min(most, sys.float_info.max)
    expected = f"from {least:g} up to {limit}"
    return Column("float64", lambda values: values.between(least, finite), expected, empty)


def _good_runs_are_whole(runs: pd.DataFrame) -> pd.Series:
    return (runs["status"] != OK) | runs[list(MEASURED)].notna().all(axis=1)


# A monitor's own clock ticks may begin just before the run's.
_SAMPLED_S = _real(least=-1.0)
_THREAD_PCT = _real(most=THREAD_PCT_LIMIT)

_COUNTED = {
    "warmup_s": _real(),
    "duration_s": _real(empty=True),
    "queries": _real(empty=True),
    "errors": _real(empty=True),
    "reconnects": _real(empty=True),
    "qps": _real(empty=True),
}
_COMPANY = {
    "company_pct": replace(_real(empty=True), before=math.nan, since=4),
    "company": replace(_text(), empty=True, before="", since=4),
}
"""CPU of processes that are not the lab's, in percent of the host's, and the busiest of them."""

SCHEMAS: dict[str, Schema] = {
    "runs": Schema(
        "One row per run, failed ones included",
        {
            "run_id": replace(_like(r"^[a-z0-9_-]+$", "s08_c0064_r2"), unique=True),
            "status": _like(r"^\S", "ok, or a reason"),
            "servers": _whole(1),
            "clients": _whole(1),
            "repeat": _whole(1),
            "transporter": _one_of(TRANSPORTERS),
            "workload": _text(),
            "variant": replace(_like(r"^[a-z0-9-]+$", "default"), before="default", since=2),
            "started_utc": _like(_UTC, "2021-09-30T12:00:00Z"),
            **_COUNTED,
            "latency_min_ms": _real(empty=True),
            "latency_avg_ms": _real(empty=True),
            "latency_p95_ms": _real(empty=True),
            "latency_max_ms": _real(empty=True),
            "client_cpu_pct": _real(empty=True),
            "host_busy_pct": _real(most=100.0, empty=True),
            "host_steal_pct": _real(most=100.0, empty=True),
            "host_load_1min": _real(empty=True),
            **_COMPANY,
        },
        rule=(_good_runs_are_whole, f"a good run has {', '.join(MEASURED)}"),
    ),
    "intervals": Schema(
        "What the load generator reported, interval by interval",
        {
            "run_id": _text(),
            "t_s": _real(),
            "clients": _whole(0),
            "qps": _real(),
            "latency_p95_ms": _real(empty=True),
            "errors_per_s": _real(),
            "reconnects_per_s": _real(),
        },
    ),
    "processes": Schema(
        "CPU and memory of every process, second by second",
        {
            "run_id": _text(),
            "t_s": _SAMPLED_S,
            "role": _one_of(ROLES),
            "node_id": _whole(0),
            "cpu_pct": _real(),
            "rss_bytes": _whole(0),
        },
    ),
    "ndb_threads": Schema(
        "CPU of every thread of the data nodes, second by second",
        {
            "run_id": _text(),
            "t_s": _SAMPLED_S,
            "node_id": _whole(1),
            "thr_no": _whole(0),
            "thread": _text(),
            "os_user_pct": _THREAD_PCT,
            "os_system_pct": _THREAD_PCT,
            "os_idle_pct": _THREAD_PCT,
            "exec_pct": _THREAD_PCT,
            "send_pct": _THREAD_PCT,
            "sleep_pct": _THREAD_PCT,
            "spin_pct": _THREAD_PCT,
        },
    ),
    "events": Schema(
        "Checkpoints, nodes that joined or left, and injected faults",
        {
            "run_id": _text(),
            "t_s": _SAMPLED_S,
            "node_id": _whole(0),
            "event": _one_of(EVENTS),
            "text": _text(),
        },
        since=2,
    ),
    "slices": Schema(
        "One row per slice of a contrast, failed ones included",
        {
            "run_id": replace(_like(r"^[a-z0-9_-]+$", "servers-1-2_b003_4a"), unique=True),
            "contrast": _like(r"^[a-z0-9-]+$", "servers-1-2"),
            "block": _whole(1),
            "slot": _whole(1),
            "side": _one_of(("a", "b")),
            "of": _whole(1),
            "start": _whole(1),
            "status": _like(r"^\S", "ok, or a reason"),
            "servers": _whole(1),
            "clients": _whole(1),
            "transporter": _one_of(TRANSPORTERS),
            "workload": _text(),
            "variant": _like(r"^[a-z0-9-]+$", "default"),
            "started_utc": _like(_UTC, "2021-09-30T12:00:00Z"),
            **_COUNTED,
            "latency_avg_ms": _real(empty=True),
            "latency_p95_ms": _real(empty=True),
            "client_cpu_pct": _real(empty=True),
            "host_busy_pct": _real(most=100.0, empty=True),
            "host_steal_pct": _real(most=100.0, empty=True),
            **_COMPANY,
        },
        rule=(_good_runs_are_whole, f"a good slice has {', '.join(MEASURED)}"),
        optional=True,
    ),
    "history": Schema(
        "Every operation of the checked writes: when, where and how it ended",
        {
            "run_id": _text(),
            "client": _whole(1),
            "seq": _whole(0),
            "kind": _one_of((workload.READ, workload.WRITE)),
            "first_server": _whole(1),
            "server": _whole(1),
            "t_s": _real(),
            "latency_ms": _real(),
            "outcome": _one_of(OUTCOMES),
            "attempts": _whole(1),
            "error": _whole(0),
        },
        optional=True,
        compressed=True,
    ),
    "copies": Schema(
        "Every row of the checked writes that each data node held afterwards",
        {
            "run_id": _text(),
            "replica": _whole(1),
            "client": _whole(1),
            "seq": _whole(0),
            "first_value": replace(_text(), empty=True),
            "second_value": replace(_text(), empty=True),
        },
        optional=True,
        compressed=True,
    ),
    "counters": Schema(
        "How many writes of each client each data node counted afterwards",
        {
            "run_id": _text(),
            "replica": _whole(1),
            "client": _whole(1),
            "writes": _whole(0),
        },
        optional=True,
    ),
}
OPTIONAL = tuple(name for name, schema in SCHEMAS.items() if schema.optional)
REQUIRED = tuple(name for name in SCHEMAS if name not in OPTIONAL)


def file_name(table: str) -> str:
    """Return the name of the file that holds a table."""
    return f"{table}.csv{PACKED if SCHEMAS[table].compressed else ''}"
