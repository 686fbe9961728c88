"""The tables that only datasets of this experiment have."""

from __future__ import annotations

import pandas as pd

from ndblab.dataset import column
from ndblab.dataset.column import Schema


def _local_is_a_part(reads: pd.DataFrame) -> pd.Series:
    near = reads["near_bytes"] <= reads["received_bytes"]
    return near & (reads["local_rows"] <= reads["rows"])


SCHEMAS: dict[str, Schema] = {
    "reads": Schema(
        "Rows that each loaded MySQL server read, and bytes that data nodes sent it, in each run",
        {
            "run_id": column.text(),
            "node_id": column.whole(1),
            "rows": column.whole(0),
            "local_rows": column.whole(0),
            "received_bytes": column.whole(0),
            "near_bytes": column.whole(0),
        },
        rule=(_local_is_a_part, "no more local rows than rows, nor near bytes than bytes"),
        optional=True,
    ),
}
