"""The columns of a dataset's tables: their order, types, units and ranges, declared once.

In: a DataFrame, or the names of its columns. Out: the same, or one LabError that names line,
column and value. It never repairs a value.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

import pandas as pd
import pandera.pandas as pa

from ndblab.error import LabError
from ndblab.planning import fault, workload

# Version of the layout of a dataset folder, these schemas included.
VERSION = 3
# Older versions that are read as well, and what they did not have: columns with the value that was
# meant, tables, and (before 3) faults: optional tables, and the events that tell of them.
READABLE = (1, 2, 3)
COLUMNS_SINCE_2 = {"runs": {"variant": "default"}}
TABLES_SINCE_2 = ("events",)
# Tables that only some experiments have; the large ones are compressed.
OPTIONAL = ("history", "copies", "counters")
_COMPRESSED = ("history", "copies")

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
OUTCOMES = ("ok", "failed", "unknown", "wrong")

# Above 100: the kernel and the data node do not end a second at the same moment. Far below what a
# value in another unit would be.
THREAD_PCT_LIMIT = 120.0

_UTC = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"
MEASURE_AGAIN = "Measure it again, or get an undamaged copy of the dataset."


def _text(*checks: pa.Check, **more: bool) -> pa.Column:
    return pa.Column(str, checks=list(checks), **more)


def _one_of(words: tuple[str, ...]) -> pa.Check:
    return pa.Check.isin(words, error="one of " + ", ".join(words))


def _like(pattern: str, example: str) -> pa.Check:
    return pa.Check.str_matches(pattern, error=f"something like {example}")


def _whole(least: int) -> pa.Column:
    return pa.Column("int64", pa.Check.ge(least, error=f"{least} or more"))


def _real(most: float = math.inf, *, least: float = 0.0, empty: bool = False) -> pa.Column:
    limit = "any finite number" if math.isinf(most) else f"{most:g}"
    check = pa.Check.in_range(
        least, min(most, sys.float_info.max), error=f"from {least:g} up to {limit}"
    )
    return pa.Column("float64", check, nullable=empty)


def _table(name: str, columns: dict[str, pa.Column], *checks: pa.Check) -> pa.DataFrameSchema:
    return pa.DataFrameSchema(columns, checks=list(checks), strict=True, ordered=True, name=name)


def _ok_runs_are_whole(runs: pd.DataFrame) -> pd.Series:
    return (runs["status"] != "ok") | runs[list(MEASURED)].notna().all(axis=1)


# What a run must have to be called ok.
MEASURED = ("duration_s", "queries", "errors", "qps")
# Counts, which a failed run leaves empty: floats in memory, whole numbers in the file.
COUNTS = ("queries", "errors", "reconnects")

_RUN_ID = _like(r"^[a-z0-9_-]+$", "s08_c0064_r2")
# A monitor's own clock ticks may begin just before the run's.
_SAMPLED_S = _real(least=-1.0)
_THREAD_PCT = _real(most=THREAD_PCT_LIMIT)

SCHEMAS: dict[str, pa.DataFrameSchema] = {
    "runs": _table(
        "runs",
        {
            "run_id": _text(_RUN_ID, unique=True),
            "status": _text(_like(r"^\S", "ok, or a reason")),
            "servers": _whole(1),
            "clients": _whole(1),
            "repeat": _whole(1),
            "transporter": _text(_one_of(TRANSPORTERS)),
            "workload": _text(),
            "variant": _text(_like(r"^[a-z0-9-]+$", "default")),
            "started_utc": _text(_like(_UTC, "2021-09-30T12:00:00Z")),
            "warmup_s": _real(),
            "duration_s": _real(empty=True),
            "queries": _real(empty=True),
            "errors": _real(empty=True),
            "reconnects": _real(empty=True),
            "qps": _real(empty=True),
            "latency_min_ms": _real(empty=True),
            "latency_avg_ms": _real(empty=True),
            "latency_p95_ms": _real(empty=True),
            "latency_max_ms": _real(empty=True),
            "client_cpu_pct": _real(empty=True),
            "host_busy_pct": _real(most=100.0, empty=True),
            "host_steal_pct": _real(most=100.0, empty=True),
            "host_load_1min": _real(empty=True),
        },
        pa.Check(_ok_runs_are_whole, error="a run that is ok has " + ", ".join(MEASURED)),
    ),
    "intervals": _table(
        "intervals",
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
    "processes": _table(
        "processes",
        {
            "run_id": _text(),
            "t_s": _SAMPLED_S,
            "role": _text(_one_of(ROLES)),
            "node_id": _whole(0),
            "cpu_pct": _real(),
            "rss_bytes": _whole(0),
        },
    ),
    "ndb_threads": _table(
        "ndb_threads",
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
    "events": _table(
        "events",
        {
            "run_id": _text(),
            "t_s": _SAMPLED_S,
            "node_id": _whole(0),
            "event": _text(_one_of(EVENTS)),
            "text": _text(),
        },
    ),
    "history": _table(
        "history",
        {
            "run_id": _text(),
            "client": _whole(1),
            "seq": _whole(0),
            "kind": _text(_one_of(("read", "write"))),
            "first_server": _whole(1),
            "server": _whole(1),
            "t_s": _real(),
            "latency_ms": _real(),
            "outcome": _text(_one_of(OUTCOMES)),
            "attempts": _whole(1),
            "error": _whole(0),
        },
    ),
    "copies": _table(
        "copies",
        {
            "run_id": _text(),
            "replica": _whole(1),
            "client": _whole(1),
            "seq": _whole(0),
            "first_value": _text(nullable=True),
            "second_value": _text(nullable=True),
        },
    ),
    "counters": _table(
        "counters",
        {
            "run_id": _text(),
            "replica": _whole(1),
            "client": _whole(1),
            "writes": _whole(0),
        },
    ),
}
REQUIRED = tuple(name for name in SCHEMAS if name not in OPTIONAL)


def file_name(table: str) -> str:
    """Give the name of the file that holds a table."""
    return f"{table}.csv.gz" if table in _COMPRESSED else f"{table}.csv"


def check(table: str, frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return the table as it is, or raise a LabError that names the first value out of range."""
    schema = SCHEMAS[table]
    try:
        return schema.validate(frame)
    except pa.errors.SchemaError as error:
        raise _out_of_range(schema, error, where) from error


def check_names(schema: pa.DataFrameSchema, found: list[str], where: str) -> None:
    """Raise a LabError that tells a missing column from one in another unit."""
    expected = list(schema.columns)
    if found == expected:
        return
    missing = [name for name in expected if name not in found]
    unknown = [name for name in found if name not in expected]
    units = {name.rpartition("_")[0]: name for name in unknown if "_" in name}
    for name in missing:
        other = units.get(name.rpartition("_")[0])
        if other is not None and "_" in name:
            raise LabError(
                f"{where} has a column in another unit",
                found=other,
                expected=name,
                next_step=f"Convert the column to {_unit(name)} and name it {name}.",
            )
    if missing:
        raise LabError(
            f"{where} lacks a column",
            found=", ".join(found) or "no header",
            expected=", ".join(missing),
            next_step=MEASURE_AGAIN,
        )
    raise LabError(
        f"{where} has other columns than its schema",
        found=", ".join(unknown) or ", ".join(found),
        expected=", ".join(expected),
        next_step=MEASURE_AGAIN,
    )


def _unit(name: str) -> str:
    return name.rpartition("_")[2]


def _out_of_range(schema: pa.DataFrameSchema, error: pa.errors.SchemaError, where: str) -> LabError:
    name = getattr(error.schema, "name", None)
    of_column = name in schema.columns
    column = f", column {name}," if of_column else ""
    rule = str(getattr(error.check, "error", None) or error.check or error.reason_code)
    line, value = "", None
    cases: object = error.failure_cases
    if isinstance(cases, pd.DataFrame) and len(cases) and pd.notna(cases["index"].iloc[0]):
        line = f"Line {int(cases['index'].iloc[0]) + 2} of "
        value = _shown(cases["failure_case"].iloc[0]) if of_column else None
    return LabError(
        f"{line}{where}{column} breaks its schema",
        found=value,
        expected=_RULES.get(rule, rule),
        next_step=MEASURE_AGAIN,
    )


def _shown(value: object) -> str:
    if pd.isna(value):
        return "no value"
    return repr(value) if isinstance(value, str) else f"{value:g}"


_RULES: Mapping[str, str] = {
    "not_nullable": "a value",
    "field_uniqueness": "a value that no other line has",
}
