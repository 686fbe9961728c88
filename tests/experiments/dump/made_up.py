"""Dumps made up for tests; never a measurement."""

from __future__ import annotations

import pandas as pd

import small_runs
from ndblab.experiments.dump import UNCOMPRESSED

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
