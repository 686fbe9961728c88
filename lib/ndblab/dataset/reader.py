"""The reader of datasets: checks everything before it hands anything out.

In: the folder of a dataset. Out: a `Dataset` whose tables obey their schemas, or one LabError.
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
from ndblab.dataset.folder import PARTS, part_folders, read_bytes, sha256, unpacked
from ndblab.dataset.manifest import COMPLETE, MANIFEST, read_manifest
from ndblab.dataset.schema import MEASURE_AGAIN, OK, OPTIONAL, REQUIRED, SCHEMAS, file_name
from ndblab.error import LabError

_COMPARED = ("host", "versions", "plan", "profile")


class Tables(Mapping[str, pd.DataFrame]):
    """The tables of a dataset by name; those not given are read on first use."""

    def __init__(
        self, tables: Mapping[str, pd.DataFrame], read: Callable[[str], pd.DataFrame]
    ) -> None:
        self._tables, self._read = dict(tables), read

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SCHEMAS)

    def __len__(self) -> int:
        return len(SCHEMAS)


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset, read and checked; its tables are shared, so copy one before changing it."""

    path: Path
    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(repr=False)

    @property
    def id(self) -> str:
        """Return the dataset's unique name."""
        return str(self.manifest["dataset_id"])

    @property
    def experiment(self) -> str:
        """Return the experiment's name in the catalogue."""
        return str(self.manifest["experiment"])

    @property
    def host(self) -> Mapping[str, Any]:
        """Return the description of the host it was measured on."""
        return self.manifest["host"]

    @property
    def budget(self) -> str:
        """Return how the CPUs were divided: "pinned", "scaled" or "shared"."""
        return str(self.manifest["plan"]["budget"]["kind"])

    @property
    def failed(self) -> int:
        """Return the number of runs that did not end as they should."""
        return int((self.runs["status"] != OK).sum())

    @property
    def complete(self) -> bool:
        """Return whether the sweep was finished."""
        return self.manifest["status"] == COMPLETE

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Return a table by its name: `runs`, `intervals`, ... (`schema.SCHEMAS`)."""
        if name not in SCHEMAS:
            raise AttributeError(f"a dataset has no {name}")
        return self.tables[name]


def read(path: Path | str, *, verify: bool = True) -> Dataset:
    """Read a dataset, complete or not, and check all of it.

    Parameters
    ----------
    verify : also compare every file with its sha256 in the manifest.

    Raises
    ------
    LabError
        On the first fault, naming file, line and column.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest["status"] == COMPLETE:
        tables = {name: _read_table(folder, name, manifest, verify) for name in REQUIRED}
        if verify:
            _verify_rest(folder, manifest)
    else:
        # All at once: the folders of single runs disappear when the dataset is completed.
        tables = read_parts(folder, SCHEMAS)
    for name, frame in tables.items():
        _check_runs_known(folder, name, frame, tables["runs"])
    return Dataset(folder, manifest, Tables(tables, partial(_read_later, folder, manifest, tables)))


def same(datasets: Iterable[Dataset]) -> None:
    """Raise a LabError unless all of these may appear in one figure or verdict."""
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
    """Read these tables of an unfinished dataset's completed runs, in order of measurement."""
    parts = {part.name: part for part in part_folders(folder)}
    runs = _join("runs", [part / "runs.csv" for part in parts.values()])
    if set(runs["run_id"]) != set(parts):
        raise LabError(
            f"The runs in {folder / PARTS} are not those their folders are named after",
            found=", ".join(runs["run_id"].head(5)),
            expected=", ".join(list(parts)[:5]),
            next_step=MEASURE_AGAIN,
        )
    runs = runs.sort_values(["started_utc", "run_id"], ignore_index=True)
    ordered = [parts[run_id] for run_id in runs["run_id"]]
    files = {name: [part / file_name(name) for part in ordered] for name in names}
    for name in (name for name in files if name in OPTIONAL):
        files[name] = [file for file in files[name] if file.exists()]
    return {name: runs if name == "runs" else _join(name, files[name]) for name in names}


def _join(name: str, files: Sequence[Path]) -> pd.DataFrame:
    """Read files of one table as if they were one, as checking many small ones is slow."""
    header = table.render(name, None, name)
    contents = [unpacked(file, read_bytes(file)) for file in files]
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
    file = folder / file_name(name)
    sums = manifest.get("files", {})
    older = manifest["schema_version"] < SCHEMAS[name].since
    if older or (SCHEMAS[name].optional and file.name not in sums):
        return table.empty(name)
    # The schema first: "cut off" or "another unit" says more than "another sha256".
    data = read_bytes(file)
    frame = table.parse(name, unpacked(file, data), str(file))
    if verify:
        _verify(file, data, sums.get(file.name))
    return frame


def _read_later(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], name: str
) -> pd.DataFrame:
    """Read a table on first use; its bytes were verified with those of all other files."""
    frame = _read_table(folder, name, manifest, verify=False)
    _check_runs_known(folder, name, frame, tables["runs"])
    return frame


def _verify_rest(folder: Path, manifest: Mapping[str, Any]) -> None:
    tables = {file_name(name) for name in REQUIRED}
    for name, expected in manifest.get("files", {}).items():
        if name not in tables:
            _verify(folder / name, read_bytes(folder / name), expected)


def _verify(file: Path, data: bytes, expected: str | None) -> None:
    if (found := sha256(data)) != expected:
        raise LabError(
            f"{file} has changed since it was measured",
            found=f"sha256 {found}",
            expected=f"sha256 {expected}" if expected else f"its sha256 in {MANIFEST}",
            next_step=MEASURE_AGAIN,
        )


def _check_runs_known(folder: Path, name: str, frame: pd.DataFrame, runs: pd.DataFrame) -> None:
    if unknown := sorted(set(frame["run_id"].unique()) - set(runs["run_id"])):
        raise LabError(
            f"{folder / file_name(name)} contains runs that runs.csv lacks",
            found=", ".join(unknown[:5]),
            expected="runs of runs.csv only",
            next_step=MEASURE_AGAIN,
        )


def _differences(key: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted({*a, *b}):
            yield from _differences(f"{key}.{name}", a.get(name), b.get(name))
    elif a != b:
        yield key, a, b
