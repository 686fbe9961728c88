"""The files of one run or slice: its tables as CSV, its logs, and its status.

In: tables and logs. Out: bytes by name, or one LabError. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.column import GZIP
from ndblab.dataset.folder import packed
from ndblab.dataset.schema import OPTIONAL, REQUIRED, ROW_PER_RUN, SCHEMAS, file_name
from ndblab.error import LabError

LARGE_LOG_BYTES = 200_000
"""A longer log is compressed."""
_REPORT = "This is a bug in the lab; please report it."


@dataclass(frozen=True)
class Part:
    """One run or slice. `tables` holds CSV by the table's name, `logs` bytes by the file's."""

    status: str
    tables: Mapping[str, bytes]
    logs: Mapping[str, bytes]

    @property
    def files(self) -> dict[str, bytes]:
        """Return the content of each file by its place in the folder of the run."""
        named = {file_name(name): data for name, data in self.tables.items()}
        named |= {f"logs/{name}": data for name, data in self.logs.items()}
        return {name: packed(name, data) for name, data in named.items()}


def make(run_id: str, tables: Mapping[str, pd.DataFrame], logs: Mapping[str, str]) -> Part:
    """Check and render the tables and logs of one run or slice."""
    given = [name for name in OPTIONAL if name in tables and not tables[name].empty]
    contents = {
        name: table.render(name, tables.get(name), f"{run_id}/{file_name(name)}")
        for name in (*REQUIRED, *given)
    }
    texts = {plain(name): text.encode() for name, text in logs.items()}
    return Part(
        _status(run_id, tables),
        contents,
        {n + GZIP if len(data) > LARGE_LOG_BYTES else n: data for n, data in texts.items()},
    )


def plain(name: str) -> str:
    """Return the name of a file as it is, or raise a LabError if it leads to another folder."""
    if Path(name).name != name or name.startswith("."):
        raise LabError(
            "A file of a dataset needs a plain name",
            found=repr(name),
            expected="a name without folders, not hidden",
            next_step=_REPORT,
        )
    return name


def _status(run_id: str, tables: Mapping[str, pd.DataFrame]) -> str:
    unknown = sorted(set(tables) - set(SCHEMAS))
    filled = [frame for frame in tables.values() if not frame.empty]
    strange = {str(r) for frame in filled for r in frame["run_id"].unique()} - {run_id}
    found = [row for name in ROW_PER_RUN if name in tables for row in tables[name]["status"]]
    if unknown or strange or len(found) != 1:
        raise LabError(
            f"The tables of run {run_id} are not those of one run",
            found=f"{len(found)} rows of runs and slices, tables {', '.join(tables)}, "
            f"other runs: {', '.join(sorted(strange)) or 'none'}",
            expected=f"one row of runs or of slices, tables among {', '.join(SCHEMAS)}",
            next_step=_REPORT,
        )
    return str(found[0])
