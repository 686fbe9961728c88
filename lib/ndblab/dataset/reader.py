"""The reader of datasets: checks everything before it hands anything out.

In: the folder of a dataset. Out: a `Dataset` whose tables keep their schemas, or one LabError.
It never writes, and never joins two datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.folder import (
    DAMAGED,
    MANIFEST,
    PARTS,
    part_folders,
    read_bytes,
    read_manifest,
    read_table_bytes,
    sha256,
)
from ndblab.dataset.schema import OPTIONAL, REQUIRED, SCHEMAS, TABLES_SINCE_2, file_name
from ndblab.error import LabError

_COMPARED = ("host", "versions", "plan", "profile")


class Tables(Mapping[str, pd.DataFrame]):
    """The tables of a dataset by name; `more` of them are read when they are first asked for."""

    def __init__(
        self,
        tables: Mapping[str, pd.DataFrame],
        more: Mapping[str, Callable[[], pd.DataFrame]],
    ) -> None:
        self._tables, self._more = dict(tables), more

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = self._more[name]()
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._tables, **self._more})

    def __len__(self) -> int:
        return len({**self._tables, **self._more})


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset, read and checked; its tables are shared, so copy one before changing it."""

    path: Path
    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(repr=False)

    @property
    def id(self) -> str:
        """Return the name that no other dataset has."""
        return str(self.manifest["dataset_id"])

    @property
    def experiment(self) -> str:
        return str(self.manifest["experiment"])

    @property
    def host(self) -> Mapping[str, Any]:
        return self.manifest["host"]

    @property
    def budget(self) -> str:
        """Return how the CPUs were divided: "pinned", "scaled" or "shared"."""
        return str(self.manifest["plan"]["budget"]["kind"])

    @property
    def complete(self) -> bool:
        return self.manifest["status"] == "complete"

    @property
    def runs(self) -> pd.DataFrame:
        return self.tables["runs"]

    @property
    def intervals(self) -> pd.DataFrame:
        return self.tables["intervals"]

    @property
    def processes(self) -> pd.DataFrame:
        return self.tables["processes"]

    @property
    def ndb_threads(self) -> pd.DataFrame:
        return self.tables["ndb_threads"]

    @property
    def events(self) -> pd.DataFrame:
        return self.tables["events"]

    @property
    def history(self) -> pd.DataFrame:
        """Return every operation of the checked writes; empty where there were none."""
        return self.tables["history"]

    @property
    def copies(self) -> pd.DataFrame:
        """Return the rows that each data node held after a run of checked writes."""
        return self.tables["copies"]

    @property
    def counters(self) -> pd.DataFrame:
        """Return how many writes each data node had counted after a run of checked writes."""
        return self.tables["counters"]


def read(path: Path | str, *, verify: bool = True) -> Dataset:
    """Read a dataset, complete or not, and check all of it.

    Parameters
    ----------
    verify : compare every file with its sha256 in the manifest as well.

    Raises
    ------
    LabError : on the first fault, naming file, line and column.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest["status"] == "complete":
        tables = {name: _read_table(folder, name, manifest, verify) for name in REQUIRED}
        if verify:
            _verify_rest(folder, manifest)
        more = {name: partial(_read_optional, folder, name, manifest, tables) for name in OPTIONAL}
    else:
        # All at once: what it is made of is gone as soon as it is complete.
        tables, more = read_parts(folder, SCHEMAS), {}
    _check_runs_known(tables, folder)
    return Dataset(folder, manifest, Tables(tables, more))


def same(datasets: Iterable[Dataset]) -> None:
    """Raise a LabError unless all of these may stand in one figure or verdict."""
    first, *others = datasets
    for other in others:
        check_same(first, other)


def check_same(a: Dataset, b: Dataset) -> None:
    """Raise a LabError that names the first difference of budget, host, versions, plan, profile."""
    pairs = chain(
        [("experiment", a.experiment, b.experiment), ("budget", a.budget, b.budget)],
        *(
            _differences(key, a.manifest["identity"].get(key), b.manifest["identity"].get(key))
            for key in _COMPARED
        ),
    )
    for key, ours, theirs in pairs:
        if ours != theirs:
            raise LabError(
                f"Two datasets differ in {key} and cannot be mixed",
                found=f"{theirs} in {b.id}",
                expected=f"{ours} as in {a.id}",
                next_step="Show them one at a time, or measure both in the same way.",
            )


def read_parts(folder: Path, names: Iterable[str] = REQUIRED) -> dict[str, pd.DataFrame]:
    """Read these tables of an unfinished dataset's whole runs, in the order of measuring."""
    parts = {part.name: part for part in part_folders(folder)}
    runs = _join("runs", [part / "runs.csv" for part in parts.values()])
    if set(runs["run_id"]) != set(parts):
        raise LabError(
            f"The runs in {folder / PARTS} are not those that their folders are named after",
            found=", ".join(runs["run_id"].head(5)),
            expected=", ".join(list(parts)[:5]),
            next_step=DAMAGED,
        )
    runs = runs.sort_values(["started_utc", "run_id"], ignore_index=True)
    ordered = [parts[run_id] for run_id in runs["run_id"]]
    files = {name: [part / file_name(name) for part in ordered] for name in names}
    for name in (name for name in files if name in OPTIONAL):
        files[name] = [file for file in files[name] if file.exists()]
    return {name: runs if name == "runs" else _join(name, files[name]) for name in names}


def _join(name: str, files: Sequence[Path]) -> pd.DataFrame:
    """Read files of one table as if they were one: the check of many small ones is slow."""
    header = table.render(name, None, name)
    contents = [read_table_bytes(file) for file in files]
    for file, data in zip(files, contents, strict=True):
        if not (data.startswith(header) and data.endswith(b"\n")):
            table.parse(name, data, str(file))
    whole = header + b"".join(data[len(header) :] for data in contents)
    try:
        return table.parse(name, whole, name)
    except LabError:
        for file, data in zip(files, contents, strict=True):
            table.parse(name, data, str(file))
        raise


def _read_table(folder: Path, name: str, manifest: Mapping[str, Any], verify: bool) -> pd.DataFrame:
    if name in TABLES_SINCE_2 and manifest["schema_version"] == 1:
        return table.parse(name, table.render(name, None, name), name)
    file = folder / file_name(name)
    data = read_bytes(file)
    # the schema first: "cut off" or "another unit" says more than "not the same sha256"
    frame = table.parse(name, data, str(file))
    if verify:
        _verify(file, data, manifest.get("files", {}).get(file.name))
    return frame


def _read_optional(
    folder: Path, name: str, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Read a table that a dataset may lack; its bytes were verified with all others."""
    if file_name(name) in manifest["files"]:
        file = folder / file_name(name)
        frame = table.parse(name, read_table_bytes(file), str(file))
    else:
        frame = table.parse(name, table.render(name, None, name), name)
    _check_runs_known({"runs": tables["runs"], name: frame}, folder)
    return frame


def _verify_rest(folder: Path, manifest: Mapping[str, Any]) -> None:
    tables = {file_name(name) for name in REQUIRED}
    for name, expected in manifest.get("files", {}).items():
        if name not in tables:
            _verify(folder / name, read_bytes(folder / name), expected)


def _verify(file: Path, data: bytes, expected: str | None) -> None:
    if (found := sha256(data)) != expected:
        raise LabError(
            f"{file} is not the file that was measured",
            found=f"sha256 {found}",
            expected=f"sha256 {expected}" if expected else f"its sha256 in {MANIFEST}",
            next_step=DAMAGED,
        )


def _check_runs_known(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    known = set(tables["runs"]["run_id"])
    for name, frame in tables.items():
        if strange := sorted(set(frame["run_id"].unique()) - known):
            raise LabError(
                f"{folder / file_name(name)} has runs that runs.csv has not",
                found=", ".join(strange[:5]),
                expected="runs of runs.csv only",
                next_step=DAMAGED,
            )


def _differences(key: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted({*a, *b}):
            yield from _differences(f"{key}.{name}", a.get(name), b.get(name))
    elif a != b:
        yield key, a, b
