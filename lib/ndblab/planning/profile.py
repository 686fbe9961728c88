"""How long and how wide a sweep is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.planning import number
from ndblab.planning.node import MAX_SERVERS

MOST_CLIENTS = 100_000
"""sysbench's own limit."""


def powers_of_two(last: int) -> tuple[int, ...]:
    """Return 1, 2, 4 ... up to `last`."""
    return tuple(2**i for i in range(last.bit_length()) if 2**i <= last)


@dataclass(frozen=True)
class Profile:
    """The size of a sweep; times in seconds, table size in rows."""

    name: str
    servers: tuple[int, ...]
    clients: tuple[int, ...]
    repeats: int
    warmup_s: int
    duration_s: int
    tables: int
    table_size: int
    seed: int = 7742

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return self.tables * self.table_size


PROFILES = {
    "smoke": Profile(
        "smoke", servers=(1, 2), clients=(2, 8), repeats=1, warmup_s=1, duration_s=2,
        tables=2, table_size=1_000,
    ),
    "quick": Profile(
        "quick", servers=(1, 2, 4, 8, 16), clients=(1, 4, 16, 64, 256), repeats=2, warmup_s=1,
        duration_s=2, tables=8, table_size=10_000,
    ),
    "brief": Profile(
        "brief", servers=(1, 2, 4, 8, 16), clients=powers_of_two(4096), repeats=1, warmup_s=120,
        duration_s=300, tables=8, table_size=10_000_000,
    ),
}  # fmt: skip
"""`brief` has the durations, rows and client counts of the brief ("Benchmarking Setup", Figures 6
and 7); the rows are those of its text, not of its command line (see the corrections)."""

_LISTS = {
    "servers": (MAX_SERVERS, "NDB node ids 11 to 246"),
    "clients": (MOST_CLIENTS, "sysbench's limit"),
}
_LEAST = {
    "repeats": 1, "warmup_s": 0, "duration_s": 1, "tables": 1, "table_size": 1, "seed": 0,
}  # fmt: skip


def get(name: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Return the profile called `name` with some of its values replaced.

    Of the `overrides`, values by field name, lists may be text such as "1,2,4"; None changes
    nothing. LabError if the profile or a field is unknown, or a value is not in its range.
    """
    if name not in PROFILES:
        raise LabError(
            "Unknown profile",
            found=name,
            expected=", ".join(PROFILES),
            next_step="Choose one with --profile.",
        )
    changes = {k: v for k, v in (overrides or {}).items() if v is not None}
    if unknown := sorted(changes.keys() - _LISTS.keys() - _LEAST.keys()):
        raise LabError(
            "Unknown profile parameter",
            found=", ".join(unknown),
            expected=", ".join([*_LISTS, *_LEAST]),
            next_step="Check the spelling; `./lab --help reproduce` lists them.",
        )
    checked = {
        key: number.several(_option(key), value, *_LISTS[key])
        if key in _LISTS
        else number.whole(_option(key), value, _LEAST[key])
        for key, value in changes.items()
    }
    return dataclasses.replace(PROFILES[name], **checked)


def _option(key: str) -> str:
    return f"--{key.removesuffix('_s').replace('_', '-')}"
