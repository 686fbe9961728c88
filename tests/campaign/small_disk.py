"""A small disk that can be full: a file system in memory, mounted for one injection.

In: a folder. Out: a file system there, full or with space again. It needs root, and says so.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from ndblab.error import LabError

LEAST_BYTES = 4096
"""A size of 0 would mean no limit (tmpfs(5))."""
TRIES = 50
RETRY_S = 0.1


def mount(folder: Path, size_bytes: int) -> None:
    """Mount an empty file system of this size; only its content takes memory.

    LabError if this process may not mount anything.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unmount(folder)
    done = _mount("-t", "tmpfs", "-o", f"size={size_bytes},mode=700", "ndblab", folder)
    if done.returncode:
        raise LabError(
            "A small disk cannot be mounted here",
            found=done.stderr.strip() or f"exit status {done.returncode}",
            expected="a user who may mount a tmpfs",
            next_step="Run the campaign as root; otherwise these faults are skipped.",
        )


def fill(folder: Path) -> None:
    """Leave no space: shrink the file system to its content, which may be growing.

    LabError if it cannot be shrunk.
    """
    for _ in range(TRIES):
        there = os.statvfs(folder)
        used = (there.f_blocks - there.f_bfree) * there.f_frsize
        if _resize(folder, max(used, LEAST_BYTES)).returncode == 0:
            return
    raise LabError("A small disk cannot be filled", found=folder)


def widen(folder: Path, size_bytes: int) -> None:
    """Give the file system space again."""
    _resize(folder, size_bytes).check_returncode()


def unmount(folder: Path) -> None:
    """Unmount whatever is mounted there and discard its content.

    LabError if something still uses it.
    """
    deadline = time.monotonic() + TRIES * RETRY_S
    while os.path.ismount(folder):
        done = subprocess.run(["umount", folder], capture_output=True, text=True, check=False)
        if done.returncode and time.monotonic() > deadline:
            raise LabError("A small disk is still in use", found=done.stderr.strip())
        time.sleep(RETRY_S if done.returncode else 0)


def _resize(folder: Path, size_bytes: int) -> subprocess.CompletedProcess:
    return _mount("-o", f"remount,size={size_bytes}", folder)


def _mount(*arguments: object) -> subprocess.CompletedProcess:
    argv = ["mount", *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)
