"""Folders with all that they hold, as one stream of bytes (a tar archive) from host to host.

A copy is whole or not there at all. File owners are not copied: a copy belongs to whoever makes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ndblab.error import LabError, writing

STAMP = ".ndblab-copy"
"""File that distinguishes a copy made by the lab from a folder of the user's."""
BLOCK_BYTES = 1 << 16


def size_bytes(folder: Path) -> int:
    """Return about how much disk space a copy of a folder takes."""
    return sum(path.lstat().st_size for path in _everything(folder))


def pack(folder: Path, stream: BinaryIO, patterns: Sequence[str] = ()) -> None:
    """Write what a folder holds, or what matches the patterns, to a stream.

    OSError if a file cannot be read, or the stream cannot be written.
    """
    chosen = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    with tarfile.open(None, "w|", stream, BLOCK_BYTES) as archive:
        for path in chosen if patterns else _everything(folder):
            archive.add(path, str(path.relative_to(folder)), recursive=False, filter=_ownerless)


def unpack(stream: BinaryIO, folder: Path, links: bool = False) -> None:
    """Write files and folders of a stream below an existing folder; links only if they are allowed.

    LabError if the disk refuses, or the stream is no archive of files below that folder.
    """
    try:
        with writing(folder), tarfile.open(None, "r|", stream, BLOCK_BYTES) as archive:
            # A link of an installation may point anywhere: all links are allowed, or none is.
            archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            for member in archive:
                name = Path(member.name)
                inside = not name.is_absolute() and ".." not in name.parts
                is_link = member.issym() or member.islnk()
                if inside and (member.isreg() or member.isdir() or (links and is_link)):
                    member.mode |= 0o700 if member.isdir() else 0o600
                    archive.extract(member, folder)
    except tarfile.TarError as error:
        raise LabError(
            f"The copy in {folder} is incomplete",
            found=str(error),
            expected="a whole archive",
            next_step="Check the connection and that host's disk, and run the same command again.",
        ) from error


def partial_name(folder: Path) -> Path:
    """Return the name of a copy that this process is making."""
    return folder.with_name(f".{folder.name}.{os.getpid()}.partial")


def replace(stream: BinaryIO, folder: Path) -> None:
    """Make a folder from a stream, in place of an older copy.

    The folder gets its name only once it is complete; until then it has its `partial_name`.
    LabError as `unpack` does, or if the folder exists and is not a copy that the lab made.
    """
    if folder.exists() and not (folder / STAMP).is_file() and any(folder.iterdir()):
        raise LabError(
            f"{folder} contains other files",
            found=", ".join(sorted(path.name for path in folder.iterdir())[:5]),
            expected="no such folder, or a copy that the lab made",
            next_step="Choose another folder, or move that one away.",
        )
    partial = partial_name(folder)
    with writing(folder):
        partial.mkdir(parents=True)
    try:
        unpack(stream, partial, links=True)
        with writing(folder):
            (partial / STAMP).write_text("copied by the lab\n")
            old = partial.with_suffix(".old")
            with contextlib.suppress(FileNotFoundError):
                folder.rename(old)
            partial.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _everything(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.name != STAMP)


def _ownerless(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
