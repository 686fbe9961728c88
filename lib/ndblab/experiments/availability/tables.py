"""The tables that only datasets of this experiment have."""

from __future__ import annotations

from dataclasses import replace

from ndblab.dataset import column
from ndblab.dataset.column import Schema
from ndblab.experiments.availability import GIVEN_UP, OK, READ, WRITE, WRONG

SCHEMAS: dict[str, Schema] = {
    "history": Schema(
        "Every operation of the checked writes: when, where and how it ended",
        {
            "run_id": column.text(),
            "client": column.whole(1),
            "seq": column.whole(0),
            "kind": column.one_of((READ, WRITE)),
            "first_server": column.whole(1),
            "server": column.whole(1),
            "t_s": column.real(),
            "latency_ms": column.real(),
            "outcome": column.one_of((OK, *GIVEN_UP, WRONG)),
            "attempts": column.whole(1),
            "error": column.whole(0),
        },
        optional=True,
        packing=column.XZ,
    ),
    "copies": Schema(
        "Every row of the checked writes that each data node held afterwards",
        {
            "run_id": column.text(),
            "replica": column.whole(1),
            "client": column.whole(1),
            "seq": column.whole(0),
            "first_value": replace(column.text(), empty=True),
            "second_value": replace(column.text(), empty=True),
        },
        optional=True,
        packing=column.XZ,
    ),
    "counters": Schema(
        "How many writes of each client each data node counted afterwards",
        {
            "run_id": column.text(),
            "replica": column.whole(1),
            "client": column.whole(1),
            "writes": column.whole(0),
        },
        optional=True,
    ),
}
