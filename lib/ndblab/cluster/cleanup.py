"""Remove whatever a cluster has left, whether its lab is alive or dead.

In: a cluster's folder, with the record that its lab wrote there. Out: no process, control group,
socket or memory segment of that cluster.
"""

from __future__ import annotations

from pathlib import Path

from ndblab.cluster import lease
from ndblab.machine.cgroups import Groups
from ndblab.machine.local import LOCAL


def clean(folder: Path) -> None:
    """Kill what is left of a cluster; remove its control groups, sockets and memory segments.

    NDB marks a shared-memory segment for removal once both sides are attached, and the kernel
    removes it with them: only a data node that is killed before that leaves one.
    """
    LOCAL.end(folder)
    if groups := recorded_groups(folder):
        groups.remove()
    socket_dir = Path(lease.read(folder).get("socket_dir", folder))
    if socket_dir == folder:
        LOCAL.remove(folder, "mysql.*.sock*")
    else:
        LOCAL.remove(socket_dir.parent, socket_dir.name)


def recorded_groups(folder: Path) -> Groups | None:
    """Return the control groups that the folder's record names; None if it names none."""
    known = lease.read(folder).get("groups")
    return Groups(known["kind"], Path(known["base"])) if known else None
