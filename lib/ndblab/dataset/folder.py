"""The files in a dataset's folder: where they are, read whole, packed and summed.

In: a folder. Out: paths and bytes, or one LabError. It knows nothing of what the tables mean.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ndblab.dataset.column import GZIP, XZ
from ndblab.dataset.manifest import COMPLETE, MANIFEST, identity_hash, read_manifest
from ndblab.dataset.schema import MEASURE_AGAIN
from ndblab.error import LabError

PARTS = "parts"
_PACK = {
    GZIP: functools.partial(gzip.compress, compresslevel=9, mtime=0),
    XZ: functools.partial(lzma.compress, preset=4),
}
_UNPACK = {GZIP: gzip.decompress, XZ: lzma.decompress}


def part_folders(folder: Path) -> list[Path]:
    """Return the folders of the completed runs of an unfinished dataset."""
    parts = folder / PARTS
    if not parts.is_dir():
        return []
    return sorted(p for p in parts.iterdir() if p.is_dir() and not p.name.startswith("."))


def complete(root: Path | str, experiment: str, identity: Mapping[str, Any]) -> Path | None:
    """Find the newest complete dataset of an identity below a root."""
    digest = identity_hash(identity)
    found = []
    for file in (Path(root) / experiment).glob(f"*/{MANIFEST}"):
        with suppress(LabError):
            manifest = read_manifest(file.parent)
            same = identity_hash(manifest["identity"]) == digest
            if manifest["status"] == COMPLETE and same:
                found.append((manifest["started_utc"], file.parent))
    return max(found)[1] if found else None


def read_bytes(file: Path) -> bytes:
    """Read a file of a dataset as it is."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise LabError(
            f"{file} cannot be read", found=error.strerror, next_step=MEASURE_AGAIN
        ) from error


def unpacked(file: Path, data: bytes) -> bytes:
    """Unpack the bytes of a table's file if it is compressed."""
    try:
        return _UNPACK.get(file.suffix, bytes)(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise LabError(
            f"{file} cannot be unpacked", found=error, next_step=MEASURE_AGAIN
        ) from error


def packed(name: str, data: bytes) -> bytes:
    """Compress a table's bytes if its file is; no time stamp, so equal tables give equal files."""
    return _PACK.get(Path(name).suffix, bytes)(data)


def sha256(data: bytes) -> str:
    """Return the sha256 of these bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
