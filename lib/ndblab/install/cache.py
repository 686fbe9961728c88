"""The lab's own folder for what it installs, and the right to change it.

In: the environment. Out: a path, a lock, an answer about disk space. It never deletes anything.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ndblab.error import LabError


def location() -> Path:
    """Say where installations live; the folder need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "ndblab"


@contextmanager
def locked(say: Callable[[str], None]) -> Iterator[Path]:
    """Hold the cache for one installer; a second one waits and says so."""
    folder = location()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "install.lock").open("w")
    except OSError as error:
        raise LabError(
            f"The lab's cache {folder} cannot be written",
            found=error.strerror,
            next_step="Set XDG_CACHE_HOME to a folder that you can write.",
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another installation is under way in this cache; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def need_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Refuse to begin what the disk cannot hold."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        lacking = (needed_bytes - free_bytes) / 1e9
        raise LabError(
            f"The disk of {folder} is too full for {what}",
            found=f"{free_bytes / 1e9:.1f} GB free",
            expected=f"{needed_bytes / 1e9:.1f} GB while installing",
            next_step=f"Free {lacking:.1f} GB, or set XDG_CACHE_HOME to a folder on another disk.",
        )
