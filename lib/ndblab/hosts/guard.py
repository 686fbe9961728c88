"""The cluster's folder on another host: one lab has it, and it is cleared when that lab is gone.

The guard clears it if the agent ends without a word. The guard is a process of its own, in its own
session, so that it outlives the agent and the SSH connection.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from ndblab.error import LabError, writing
from ndblab.machine import cleanup, files, speed
from ndblab.machine.local import LOCAL

LOCK = "lock"
PATIENCE_S, POLL_S = 30, 0.05
_DONE = b"done"


def take(folder: Path, user: Mapping[str, str], keep: bool) -> None:
    """Make the folder, lock it until this process ends, and clean up what a dead lab has left.

    With `keep`, files stay: only processes and what belongs to them are removed. LabError if
    another lab uses the folder, or it contains other files.
    """
    own = {**user, "host": platform.node(), "agent_pid": os.getpid()}
    deadline = time.monotonic() + speed.timeout_s(PATIENCE_S)
    while not _lock(folder):
        known = cleanup.record(folder)
        elsewhere = known.get("host", own["host"]) != own["host"]
        # The guard of a dead lab has the lock as well, while it cleans up.
        alive = Path(f"/proc/{known.get('agent_pid')}").exists()
        if elsewhere or alive or time.monotonic() > deadline:
            raise _in_use(folder, known, own)
        time.sleep(POLL_S)
    cleanup.clean(folder)
    with writing(folder):
        # The record goes last: without it, what a killed lab has left is nobody's.
        for path in () if keep else sorted(folder.iterdir(), key=_is_record):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    cleanup.add_to_record(folder, own)


def _is_record(path: Path) -> bool:
    return path.name == cleanup.RECORD


def _in_use(folder: Path, known: Mapping, own: Mapping) -> LabError:
    """Explain who has the lock, by the records of both."""
    holder = known.get("lab", "a lock on it")
    if known.get("host", own["host"]) != own["host"]:
        return LabError(
            f"The folder {folder} is in use by another host",
            found=f"{known['host']} has locked it, for {holder}",
            expected="a folder on a disk of the host's own, which is faster too",
            next_step="Choose a folder that the hosts do not share, on /var/tmp for instance.",
        )
    if holder == own["lab"]:
        return LabError(
            f"This host is in use already, with the folder {folder}",
            found=f"{known['name']} and {own['name']} are two names of it",
            expected="every host named once",
            next_step="Remove one of the names.",
        )
    return LabError(
        f"Another lab uses the folder {folder}",
        found=holder,
        expected="one lab at a time in a folder",
        next_step="Wait for it to end, or choose another folder.",
    )


def _lock(folder: Path) -> bool:
    """Make and lock a folder; False if another process has it, or has just removed it."""
    strange = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if strange not in ([], [LOCK]) and "agent_pid" not in cleanup.record(folder):
        raise LabError(
            "The cluster's folder contains other files",
            found=f"{', '.join(strange[:5])} in {folder}",
            expected="an empty folder, or one that the lab created",
            next_step="Choose a folder of its own.",
        )
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        LOCAL.make_folder(folder)
        place = folder / LOCK
        try:
            place.touch(mode=0o600)
            lock = files.lock(place, wait=False)
            if lock is None or os.path.samestat(os.fstat(lock), place.stat()):
                return lock is not None
        except FileNotFoundError:
            return False
    os.close(lock)
    return False


def start(folder: Path) -> int:
    """Start the guard; return the end of a pipe, for `dismiss`.

    The guard shares the lock, so that no other lab starts here while it cleans up.
    """
    reading, writing_end = os.pipe()
    if os.fork():
        os.close(reading)
        return writing_end
    try:
        os.close(writing_end)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(null, handle)
        if os.read(reading, len(_DONE)) != _DONE:
            cleanup.clear(folder)
    finally:
        os._exit(0)


def dismiss(guard: int) -> None:
    """Tell the guard that nothing is left to do."""
    os.write(guard, _DONE)
