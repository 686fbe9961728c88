"""The table that only datasets of this experiment have."""

from __future__ import annotations

from ndblab.dataset import column
from ndblab.dataset.column import Schema

SCHEMAS: dict[str, Schema] = {
    "control": Schema(
        "Fixed work of a process beside each long run, second by second: steps, and their CPU time",
        {
            "run_id": column.text(),
            "t_s": column.real(),
            "steps": column.whole(1),
            "cpu_s": column.real(),
        },
        optional=True,
        packing=column.GZIP,
    ),
}
