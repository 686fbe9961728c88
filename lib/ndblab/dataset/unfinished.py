"""The tables of an unfinished dataset: what was sealed before it went on, and each run since.

In: its folder, or runs as they are appended. Out: its tables, or one LabError. It never writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab.dataset import sealed, table
from ndblab.dataset.folder import PARTS, part_folders, read_bytes, unpacked
from ndblab.dataset.schema import MEASURE_AGAIN, ROW_PER_RUN, SCHEMAS, file_name
from ndblab.error import LabError

_GATHERED = 32
"""Runs that wait in memory before they are joined; more would slow down the next look."""

Frames = dict[str, pd.DataFrame]


class Memory:
    """The tables of a dataset that is being measured, kept so that a look at them is fast."""

    def __init__(self, frames: Mapping[str, pd.DataFrame]) -> None:
        self._frames = dict(frames)
        self._new: dict[str, Mapping[str, bytes]] = {}

    def add(self, run_id: str, contents: Mapping[str, bytes]) -> None:
        """Add a run, its tables as CSV by name; it replaces an earlier run of that name."""
        self._new[run_id] = contents
        if len(self._new) >= _GATHERED:
            self._join()

    def tables(self) -> Frames:
        """Return all tables; what is added later does not change them."""
        self._join()
        return dict(self._frames)

    def _join(self) -> None:
        known = set().union(*(self._frames[name]["run_id"] for name in ROW_PER_RUN))
        replaced = known & set(self._new)
        for name in SCHEMAS if self._new else ():
            files = {run_id: new[name] for run_id, new in self._new.items() if name in new}
            self._frames[name] = _merged(self._frames[name], _join(name, files), replaced)
        self._new = {}


def read(folder: Path, manifest: Mapping[str, Any], names: Iterable[str] = SCHEMAS) -> Frames:
    """Read tables: the sealed ones and those of the runs since, in order of measurement.

    A run measured again since takes the place of the sealed one.
    """
    parts = {part.name: part for part in part_folders(folder)}
    there = {name: set(os.listdir(part)) for name, part in parts.items()}

    def files(table_name: str, run_ids: Iterable[str]) -> dict[str, bytes]:
        named = {run_id: file_name(table_name, there[run_id]) for run_id in run_ids}
        held = [
            parts[run_id] / file
            for run_id, file in named.items()
            if file in there[run_id] or not SCHEMAS[table_name].optional
        ]
        return {str(file): unpacked(file, read_bytes(file)) for file in held}

    new = {name: _join(name, files(name, parts)) for name in ROW_PER_RUN}
    began = pd.concat([new[name][["run_id", "started_utc"]] for name in ROW_PER_RUN])
    if sorted(began["run_id"]) != sorted(parts):
        raise LabError(
            f"The runs in {folder / PARTS} are not those their folders are named after",
            found=", ".join(began["run_id"].head(5)),
            expected=", ".join(list(parts)[:5]),
            next_step=MEASURE_AGAIN,
        )
    order = list(began.sort_values(["started_utc", "run_id"])["run_id"])
    new |= {name: _join(name, files(name, order)) for name in names if name not in ROW_PER_RUN}
    return {name: _merged(_sealed(folder, name, manifest), new[name], parts) for name in names}


def _sealed(folder: Path, name: str, manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Read what was sealed of a table. Without sums, sealing it again was interrupted.

    Each file then is as before or has the runs since, too, whose folders are still there.
    """
    sums = manifest.get("files")
    files = sums or dict.fromkeys(os.listdir(folder))
    if file_name(name, files) not in files:
        return table.empty(name)
    return sealed.read_table(folder, name, {**manifest, "files": files}, verify=bool(sums))


def _merged(old: pd.DataFrame, new: pd.DataFrame, replaced: Iterable[str]) -> pd.DataFrame:
    """Return old rows, but for those of replaced runs, and new rows."""
    gone = list(replaced)
    kept = old[~old["run_id"].isin(gone)] if gone and len(old) else old
    if not len(new):
        return kept.reset_index(drop=True)
    joined = pd.concat([kept, new], ignore_index=True) if len(kept) else new
    if "started_utc" in joined:
        return joined.sort_values(["started_utc", "run_id"], ignore_index=True)
    return joined


def _join(name: str, files: Mapping[str, bytes]) -> pd.DataFrame:
    """Parse files of one table as if they were one, as checking many small ones is slow."""
    header = table.render(name, None, name)
    bodies = []
    for where, data in files.items():
        if not (data.startswith(header) and data.endswith(b"\n")):
            # Cut off, damaged, or as an older version of the lab wrote it.
            data = table.render(name, table.parse(name, data, where), where)
        bodies.append(data[len(header) :])
    if not any(bodies):
        return table.empty(name)
    try:
        return table.parse(name, header + b"".join(bodies), name)
    except LabError:
        for where, data in files.items():
            table.parse(name, data, where)
        raise
