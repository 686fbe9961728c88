"""The folder of a dataset: its names, its manifest, and files that are whole or not there.

In: a folder. Out: its manifest, checked; or bytes that reached the disk under their final name.
It knows nothing of what the tables mean.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ndblab.dataset import schema
from ndblab.error import LabError

MANIFEST = "manifest.json"
PARTS = "parts"
PACKED = ".gz"
DAMAGED = "Measure it again, or get an undamaged copy of the dataset."

_NEEDED = ("dataset_id", "experiment", "status", "identity", "host", "versions", "plan", "profile")
_ELSEWHERE = "Give the folder of a dataset, the one with manifest.json in it."


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a dataset's manifest and check that this lab understands it."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise LabError(
            "There is no dataset here",
            found=f"{folder}, " + ("without a manifest" if folder.is_dir() else "not a folder"),
            expected=f"a folder with {MANIFEST}",
            next_step=_ELSEWHERE,
        ) from error
    except OSError as error:
        raise LabError(
            f"{file} cannot be read", found=error.strerror, next_step=_ELSEWHERE
        ) from error
    except ValueError as error:
        raise LabError(f"{file} is damaged", found=error, next_step=DAMAGED) from error
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    if version not in schema.READABLE:
        newer = isinstance(version, int) and version > schema.VERSION
        raise LabError(
            f"{file} is of another schema version",
            found="none" if version is None else version,
            expected=schema.VERSION,
            next_step="Update the lab." if newer else "Measure it again with this lab.",
        )
    lacking = [key for key in _NEEDED if key not in manifest]
    budget = manifest.get("plan")
    if not lacking and not (isinstance(budget, dict) and "kind" in (budget.get("budget") or {})):
        lacking = ["plan.budget.kind"]
    if lacking:
        raise LabError(
            f"{file} lacks what a manifest has",
            found=", ".join(sorted(manifest)),
            expected=", ".join(lacking),
            next_step=DAMAGED,
        )
    return manifest


def part_folders(folder: Path) -> list[Path]:
    """Return the folders of the whole runs of an unfinished dataset."""
    parts = folder / PARTS
    if not parts.is_dir():
        return []
    return sorted(p for p in parts.iterdir() if p.is_dir() and not p.name.startswith("."))


def identity_hash(identity: Mapping[str, Any]) -> str:
    """Return the sha256 of an identity, whatever the order of its keys."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def complete(root: Path | str, experiment: str, identity: Mapping[str, Any]) -> Path | None:
    """Find the newest complete dataset of an identity below a root."""
    digest = identity_hash(identity)
    found = []
    for manifest in (Path(root) / experiment).glob(f"*/{MANIFEST}"):
        with suppress(LabError):
            known = read_manifest(manifest.parent)
            if known["status"] == "complete" and identity_hash(known["identity"]) == digest:
                found.append((known["started_utc"], manifest.parent))
    return max(found)[1] if found else None


def read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise LabError(f"{file} cannot be read", found=error.strerror, next_step=DAMAGED) from error


def read_table_bytes(file: Path) -> bytes:
    """Read the file of a table, unpacked where it is compressed."""
    data = read_bytes(file)
    if file.suffix != PACKED:
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise LabError(f"{file} cannot be unpacked", found=error, next_step=DAMAGED) from error


def packed(name: str, data: bytes) -> bytes:
    """Give the bytes of a table's file; without a time, so that equal tables give equal files."""
    return gzip.compress(data, compresslevel=9, mtime=0) if name.endswith(PACKED) else data


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_new(file: Path, data: bytes) -> None:
    """Write a file so that its name stands for all of it or for what was there before."""
    temporary = file.with_name(f".{file.name}.tmp")
    with temporary.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, file)
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Make names in a folder last through a loss of power."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder with these files and see them to the disk."""
    folder.mkdir()
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        with file.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    sync_folder(folder)


def replace_folder(new: Path, final: Path) -> None:
    """Give a folder its final name; at any moment the old or the new one can be recovered."""
    old = final.with_name(f".{final.name}.old")
    if final.exists():
        os.rename(final, old)
    try:
        os.rename(new, final)
    except BaseException:
        if old.exists():
            os.rename(old, final)
        raise
    shutil.rmtree(old, ignore_errors=True)
    sync_folder(final.parent)


def lock_alone(path: Path) -> int:
    """Lock a folder for this process, or raise a LabError if another one holds it."""
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise LabError(
            "Another lab is writing this dataset",
            found=path,
            expected="one writer",
            next_step="Wait for it, stop it with Ctrl-C, or change a parameter of this one.",
        ) from error
    return lock


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for the length of a `with` block, after whoever holds it now."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
