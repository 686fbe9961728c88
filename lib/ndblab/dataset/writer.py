"""The writer of one dataset: completed runs go in one by one, a complete dataset comes out.

In: the tables and logs of a run. Out: a folder whose growth a kill, a full disk or a second lab can
stop, but which they never damage: each run has a folder of its own, named only when it is whole.
It never writes into a complete dataset.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.folder import PARTS, packed, part_folders, read_bytes, sha256
from ndblab.dataset.manifest import (
    COMPLETE,
    MANIFEST,
    identity_hash,
    new_manifest,
    now_utc,
    read_manifest,
    stem,
    to_json,
)
from ndblab.dataset.reader import Dataset, read, read_parts
from ndblab.dataset.schema import OPTIONAL, REQUIRED, SCHEMAS, file_name
from ndblab.error import LabError, writing
from ndblab.machine import files

_REPORT = "This is a bug in the lab; please report it."


class Writer:
    """One unfinished dataset, locked by this process until `close` or `finish`.

    Use `Writer.open`; a `with` block closes it whatever happens.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], lock: int) -> None:
        self.path = path
        self.manifest = manifest
        self._lock: int | None = lock
        self.done: dict[str, str] = {}

    @classmethod
    def open(
        cls,
        root: Path | str,
        experiment: str,
        identity: Mapping[str, Any],
        manifest_base: Mapping[str, Any],
    ) -> Writer:
        """Resume the unfinished dataset of this identity, or begin a new one.

        Parameters
        ----------
        root : the folder that holds a folder for each experiment.
        manifest_base : host, versions, plan, profile, overrides and git_commit.

        Raises
        ------
        LabError
            If another process is writing it, or the disk refuses.
        """
        folder = Path(root) / experiment
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            naming = files.lock(folder, wait=True)
            try:
                path = _unfinished(folder, experiment, identity, manifest_base)
                lock = _lock(path)
            finally:
                os.close(naming)
        writer = cls(path, read_manifest(path), lock)
        try:
            with writing(path):
                writer._recover(manifest_base)
        except BaseException:
            writer.close()
            raise
        return writer

    @property
    def id(self) -> str:
        """Return the dataset's name."""
        return str(self.manifest["dataset_id"])

    def append(
        self,
        run_id: str,
        tables: Mapping[str, pd.DataFrame],
        logs: Mapping[str, str] | None = None,
    ) -> None:
        """Add one run, all of it or nothing; it replaces an earlier run of that name.

        Parameters
        ----------
        tables : by name; `runs` has one row, others may be absent or empty.
        logs : file name (without folder) -> text.
        """
        self._check_open()
        given = [n for n in OPTIONAL if n in tables and not tables[n].empty]
        contents = {
            file: packed(file, table.render(name, tables.get(name), f"{run_id}/{file}"))
            for name, file in ((name, file_name(name)) for name in (*REQUIRED, *given))
        }
        _check_run(run_id, tables)
        texts = {f"logs/{_plain(name)}": text.encode() for name, text in (logs or {}).items()}
        part = self._parts / run_id
        temporary = self._parts / f".{run_id}.tmp"
        with writing(part):
            shutil.rmtree(temporary, ignore_errors=True)
            try:
                files.write_folder(temporary, contents | texts)
                files.replace_folder(temporary, part)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        self.done[run_id] = str(tables["runs"]["status"].iloc[0])

    def add_config(self, name: str, text: str) -> None:
        """Store an exact input of the cluster."""
        self._check_open()
        file = self.path / "config" / _plain(name)
        with writing(file):
            file.parent.mkdir(exist_ok=True)
            files.write(file, text.encode())

    def note(self, **facts: Any) -> None:
        """Store facts in the manifest at once, so that a resumed sweep has them too."""
        self._check_open()
        self.manifest = {**self.manifest, **facts}
        with writing(self.path):
            files.write(self.path / MANIFEST, to_json(self.manifest))

    def finish(self, **manifest_updates: Any) -> Dataset:
        """Join the runs, seal the dataset with sha256 sums, and read it back."""
        self._check_open()
        tables = read_parts(self.path, SCHEMAS)
        if not len(tables["runs"]):
            raise LabError(
                "A dataset without any run cannot be finished",
                found=self.path,
                expected="at least one run",
                next_step="Start the sweep again.",
            )
        with writing(self.path):
            for name, file in self._table_files():
                if name in REQUIRED or len(tables[name]):
                    data = table.render(name, tables[name], file.name)
                    files.write(file, packed(file.name, data))
            self._gather_logs()
            sums = {
                str(file.relative_to(self.path)): sha256(read_bytes(file))
                for file in sorted(self._sealed_files())
            }
            sealed = {
                **self.manifest,
                **manifest_updates,
                "status": COMPLETE,
                "finished_utc": now_utc(),
                "files": sums,
            }
            files.write(self.path / MANIFEST, to_json(sealed))
            self.manifest = sealed
            shutil.rmtree(self._parts, ignore_errors=True)
        self.close()
        return read(self.path)

    def close(self) -> None:
        """Let another process continue; appended runs stay."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _parts(self) -> Path:
        return self.path / PARTS

    def _recover(self, manifest_base: Mapping[str, Any]) -> None:
        """Remove what an earlier writer left half-done, and find the completed runs."""
        self._parts.mkdir(exist_ok=True)
        for left in [p for p in self._parts.iterdir() if p.name.startswith(".")]:
            name = left.name[1:].rpartition(".")[0]
            if left.name.endswith(".old") and not (self._parts / name).exists():
                os.rename(left, self._parts / name)
            else:
                shutil.rmtree(left)
        if not part_folders(self.path):
            return
        runs = read_parts(self.path, ["runs"])["runs"]
        self.done = dict(zip(runs["run_id"], runs["status"], strict=True))
        again = {"utc": now_utc(), "git_commit": manifest_base.get("git_commit")}
        self.note(resumed=[*self.manifest.get("resumed", []), again])

    def _gather_logs(self) -> None:
        shutil.rmtree(self.path / "logs", ignore_errors=True)
        for log in sorted(self._parts.glob("[!.]*/logs/*")):
            (self.path / "logs").mkdir(exist_ok=True)
            files.write(self.path / "logs" / log.name, read_bytes(log))

    def _table_files(self) -> list[tuple[str, Path]]:
        return [(name, self.path / file_name(name)) for name in SCHEMAS]

    def _sealed_files(self) -> Iterator[Path]:
        yield from (file for name, file in self._table_files() if name in REQUIRED or file.exists())
        for folder in ("config", "logs"):
            yield from (self.path / folder).glob("[!.]*")

    def _check_open(self) -> None:
        if self._lock is None:
            raise LabError(
                "This dataset is closed for writing",
                found=self.path,
                next_step="Open it again; a complete dataset is never written to.",
            )


def _unfinished(
    root: Path, experiment: str, identity: Mapping[str, Any], base: Mapping[str, Any]
) -> Path:
    """Return the folder to write to, made if need be. The caller holds the lock of `root`."""
    digest, name, number = identity_hash(identity), stem(experiment, identity, base), 1
    while (path := root / f"{name}-{number}").exists():
        # One that cannot be read is left alone: only its name is taken.
        with suppress(LabError):
            manifest = read_manifest(path)
            if manifest["status"] != COMPLETE and identity_hash(manifest["identity"]) == digest:
                return path
        number += 1
    temporary = root / f".{path.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    manifest = new_manifest(path.name, experiment, identity, base)
    files.write_folder(temporary, {MANIFEST: to_json(manifest)})
    files.replace_folder(temporary, path)
    return path


def _lock(path: Path) -> int:
    lock = files.lock(path, wait=False)
    if lock is None:
        raise LabError(
            "Another lab is writing this dataset",
            found=path,
            expected="one writer",
            next_step="Wait for it, stop it with Ctrl-C, or change a parameter of this one.",
        )
    return lock


def _check_run(run_id: str, tables: Mapping[str, pd.DataFrame]) -> None:
    unknown = sorted(set(tables) - set(SCHEMAS))
    filled = [frame for frame in tables.values() if not frame.empty]
    strange = {str(r) for frame in filled for r in frame["run_id"].unique()} - {run_id}
    rows = len(tables["runs"]) if "runs" in tables else 0
    if unknown or strange or rows != 1:
        raise LabError(
            f"The tables of run {run_id} are not those of one run",
            found=f"{rows} rows of runs, tables {', '.join(tables)}, "
            f"other runs: {', '.join(sorted(strange)) or 'none'}",
            expected=f"one row of runs, tables among {', '.join(SCHEMAS)}",
            next_step=_REPORT,
        )


def _plain(name: str) -> str:
    if Path(name).name != name or name.startswith("."):
        raise LabError(
            "A file of a dataset needs a plain name",
            found=repr(name),
            expected="a name without folders, not hidden",
            next_step=_REPORT,
        )
    return name
