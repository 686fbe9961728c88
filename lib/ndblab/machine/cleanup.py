"""Remove whatever a cluster has left on this machine, whether its lab is alive or dead."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ndblab.error import writing
from ndblab.machine import files
from ndblab.machine.cgroups import Groups
from ndblab.machine.local import LOCAL

RECORD = "state.json"


def record(folder: Path) -> dict:
    """Return the record of a folder's last cluster; empty if there is none."""
    try:
        return json.loads((folder / RECORD).read_text())
    except (OSError, ValueError):
        return {}


def add_to_record(folder: Path, facts: dict[str, object]) -> None:
    """Add facts to a folder's record in one step; LabError if the disk refuses."""
    with writing(folder / RECORD):
        files.write(folder / RECORD, json.dumps({**record(folder), **facts}).encode())


def recorded_groups(folder: Path) -> Groups | None:
    """Return the control groups that a folder's record names; None if it names none."""
    known = record(folder).get("groups")
    return Groups(known["kind"], Path(known["base"])) if known else None


def clean(folder: Path) -> None:
    """Kill what is left of a cluster; remove its control groups, sockets and memory segments.

    NDB marks a shared-memory segment for removal once both sides are attached, and the kernel
    removes it with them: only a data node that is killed before that leaves one.
    """
    LOCAL.end(folder)
    if groups := recorded_groups(folder):
        groups.remove()
    socket_dir = Path(record(folder).get("socket_dir", folder))
    if socket_dir == folder:
        LOCAL.remove(folder, "mysql.*.sock*")
    else:
        LOCAL.remove(socket_dir.parent, socket_dir.name)
    for partial in record(folder).get("partial", ()):
        shutil.rmtree(partial, ignore_errors=True)


def clear(folder: Path) -> None:
    """Clean up as `clean` does, and remove the folder with all that it holds."""
    clean(folder)
    shutil.rmtree(folder, ignore_errors=True)
