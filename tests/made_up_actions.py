"""Runs that end by themselves, made up for tests: dumps, and locks of reads. No measurement."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pandas as pd

import small_runs
from ndblab.experiments.dump import UNCOMPRESSED
from ndblab.experiments.locking_reads import HELD, ISOLATIONS, RUNNING

ROWS = 200
NOTHING = {"queries": float("nan"), "qps": float("nan"), "errors": 0}


def dump(
    compression: str = "zstd", repeat: int = 1, *, seconds: float = 4.0,
    written_bytes: int = 500_000, content_bytes: int = 1_000_000, tool: str = "mysqldump",
    status: str = "ok",
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Make the tables of one dump; a failed one has no row in `dumps`."""
    variant = "default" if compression == UNCOMPRESSED else compression
    name = f"s01_c0001_r{repeat}_dump_{variant}"
    run = small_runs.tables(
        name, status=status, repeat=repeat, workload="dump", variant=variant,
        duration_s=seconds, **{**NOTHING, "company_pct": 0.0},
    )  # fmt: skip
    row = {
        "run_id": name, "tool": tool, "compression": compression, "tables": 2, "rows": 1000,
        "content_bytes": content_bytes, "written_bytes": written_bytes,
    }  # fmt: skip
    return {**run, "dumps": pd.DataFrame([row] if status == "ok" else [], columns=list(row))}


def locks(
    held: Mapping[tuple[str, str], str], repeat: int = 1, rows: int = ROWS
) -> dict[str, pd.DataFrame]:
    """Make the tables of one run of locking reads.

    Parameters
    ----------
    held : by statement and isolation level, the mode of the record locks on all rows; those that
        are missing have none.
    """
    name = f"s01_c0001_r{repeat}_locking_reads"
    run = small_runs.tables(name, repeat=repeat, workload="locking_reads", **NOTHING)
    found = []
    for statement, isolation, moment in product(
        dict.fromkeys(statement for statement, _ in held), ISOLATIONS, (RUNNING, HELD)
    ):
        about = (name, statement, isolation, moment)
        if mode := held.get((statement, isolation)):
            found.append((*about, "", "TABLE", "IS", "GRANTED", 1))
            found.append((*about, "k_1", "RECORD", mode, "GRANTED", rows))
        else:
            found.append((*about, "", "", "", "", 0))
    columns = ["run_id", "statement", "isolation", "moment", "index", "lock_type", "lock_mode",
               "lock_status", "locks"]  # fmt: skip
    return {**run, "locks": pd.DataFrame(found, columns=columns)}


def together(*parts: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Put the tables of several runs below each other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        n: pd.concat([part[n] for part in parts if n in part], ignore_index=True) for n in names
    }


def load(
    way: str = "load-data", connections: int = 4, repeat: int = 1, *, rows_per_s: float = 20_000.0,
    rows: int = 100_000, cpu_pct: Mapping[str, float] | None = None,
    checkpoints: Mapping[str, tuple[float, ...]] | None = None, status: str = "ok",
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Make the tables of one bulk load.

    Parameters
    ----------
    cpu_pct : CPU by role, in percent of one logical CPU.
    checkpoints : seconds at which local checkpoints "started" and "completed".
    """
    variant = "default" if way == "load-data" else way
    name = f"s01_c{connections:04d}_r{repeat}_bulk_load_{variant}"
    seconds = rows / rows_per_s
    run = small_runs.tables(
        name, status=status, repeat=repeat, workload="bulk_load", variant=variant,
        clients=connections, queries=rows, qps=rows_per_s, duration_s=seconds, company_pct=0.0,
    )  # fmt: skip
    used = cpu_pct or {"mysqld": 100.0, "ndbmtd": 60.0, "client": 20.0}
    run["processes"] = pd.DataFrame(
        [(name, seconds, role, n, pct, 1) for n, (role, pct) in enumerate(used.items(), 1)],
        columns=["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"],
    )
    events = [
        (name, at_s, 2, f"local_checkpoint_{what}", "")
        for what, times in (checkpoints or {}).items()
        for at_s in times
    ]
    columns = ["run_id", "t_s", "node_id", "event", "text"]
    return {**run, "events": pd.DataFrame(events, columns=columns)}
