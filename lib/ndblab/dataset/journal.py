"""The journal of an unfinished dataset: one SQLite file, written in one transaction per run.

It holds the manifest, the configs, and the tables and logs of each run. While a folder has a
journal, the journal is the dataset, and other files there do not count.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.schema import OPTIONAL, REQUIRED, ROW_PER_RUN, SCHEMAS, damaged
from ndblab.error import LabError, writing
from ndblab.machine import files

JOURNAL = "journal.sqlite"
NO_RUN = ""
"""The run id of what belongs to no run: manifest and configs."""
_BUSY_S = 60
_REPORT = "This is a bug in the lab; please report it."
_ERRNO = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}


class Journal:
    """An open journal; a `with` block closes it."""

    def __init__(self, folder: Path, mode: str = "rw") -> None:
        self.folder, self.path = folder, folder / JOURNAL
        if mode == "rw" and not self.path.exists():
            expected = f"{JOURNAL}, as this version of the lab writes it"
            raise damaged("This unfinished dataset has no journal", folder, expected)
        with writing(self.path), self._errors():
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            self._db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
            # The table exists, unless the journal's creation was interrupted.
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS contents"
                " (run_id TEXT, name TEXT, data BLOB, PRIMARY KEY (run_id, name))"
            )

    @classmethod
    def create(cls, folder: Path, contents: Iterable[tuple[str, str, bytes]]) -> None:
        """Create a journal with these contents, each with its run and name: all or nothing."""
        with cls(folder, "rwc") as journal, journal._transaction() as db:
            db.executemany("INSERT INTO contents VALUES (?, ?, ?)", contents)

    def put(self, run_id: str, contents: Mapping[str, bytes]) -> None:
        """Store contents by name, all or nothing; those of a run replace all that it had."""
        with self._transaction() as db:
            if run_id != NO_RUN:
                db.execute("DELETE FROM contents WHERE run_id = ?", (run_id,))
            rows = ((run_id, name, data) for name, data in contents.items())
            db.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", rows)

    def read(self, folder: str = "") -> Iterator[tuple[str, str, bytes]]:
        """Yield the run, the name and the data of contents in this folder, in order of writing."""
        query = "SELECT run_id, name, data FROM contents WHERE name GLOB ? ORDER BY rowid"
        with self._errors():
            yield from self._db.execute(query, (f"{folder}*",))

    def files(self, folder: str) -> dict[str, bytes]:
        """Return the files of a folder, "config/" or "logs/", by their names."""
        return {Path(name).name: data for _, name, data in self.read(folder)}

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables, the runs in order of measurement."""
        runs: dict[str, dict[str, bytes]] = {}
        for run_id, name, data in self.read():
            if name in SCHEMAS:
                runs.setdefault(run_id, {})[name] = data
        return with_runs({name: table.empty(name) for name in SCHEMAS}, runs)

    def remove(self) -> None:
        """Remove the journal: from then on, the files of the folder are the dataset."""
        self.close()
        self.path.unlink()
        files.sync_folder(self.folder)

    def close(self) -> None:
        """Close the journal; what was put stays."""
        self._db.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with writing(self.path), self._errors(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise SQLite's refusals as the disk's OSError, and a damaged file as a LabError."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code is None:
                raise
            if (number := _ERRNO.get(code & 0xFF)) is not None:
                raise OSError(number, os.strerror(number), str(self.path)) from error
            raise damaged(f"{self.path} cannot be used", error) from error


def read(folder: Path, name: str) -> bytes | None:
    """Return what belongs to no run in a folder's journal; None if there is no whole journal."""
    if not (folder / JOURNAL).exists():
        return None
    with Journal(folder) as journal:
        return next((data for _, _, data in journal.read(name)), None)


def with_runs(
    tables: Mapping[str, pd.DataFrame], runs: Mapping[str, Mapping[str, bytes]]
) -> dict[str, pd.DataFrame]:
    """Add runs, given as CSV by table name, to tables; a run that was there is replaced."""
    joined = {}
    for name, old in tables.items():
        new = _parsed(name, [run[name] for run in runs.values() if name in run])
        kept = old[~old["run_id"].isin(list(runs))]
        joined[name] = pd.concat([kept, new], ignore_index=True)
        if name in ROW_PER_RUN:
            joined[name] = joined[name].sort_values(["started_utc", "run_id"], ignore_index=True)
    return joined


def _parsed(name: str, parts: Iterable[bytes]) -> pd.DataFrame:
    """Parse parts of one table as if they were one, as checking many small ones is slow."""
    header = table.render(name, None, name)
    # A part with another header keeps it, as a line that breaks the schema.
    bodies = [part.removeprefix(header) for part in parts]
    return table.parse(name, header + b"".join(bodies), name) if any(bodies) else table.empty(name)


def contents(
    run_id: str, tables: Mapping[str, pd.DataFrame], logs: Mapping[str, str]
) -> tuple[str, dict[str, bytes]]:
    """Check and render one run or slice: its status, its tables as CSV, and its logs."""
    unknown = sorted(set(tables) - set(SCHEMAS))
    filled = [frame for frame in tables.values() if not frame.empty]
    strange = {str(r) for frame in filled for r in frame["run_id"].unique()} - {run_id}
    status = [row for name in ROW_PER_RUN if name in tables for row in tables[name]["status"]]
    if unknown or strange or len(status) != 1:
        raise LabError(
            f"The tables of run {run_id} are not those of one run",
            found=f"{len(status)} rows of runs and slices, tables {', '.join(tables)}, "
            f"other runs: {', '.join(sorted(strange)) or 'none'}",
            expected=f"one row of runs or of slices, tables among {', '.join(SCHEMAS)}",
            next_step=_REPORT,
        )
    given = [name for name in OPTIONAL if name in tables and not tables[name].empty]
    rendered = {
        name: table.render(name, tables.get(name), f"{run_id}, {name}")
        for name in (*REQUIRED, *given)
    }
    named = {f"logs/{plain(name)}": text.encode() for name, text in logs.items()}
    return str(status[0]), rendered | named


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
