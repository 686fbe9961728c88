"""The writer of one dataset: completed runs go in one by one, a complete dataset comes out.

In: the tables and logs of a run. Out: a folder whose growth a kill, a full disk or a second lab can
stop, but which they never damage: each run has a folder of its own, named only when it is whole.
It writes into a complete dataset only after `Writer.reopen`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from ndblab.dataset import part, sealed, unfinished
from ndblab.dataset.folder import PARTS
from ndblab.dataset.manifest import (
    COMPLETE,
    MANIFEST,
    UNFINISHED,
    identity_hash,
    new_manifest,
    now_utc,
    read_manifest,
    stem,
    to_json,
)
from ndblab.dataset.reader import Dataset, read
from ndblab.dataset.schema import ROW_PER_RUN, VERSION
from ndblab.error import LabError, writing
from ndblab.machine import files


class Writer:
    """One unfinished dataset, locked by this process until `close` or `finish`.

    Use `Writer.open` or `Writer.reopen`; a `with` block closes it whatever happens.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], lock: int) -> None:
        self.path = path
        self.manifest = manifest
        self._lock: int | None = lock
        self.done: dict[str, str] = {}
        """The status of each run and slice, by id."""

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
        return cls._begun(path, lock, manifest_base)

    @classmethod
    def reopen(cls, path: Path | str, manifest_base: Mapping[str, Any]) -> Writer:
        """Go on with a complete dataset: check all of it, and make it unfinished again.

        Its files stay as they are until `finish`. A kill leaves it complete, or unfinished with
        all its runs; `open` then resumes it, and so does this.

        Raises
        ------
        LabError
            If it is damaged, another process is writing it, or the disk refuses.
        """
        path = Path(path)
        read_manifest(path)
        with writing(path):
            lock = _lock(path)
        return cls._begun(path, lock, manifest_base)

    @classmethod
    def _begun(cls, path: Path, lock: int, manifest_base: Mapping[str, Any]) -> Writer:
        try:
            writer = cls(path, read_manifest(path), lock)
            with writing(path):
                if writer.manifest["status"] == COMPLETE:
                    read(path)
                    # What an interrupted `finish` left of them is no longer whole.
                    if writer._parts.exists():
                        shutil.rmtree(writer._parts)
                    writer.note(status=UNFINISHED, finished_utc=None)
                writer._recover(manifest_base)
        except BaseException:
            os.close(lock)
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
        """Add one run or slice, all of it or nothing; it replaces an earlier one of that name.

        Parameters
        ----------
        tables : by name; `runs` or `slices` has one row, others may be absent or empty.
        logs : file name (without folder) -> text.
        """
        self._check_open()
        made = part.make(run_id, tables, logs or {})
        folder = self._parts / run_id
        temporary = self._parts / f".{run_id}.tmp"
        with writing(folder):
            shutil.rmtree(temporary, ignore_errors=True)
            try:
                files.write_folder(temporary, made.files)
                files.replace_folder(temporary, folder)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        self.done[run_id] = made.status
        self._memory.add(run_id, made.tables)

    def snapshot(self) -> Dataset:
        """Return the dataset as it stands, all runs and slices so far, without reading it again."""
        return Dataset(self.path, self.manifest, self._memory.tables())

    def add_config(self, name: str, text: str) -> None:
        """Store an exact input of the cluster."""
        self._check_open()
        file = self.path / "config" / part.plain(name)
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
        tables = unfinished.read(self.path, self.manifest)
        if not any(len(tables[name]) for name in ROW_PER_RUN):
            raise LabError(
                "A dataset without any run cannot be finished",
                found=self.path,
                expected="at least one run",
                next_step="Start the sweep again.",
            )
        if self.manifest.get("files"):
            # From here on they need not match any more.
            self.note(files={})
        with writing(self.path):
            sums = sealed.write(self.path, tables)
            manifest = {
                **self.manifest,
                **manifest_updates,
                "status": COMPLETE,
                "finished_utc": now_utc(),
                "files": sums,
            }
            files.write(self.path / MANIFEST, to_json(manifest))
            self.manifest = manifest
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
        found = unfinished.read(self.path, self.manifest)
        self._memory = unfinished.Memory(found)
        for name in ROW_PER_RUN:
            self.done |= found[name].set_index("run_id")["status"].to_dict()
        if self.done:
            again = {"utc": now_utc(), "git_commit": manifest_base.get("git_commit")}
            resumed = [*self.manifest.get("resumed", []), again]
            self.note(resumed=resumed, schema_version=VERSION)

    def _check_open(self) -> None:
        if self._lock is None:
            raise LabError(
                "This dataset is closed for writing",
                found=self.path,
                next_step="Open it again; if it is complete, go on with Writer.reopen.",
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
