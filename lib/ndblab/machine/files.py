"""Files and folders that are either whole or absent, and locks on them.

Nothing half-written ever has its final name.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.machine import Machine


def write(file: Path, data: bytes) -> None:
    """Write or replace a file in one step."""
    temporary = file.with_name(f".{file.name}.tmp")
    with temporary.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, file)
    sync_folder(file.parent)


def replace_folder(new: Path, final: Path) -> None:
    """Give a folder its final name; at any moment the old or the new one can be recovered."""
    old = final.with_name(f".{final.name}.old")
    if final.exists():
        # What an earlier replacement did not remove, or could not.
        shutil.rmtree(old, ignore_errors=True)
        if old.exists():
            old = Path(tempfile.mkdtemp(prefix=f"{old.name}.", dir=final.parent))
        os.rename(final, old)
    try:
        os.rename(new, final)
    except BaseException:
        if old.exists():
            os.rename(old, final)
        raise
    shutil.rmtree(old, ignore_errors=True)
    sync_folder(final.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock(path: Path, *, wait: bool) -> int | None:
    """Lock an existing file or folder and return its descriptor; closing it ends the lock.

    Without `wait`, return None if another process holds the lock. NFS locks a file only if it is
    open for writing (flock(2)), which a folder cannot be.
    """
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle


def free_bytes(machine: Machine, folder: Path) -> int:
    """Return the free space of the disk that holds a folder of a machine; LabError if unknown."""
    argv = ["df", "--output=avail", "-B1", str(folder)]
    return int(machine.run(argv, what=f"The free disk space of {folder} is unknown").split()[-1])
