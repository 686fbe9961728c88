"""The lease of a cluster's folder: one lab at a time, and a record of what to clean up after it.

The lock ends with the processes that hold it. From the record (who, since when, which control
groups, which sockets) any later lab can clean up.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ndblab.error import LabError, writing
from ndblab.machine import cleanup, files, speed, user
from ndblab.machine.local import LOCAL
from ndblab.planning import twins

PATIENCE_S, POLL_S = 30, 0.05


@contextlib.contextmanager
def hold(folder: Path, ports: bool = True) -> Iterator[int]:
    """Lock `folder` and yield the lock's file descriptor.

    If a lab has died, its watchdog may still be cleaning up: this waits for it, then ends whatever
    both have left behind. LabError if another lab uses the folder, or a cluster started by hand
    runs in it; with `ports`, it says that a second cluster needs others.
    """
    _check_ours(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LabError(
            f"The cluster's folder {folder} cannot be made",
            found=f"{error.filename}: {error.strerror}",
            next_step=user.NEXT_STEP,
        ) from None
    fd = _lock(folder, ports)
    try:
        record = cleanup.record(folder)
        left = LOCAL.marked(folder)
        if left and record.get("by_hand"):
            raise LabError(
                "A cluster started by hand is running in this folder",
                found=f"{len(left)} processes in {folder}",
                expected="none",
                next_step="Stop it with `./lab cluster.stop`.",
            )
        LOCAL.end(folder)
        write(folder, record)
        yield fd
    finally:
        os.close(fd)


def write(folder: Path, record: dict[str, object]) -> None:
    """Replace the folder's record atomically, with our process id added.

    LabError if the disk refuses.
    """
    file = folder / cleanup.RECORD
    with writing(file):
        files.write(file, json.dumps({**record, "lab_pid": os.getpid()}).encode())


def _check_ours(folder: Path) -> None:
    """Refuse a folder with other files in it, since a cluster's start removes files."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    strange = names - {*twins.FOLDERS}
    if strange and not {"lock", cleanup.RECORD} & strange:
        raise LabError(
            "The cluster folder contains other files",
            found=f"{', '.join(sorted(strange)[:5])} in {folder}",
            expected="an empty folder, or one that the lab created",
            next_step="Set NDBLAB_CLUSTER_DIR to a folder of its own.",
        )


def _lock(folder: Path, ports: bool) -> int:
    place = folder / "lock"
    place.touch(mode=0o600)
    deadline = time.monotonic() + speed.timeout_s(PATIENCE_S)
    while (fd := files.lock(place, wait=False)) is None:
        holder = cleanup.record(folder).get("lab_pid")
        if Path(f"/proc/{holder}").exists() or time.monotonic() > deadline:
            raise LabError(
                "Another lab uses this cluster folder",
                found=f"process {holder} holds {folder}",
                expected="one lab at a time in a folder",
                next_step="Wait for it, or set NDBLAB_CLUSTER_DIR to another folder"
                + (" and give another --base-port." if ports else "."),
            )
        time.sleep(POLL_S)
    return fd
