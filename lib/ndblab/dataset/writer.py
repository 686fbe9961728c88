"""The writer of one dataset: whole runs go in one by one, a complete dataset comes out.

In: the tables and logs of a run. Out: a folder that a kill, a full disk or a second lab can stop
from growing but never damage: each run lies in a folder of its own, which gets its name last.
It never writes into a complete dataset.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from ndblab.dataset import schema, table
from ndblab.dataset.folder import (
    MANIFEST,
    PARTS,
    fill,
    identity_hash,
    lock_alone,
    locked,
    packed,
    part_folders,
    read_bytes,
    read_manifest,
    replace_folder,
    sha256,
    sync_folder,
    write_new,
)
from ndblab.dataset.reader import Dataset, read, read_parts
from ndblab.dataset.schema import OPTIONAL, REQUIRED, SCHEMAS, file_name
from ndblab.error import LabError, writing


class Writer:
    """One unfinished dataset, held by this process alone until `close` or `finish`.

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
        """Go on with the unfinished dataset of this identity, or begin a new one.

        Parameters
        ----------
        root : the folder that holds a folder for each experiment.
        manifest_base : host, versions, plan, profile, overrides and git_commit.

        Raises
        ------
        LabError : when another process is writing it, or the disk refuses.
        """
        shelf = Path(root) / experiment
        with writing(shelf):
            shelf.mkdir(parents=True, exist_ok=True)
            with locked(shelf):
                path = _unfinished(shelf, experiment, identity, manifest_base)
                lock = lock_alone(path)
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
        """Add one run, all of it or nothing; it takes the place of an earlier run of that name.

        Parameters
        ----------
        tables : by name; `runs` with one row is a must, others may be absent or empty.
        logs : file name (without folder) -> text.
        """
        self._check_open()
        given = [n for n in OPTIONAL if n in tables and not tables[n].empty]
        files = {
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
                fill(temporary, files | texts)
                replace_folder(temporary, part)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
        self.done[run_id] = str(tables["runs"]["status"].iloc[0])

    def add_config(self, name: str, text: str) -> None:
        """Keep an exact input of the cluster."""
        self._check_open()
        file = self.path / "config" / _plain(name)
        with writing(file):
            file.parent.mkdir(exist_ok=True)
            write_new(file, text.encode())

    def note(self, **facts: Any) -> None:
        """Keep facts in the manifest at once, so that a sweep that is gone on with has them too."""
        self._check_open()
        self.manifest = {**self.manifest, **facts}
        with writing(self.path):
            write_new(self.path / MANIFEST, _json(self.manifest))

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
                    write_new(file, packed(file.name, data))
            self._gather_logs()
            files = {
                str(file.relative_to(self.path)): sha256(read_bytes(file))
                for file in sorted(self._sealed_files())
            }
            sealed = {
                **self.manifest,
                **manifest_updates,
                "status": "complete",
                "finished_utc": _now_utc(),
                "files": files,
            }
            write_new(self.path / MANIFEST, _json(sealed))
            self.manifest = sealed
            shutil.rmtree(self._parts, ignore_errors=True)
        self.close()
        return read(self.path)

    def close(self) -> None:
        """Let another process go on; what was appended stays."""
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
        """Remove what an earlier writer left half-done, and learn which runs are whole."""
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
        again = {"utc": _now_utc(), "git_commit": manifest_base.get("git_commit")}
        self.manifest = {
            **self.manifest,
            "resumed": [*self.manifest.get("resumed", []), again],
        }
        write_new(self.path / MANIFEST, _json(self.manifest))

    def _gather_logs(self) -> None:
        shutil.rmtree(self.path / "logs", ignore_errors=True)
        for log in sorted(self._parts.glob("[!.]*/logs/*")):
            (self.path / "logs").mkdir(exist_ok=True)
            write_new(self.path / "logs" / log.name, read_bytes(log))

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
    shelf: Path, experiment: str, identity: Mapping[str, Any], manifest_base: Mapping[str, Any]
) -> Path:
    """Return the folder to write to, made if need be. The caller holds the shelf's lock."""
    digest = identity_hash(identity)
    stem = "-".join(
        _slug(word)
        for word in (
            experiment,
            _host_word(manifest_base["host"]),
            manifest_base["plan"]["budget"]["kind"],
            manifest_base["profile"]["name"],
            digest[:8],
        )
    )
    number = 1
    while (path := shelf / f"{stem}-{number}").exists():
        # One that cannot be read is somebody else's trouble: its name is taken, that is all.
        with suppress(LabError):
            manifest = read_manifest(path)
            if manifest["status"] != "complete" and identity_hash(manifest["identity"]) == digest:
                return path
        number += 1
    manifest = {
        "schema_version": schema.VERSION,
        "dataset_id": path.name,
        "experiment": experiment,
        "status": "unfinished",
        "identity": dict(identity),
        "overrides": {},
        "git_commit": None,
        **manifest_base,
        "started_utc": _now_utc(),
        "finished_utc": None,
        "timings": {},
        "files": {},
    }
    temporary = shelf / f".{path.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    fill(temporary, {MANIFEST: _json(manifest)})
    os.rename(temporary, path)
    sync_folder(shelf)
    return path


def _host_word(host: Mapping[str, Any]) -> str:
    """Name a host in a word that says its size and not whose it is."""
    return f"{len(host['cpus'])}cpu" if isinstance(host.get("cpus"), list | tuple) else "host"


def _slug(word: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", word.lower()).strip("_") or "x"


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
            next_step="This is a fault of the lab, not of your input: please report it.",
        )


def _plain(name: str) -> str:
    if Path(name).name != name or name.startswith("."):
        raise LabError(
            "A file of a dataset needs a plain name",
            found=repr(name),
            expected="a name without folders, not hidden",
            next_step="This is a fault of the lab, not of your input: please report it.",
        )
    return name


def _now_utc() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(manifest: Mapping[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
