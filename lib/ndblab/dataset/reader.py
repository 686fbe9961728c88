"""The reader of datasets: checks everything before it hands anything out.

In: the folder of a dataset. Out: a `Dataset` whose tables keep their schemas, or one LabError.
It never writes, and never joins two datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    sha256,
)
from ndblab.dataset.schema import SCHEMAS, TABLES_SINCE_2
from ndblab.error import LabError

_COMPARED = ("host", "versions", "plan", "profile")


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
        tables = {name: _read_table(folder, name, manifest, verify) for name in SCHEMAS}
        if verify:
            _verify_rest(folder, manifest)
    else:
        tables = read_parts(folder)
    _check_runs_known(tables, folder)
    return Dataset(folder, manifest, tables)


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


def read_parts(folder: Path, names: Iterable[str] = tuple(SCHEMAS)) -> dict[str, pd.DataFrame]:
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
    return {
        name: runs if name == "runs" else _join(name, [part / f"{name}.csv" for part in ordered])
        for name in names
    }


def _join(name: str, files: Sequence[Path]) -> pd.DataFrame:
    """Read files of one table as if they were one: the check of many small ones is slow."""
    header = table.render(name, None, name)
    contents = [read_bytes(file) for file in files]
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
    file = folder / f"{name}.csv"
    data = read_bytes(file)
    # the schema first: "cut off" or "another unit" says more than "not the same sha256"
    frame = table.parse(name, data, str(file))
    if verify:
        _verify(file, data, manifest.get("files", {}).get(file.name))
    return frame


def _verify_rest(folder: Path, manifest: Mapping[str, Any]) -> None:
    tables = {f"{name}.csv" for name in SCHEMAS}
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
                f"{folder / name}.csv has runs that runs.csv has not",
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
