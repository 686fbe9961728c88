"""The tables that only datasets of this experiment have."""

from __future__ import annotations

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.experiments.dump import COMPRESSIONS, DUMP, MYSQL_SHELL, MYSQLDUMP

WITHOUT_QUERIES = (DUMP,)
"""Workloads whose runs have neither queries nor a rate."""

SCHEMAS: dict[str, Schema] = {
    "dumps": Schema(
        "What a dump wrote, read back and counted; one row per run",
        {
            "run_id": column.text(),
            "tool": column.one_of((MYSQLDUMP, MYSQL_SHELL)),
            "compression": column.one_of(COMPRESSIONS),
            "tables": column.whole(1),
            "rows": column.whole(1),
            "content_bytes": column.whole(1),
            "written_bytes": column.whole(1),
        },
        optional=True,
    ),
}
