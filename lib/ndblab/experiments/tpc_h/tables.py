"""The tables that only datasets of this experiment have."""

from __future__ import annotations

from ndblab.dataset import column
from ndblab.dataset.column import Schema

SCHEMAS: dict[str, Schema] = {
    "pushed": Schema(
        "What NDB was given as pushed joins in each run or slice of a query of TPC-H",
        {
            "run_id": column.text(),
            "query": column.whole(1),
            "executions": column.whole(1),
            "rows": column.whole(0),
            "tables": column.whole(1),
            "joins": column.whole(0),
            "joined": column.whole(0),
            "defined": column.whole(0),
            "dropped": column.whole(0),
            "executed": column.whole(0),
            "reads": column.whole(0),
            "innodb_ms": column.real(),
        },
        optional=True,
    ),
}
