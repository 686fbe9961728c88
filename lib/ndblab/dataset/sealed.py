"""The sealed files of a dataset: tables and an archive, whose sha256 sums are in its manifest.

The archive holds all configs and raw logs.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import itertools
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.column import GZIP, XZ
from ndblab.dataset.schema import REQUIRED, SCHEMAS, damaged, file_name
from ndblab.machine import files

MANIFEST, ARCHIVE = "manifest.json", "logs.tar.xz"
"""The archive's name dates from when it held the logs alone."""
CONFIG, LOGS = "config/", "logs/"
"""Folders in the archive."""
_PACK = {
    GZIP: functools.partial(gzip.compress, compresslevel=9, mtime=0),
    XZ: functools.partial(lzma.compress, preset=4),
}
_OPEN = {GZIP: gzip.open, XZ: lzma.open}


def read_bytes(file: Path) -> bytes:
    """Read a file of a dataset as it is."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise damaged(f"{file} cannot be read", error.strerror) from error


def read_verified(folder: Path, name: str, manifest: Mapping[str, Any]) -> bytes:
    """Read a file as it is, and compare it with its sum."""
    data = read_bytes(folder / name)
    _verify(folder / name, data, manifest["files"].get(name))
    return data


def read_table(folder: Path, name: str, manifest: Mapping[str, Any], verify: bool) -> pd.DataFrame:
    """Read a table; one that the dataset's experiment does not have is empty."""
    sums = manifest.get("files", {})
    file = folder / file_name(name)
    if SCHEMAS[name].optional and file.name not in sums:
        return table.empty(name)
    # The schema first: "cut off" or "another unit" says more than "another sha256".
    data = read_bytes(file)
    with _unpacking(file):
        frame = table.read(name, lambda: _opened(file, data), str(file))
    if verify:
        _verify(file, data, sums.get(file.name))
    return frame


def read_archived(folder: Path, manifest: Mapping[str, Any], inside: str) -> dict[str, bytes]:
    """Read and verify the archive, and return its files in `CONFIG` or `LOGS` by name."""
    if ARCHIVE not in manifest["files"]:
        return {}
    unpacked = _unpacked(folder / ARCHIVE, read_verified(folder, ARCHIVE, manifest))
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as packed:
        mine = [entry for entry in packed if entry.name.startswith(inside)]
        return {Path(entry.name).name: packed.extractfile(entry).read() for entry in mine}


def by_run(folder: Path, manifest: Mapping[str, Any]) -> dict[str, dict[str, bytes]]:
    """Return the tables as CSV and the logs of each run, by name; configs are those of run "".

    Each line of a table is one row and begins with its run's id; so does the name of each log.
    """
    sums = manifest["files"]
    configs = read_archived(folder, manifest, CONFIG)
    runs = {"": {f"{CONFIG}{name}": data for name, data in configs.items()}}
    for name in SCHEMAS:
        file = folder / file_name(name)
        if file.name in sums:
            header, *rows = _unpacked(file, read_bytes(file)).splitlines(keepends=True)
            for run_id, own in itertools.groupby(rows, lambda row: row.partition(b",")[0].decode()):
                run = runs.setdefault(run_id, {})
                run[name] = run.get(name, header) + b"".join(own)
    for name, data in read_archived(folder, manifest, LOGS).items():
        runs.setdefault(name.partition(".")[0], {})[f"{LOGS}{name}"] = data
    return runs


def archive(configs: Mapping[str, bytes], logs: Mapping[str, bytes]) -> bytes:
    """Pack configs and logs; equal ones give equal bytes, whenever and by whomever packed."""
    contents = {f"{CONFIG}{name}": data for name, data in configs.items()}
    contents |= {f"{LOGS}{name}": data for name, data in logs.items()}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        for name, data in sorted(contents.items()):
            # Its time, owner and group are 0 unless set.
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
    return lzma.compress(buffer.getvalue())


def verify(folder: Path, manifest: Mapping[str, Any], besides: Iterable[str]) -> None:
    """Compare the sealed files with their sums, except those of the tables in `besides`."""
    tables = {file_name(name) for name in besides}
    for name in manifest.get("files", {}).keys() - tables:
        read_verified(folder, name, manifest)


def write(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    configs: Mapping[str, bytes],
    logs: Mapping[str, bytes],
) -> dict[str, str]:
    """Write tables, configs and logs, remove the files they replace, and return their sums."""
    sums: dict[str, str] = {}

    def seal(name: str, data: bytes) -> None:
        files.write(folder / name, data)
        sums[name] = sha256(data)

    for name in (name for name in SCHEMAS if name in REQUIRED or len(tables[name])):
        file = file_name(name)
        # Without a time stamp: equal tables give equal files.
        pack = _PACK.get(Path(file).suffix, bytes)
        seal(file, pack(table.render(name, tables[name], file)))
    if configs or logs:
        seal(ARCHIVE, archive(configs, logs))
    tabled = {file_name(name) for name in SCHEMAS}
    for old in (tabled & set(os.listdir(folder))) - sums.keys():
        (folder / old).unlink()
    return dict(sorted(sums.items()))


def sha256(data: bytes) -> str:
    """Return the sha256 of these bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _verify(file: Path, data: bytes, expected: str | None) -> None:
    if (actual := sha256(data)) != expected:
        known = f"sha256 {expected}" if expected else f"its sha256 in {MANIFEST}"
        raise damaged(f"{file} has changed since it was measured", f"sha256 {actual}", known)


def _unpacked(file: Path, data: bytes) -> bytes:
    with _unpacking(file), _opened(file, data) as stream:
        return stream.read()


def _opened(file: Path, data: bytes) -> BinaryIO:
    """Open the bytes of a file, unpacked if they are packed."""
    packed = io.BytesIO(data)
    return _OPEN[file.suffix](packed) if file.suffix in _OPEN else packed


@contextmanager
def _unpacking(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise damaged(f"{file} cannot be unpacked", error) from error
