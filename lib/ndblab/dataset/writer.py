"""The writer of one dataset: completed runs go in one by one, a complete dataset comes out.

A kill, a full disk or a second lab can stop its growth, but never damage it: runs go to a journal,
which is removed once all files of the complete dataset are written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab.dataset import journal, sealed
from ndblab.dataset.journal import JOURNAL, NO_RUN, Journal
from ndblab.dataset.manifest import (
    COMPLETE,
    UNFINISHED,
    identity_hash,
    new_manifest,
    now_utc,
    read_manifest,
    stem,
    to_json,
)
from ndblab.dataset.reader import Dataset, read
from ndblab.dataset.schema import ROW_PER_RUN
from ndblab.dataset.sealed import CONFIG, LOGS, MANIFEST
from ndblab.error import LabError, writing
from ndblab.machine import files


class Writer:
    """One unfinished dataset, locked by this process until `close` or `finish`.

    Use `Writer.open` or `Writer.reopen`; a `with` block closes it whatever happens.
    """

    def __init__(self, path: Path, lock: int, manifest_base: Mapping[str, Any]) -> None:
        self.path = path
        self._lock: int | None = lock
        self._journal = Journal(path)
        self.manifest = read_manifest(path)
        self._tables = self._journal.tables()
        # Runs that are not in the tables yet: joining many at once is faster.
        self._new: dict[str, Mapping[str, bytes]] = {}
        self.done: dict[str, str] = {}
        """The status of each run and slice, by id."""
        for name in ROW_PER_RUN:
            self.done |= self._tables[name].set_index("run_id")["status"].to_dict()
        if self.done:
            again = {"utc": now_utc(), "git_commit": manifest_base.get("git_commit")}
            self.note(resumed=[*self.manifest.get("resumed", []), again])

    @classmethod
    def open(
        cls,
        root: Path | str,
        experiment: str,
        identity: Mapping[str, Any],
        manifest_base: Mapping[str, Any],
        taken: Path | None = None,
    ) -> Writer:
        """Resume the unfinished dataset of this identity, or begin a new one.

        LabError if another process is writing it, or the disk refuses.

        Parameters
        ----------
        root : the folder that holds a folder for each experiment.
        taken : another such folder, to which a new dataset may be moved, so its names are taken.
        manifest_base : host, versions, plan, profile, overrides and git_commit.
        """
        folder = Path(root) / experiment
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            naming = files.lock(folder, wait=True)
            try:
                path = _unfinished(folder, taken, experiment, identity, manifest_base)
                lock = _lock(path)
            finally:
                os.close(naming)
        return cls._locked(path, lock, manifest_base)

    @classmethod
    def reopen(cls, path: Path | str, manifest_base: Mapping[str, Any]) -> Writer:
        """Continue a complete dataset: check all of it, and make it unfinished again.

        Its files stay as they are until `finish`. A kill leaves it complete, or unfinished with
        all its runs; `open` and `reopen` both resume the latter. LabError if it is damaged, another
        process is writing it, or the disk refuses.
        """
        path = Path(path)
        read_manifest(path)
        with writing(path):
            lock = _lock(path)
        return cls._locked(path, lock, manifest_base)

    @classmethod
    def _locked(cls, path: Path, lock: int, manifest_base: Mapping[str, Any]) -> Writer:
        try:
            manifest = read_manifest(path)
            if manifest["status"] == COMPLETE:
                _go_on(path, manifest)
            return cls(path, lock, manifest_base)
        except BaseException:
            os.close(lock)
            raise

    def append(
        self, run_id: str, tables: Mapping[str, pd.DataFrame], logs: Mapping[str, str] | None = None
    ) -> None:
        """Add one run or slice, all of it or nothing; it replaces an earlier one of that name.

        Parameters
        ----------
        tables : by name; `runs` or `slices` has one row, others may be absent or empty.
        logs : file name (without folder) -> text.
        """
        self._check_open()
        status, contents = journal.contents(run_id, tables, logs or {})
        self._journal.put(run_id, contents)
        self.done[run_id] = status
        # At the end, where the journal has it.
        self._new.pop(run_id, None)
        self._new[run_id] = contents

    def snapshot(self) -> Dataset:
        """Return the dataset as it stands, all runs and slices so far, without reading it again."""
        if self._new:
            self._tables, self._new = journal.with_runs(self._tables, self._new), {}
        return Dataset(self.path, self.manifest, dict(self._tables))

    def add_config(self, name: str, text: str) -> None:
        """Store an exact input of the cluster."""
        self._check_open()
        self._journal.put(NO_RUN, {f"{CONFIG}{journal.plain(name)}": text.encode()})

    def note(self, **facts: Any) -> None:
        """Store facts in the manifest at once, so that a resumed sweep has them too."""
        self._check_open()
        self.manifest = {**self.manifest, **facts}
        self._journal.put(NO_RUN, {MANIFEST: to_json(self.manifest)})

    def finish(self, **manifest_updates: Any) -> Dataset:
        """Write the dataset's files and their sha256 sums, remove the journal, and read it back."""
        self._check_open()
        if not self.done:
            raise LabError(
                "A dataset without any run cannot be finished",
                found=self.path,
                expected="at least one run",
                next_step="Start the sweep again.",
            )
        tables, held = self.snapshot().tables, self._journal.files
        with writing(self.path):
            sums = sealed.write(self.path, tables, held(CONFIG), held(LOGS))
            self.manifest = {
                **self.manifest,
                **manifest_updates,
                "status": COMPLETE,
                "finished_utc": now_utc(),
                "files": sums,
            }
            files.write(self.path / MANIFEST, to_json(self.manifest))
            self._journal.remove()
        self.close()
        return read(self.path)

    def close(self) -> None:
        """Unlock the dataset for other processes; appended runs stay."""
        if self._lock is not None:
            self._journal.close()
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._lock is None:
            raise LabError(
                "This dataset is closed for writing",
                found=self.path,
                next_step="Open it again; if it is complete, go on with Writer.reopen.",
            )


def _unfinished(
    root: Path,
    taken: Path | None,
    experiment: str,
    identity: Mapping[str, Any],
    base: Mapping[str, Any],
) -> Path:
    """Return the folder to write to, made if need be. The caller holds the lock of `root`."""
    digest, name, number = identity_hash(identity), stem(experiment, identity, base), 1
    elsewhere = taken / experiment if taken else root
    while (path := root / f"{name}-{number}").exists() or (elsewhere / path.name).exists():
        # One that cannot be read or continued is left alone: only its name is taken.
        with suppress(LabError):
            manifest = read_manifest(path)
            resumable = manifest["status"] == UNFINISHED and (path / JOURNAL).exists()
            if resumable and identity_hash(manifest["identity"]) == digest:
                return path
        number += 1
    temporary = root / f".{path.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    manifest = new_manifest(path.name, experiment, identity, base)
    temporary.mkdir()
    Journal.create(temporary, [(NO_RUN, MANIFEST, to_json(manifest))])
    os.rename(temporary, path)
    files.sync_folder(root)
    return path


def _go_on(path: Path, manifest: Mapping[str, Any]) -> None:
    """Check all of a complete dataset, and begin a journal that has all of it."""
    read(path)
    runs = sealed.by_run(path, manifest)
    again = manifest | {"status": UNFINISHED, "finished_utc": None, "files": {}}
    runs[NO_RUN] |= {MANIFEST: to_json(again)}
    rows = ((run_id, name, data) for run_id, run in runs.items() for name, data in run.items())
    Journal.create(path, rows)


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
