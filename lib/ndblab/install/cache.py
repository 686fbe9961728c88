"""The lab's cache: the folder of its installations, its lock and its disk space.

In: the environment. Out: a path, a lock, and one clear error for a full or unwritable folder,
whichever program noticed it. It never deletes anything.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import files
from ndblab.machine.commands import ChildFailed

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_WORDS = ("No space left on device", "Disk quota exceeded")


def location() -> Path:
    """Return the folder of the installations, which need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "ndblab"


@contextmanager
def locked(say: Callable[[str], None]) -> Iterator[Path]:
    """Lock the cache for one installer; a second one waits and says so."""
    folder = location()
    with _explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / "install.lock"
        place.touch()
        lock = files.lock(place, wait=False)
        if lock is None:
            say("another process is installing into this cache; waiting for it")
            lock = files.lock(place, wait=True)
        try:
            yield folder
        finally:
            os.close(lock)


def need_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Refuse to start what the disk cannot hold."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        missing = (needed_bytes - free_bytes) / 1e9
        raise LabError(
            f"Not enough disk space in {folder} for {what}",
            found=f"{free_bytes / 1e9:.1f} GB free",
            expected=f"{needed_bytes / 1e9:.1f} GB while installing",
            next_step=f"Free {missing:.1f} GB, or set XDG_CACHE_HOME to a folder on another disk.",
        )


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    """Report a full disk or an unwritable folder in one way, from Python and from programs."""
    try:
        yield
    except ChildFailed as failure:
        if not any(words in failure.output for words in _FULL_WORDS):
            raise
        raise _full(folder, f"{failure.what}: {failure.found}") from None
    except OSError as error:
        if error.errno in _FULL:
            raise _full(folder, error.strerror) from None
        place = Path(error.filename) if isinstance(error.filename, str) else None
        # If the cache cannot be created, the error names a folder above it.
        if place is None or not (place.is_relative_to(folder) or folder.is_relative_to(place)):
            raise
        raise LabError(
            f"The lab's cache {folder} cannot be written",
            found=f"{place}: {error.strerror}",
            next_step="Set XDG_CACHE_HOME to a folder that you can write to.",
        ) from None


def _full(folder: Path, found: str) -> LabError:
    return LabError(
        f"The disk of the lab's cache {folder} is full",
        found=found,
        next_step="Free some space, or set XDG_CACHE_HOME to a folder on another disk, and install "
        "again: it resumes where it stopped.",
    )
