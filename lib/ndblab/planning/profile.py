"""How long and how wide a sweep is.

In: a profile's name and what the user wants otherwise. Out: a checked `Profile`.
It knows nothing of hosts and clusters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ndblab.error import LabError

LAST_SERVER_NODE_ID = 246
FIRST_SERVER_NODE_ID = 11
MAX_SERVERS = LAST_SERVER_NODE_ID - FIRST_SERVER_NODE_ID + 1
"""Node ids 11 to 246 are for MySQL servers: the brief's files keep 247 to 254 for tools, and an
NDB node id is at most 255 (manual, "NDB Cluster Management Node Configuration")."""


def powers_of_two(last: int) -> tuple[int, ...]:
    """Give 1, 2, 4 ... up to `last`."""
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

    def to_dict(self) -> dict[str, object]:
        """Give the profile as plain data for JSON."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in dataclasses.asdict(self).items()
        }


PROFILES = {
    "smoke": Profile(
        "smoke", servers=(1, 2), clients=(2, 8), repeats=1, warmup_s=1, duration_s=2,
        tables=2, table_size=1_000,
    ),
    "quick": Profile(
        "quick", servers=(1, 2, 4, 8, 16), clients=powers_of_two(256), repeats=2, warmup_s=1,
        duration_s=2, tables=8, table_size=10_000,
    ),
    "brief": Profile(
        "brief", servers=(1, 2, 4, 8, 16), clients=powers_of_two(4096), repeats=1, warmup_s=120,
        duration_s=300, tables=8, table_size=10_000_000,
    ),
}  # fmt: skip
"""`brief` has the durations, rows and client counts of the brief ("Benchmarking Setup", Figures 6
and 7); the rows are those of its text, not of its command line (see the corrections)."""

_LISTS = {"servers": MAX_SERVERS, "clients": 100_000}
_NUMBERS = {
    "repeats": 1, "warmup_s": 0, "duration_s": 1, "tables": 1, "table_size": 1, "seed": 0,
}  # fmt: skip


def get(name: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Give the profile called `name` with some of its values replaced.

    Parameters
    ----------
    overrides : values by field name; lists may be text such as "1,2,4"; `None` changes nothing.

    Raises
    ------
    LabError
        If the profile or a field is unknown, or a value is not a number in its range.
    """
    if name not in PROFILES:
        raise LabError(
            "There is no such profile",
            found=name,
            expected=", ".join(PROFILES),
            next_step="Choose one with --profile.",
        )
    changes = {k: v for k, v in (overrides or {}).items() if v is not None}
    if unknown := sorted(changes.keys() - _LISTS.keys() - _NUMBERS.keys()):
        raise LabError(
            "There is no such parameter of a profile",
            found=", ".join(unknown),
            expected=", ".join([*_LISTS, *_NUMBERS]),
            next_step="Check the spelling; `./lab --help reproduce` lists them.",
        )
    checked = {
        key: _numbers(key, value) if key in _LISTS else _number(key, value)
        for key, value in changes.items()
    }
    return dataclasses.replace(PROFILES[name], **checked)


def _number(key: str, value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = None
    if number is None or number < _NUMBERS[key]:
        raise LabError(
            f"{_option(key)} is not usable",
            found=repr(value),
            expected=f"a whole number of at least {_NUMBERS[key]}",
            next_step=f"Give {_option(key)} such a number, or leave it out.",
        )
    return number


def _numbers(key: str, value: object) -> tuple[int, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    parts = [parts] if isinstance(parts, int) else list(parts)
    try:
        numbers = tuple(sorted({int(str(part)) for part in parts}))
    except ValueError:
        numbers = ()
    if not numbers or numbers[0] < 1:
        raise LabError(
            f"{_option(key)} is not usable",
            found=repr(value),
            expected="whole numbers of at least 1, separated by commas",
            next_step=f"Give {_option(key)} a list such as 1,2,4,8.",
        )
    if numbers[-1] > _LISTS[key]:
        limit = "node ids 11 to 246 are for them" if key == "servers" else "sysbench's own limit"
        raise LabError(
            f"{_option(key)} is too large",
            found=numbers[-1],
            expected=f"at most {_LISTS[key]} ({limit})",
            next_step=f"Ask for fewer {key}.",
        )
    return numbers


def _option(key: str) -> str:
    return f"--{key.removesuffix('_s').replace('_', '-')}"
