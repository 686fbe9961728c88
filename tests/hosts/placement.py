"""Where the processes of a cluster are while a command runs: CPUs, memory policy, CPU quota.

Executed in the virtual machine: `python placement.py FILE COMMAND ...`. In: a command that starts a
cluster. Out: FILE, with every placement that each process was seen in, as JSON; the command's own
exit status.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = ("ndb_mgmd", "ndbmtd", "mysqld", "sysbench")
EVERY_S = 2
PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def placement(process: Path) -> tuple[str, str, str]:
    """Return allowed CPUs, memory policy and cpu.max of a process, given its folder in /proc.

    A process that has just begun has no heap yet, and no policy; one in a group without the cpu
    controller has no cpu.max. Source: proc(5); numa_maps has a line for each mapping, its policy in
    the second column.
    """
    status = (process / "status").read_text()
    cpus = re.search(r"^Cpus_allowed_list:\s+(\S+)", status, re.MULTILINE)
    policy = re.search(r"^\S+ (\S+) heap", (process / "numa_maps").read_text(), re.MULTILINE)
    group = (process / "cgroup").read_text().strip().removeprefix("0::/")
    limit = CGROUPS / group / "cpu.max"
    quota = limit.read_text().strip() if limit.exists() else ""
    return (cpus[1] if cpus else "", policy[1] if policy else "", quota)


def name(process: Path) -> str:
    """Name a node by its program and number ("ndbmtd 2", "mysqld 1"); "" for other processes.

    The mysqld that initialises a data folder has no number, and is none of the nodes.
    """
    program = (process / "comm").read_text().strip()
    if program not in PROGRAMS:
        return ""
    words = (process / "cmdline").read_text().split("\0")
    numbers = [w.partition("=")[2].lstrip(".") for w in words if "nodeid=" in w or "suffix=" in w]
    if program == "sysbench":
        return program
    return f"{program} {numbers[0]}" if numbers else ""


def main(file: Path, command: list[str]) -> int:
    """Run a command to its end, looking at the processes every few seconds."""
    seen: dict[str, set[tuple[str, str, str]]] = {}
    child = subprocess.Popen(command)
    while child.poll() is None:
        for process in PROC.glob("[0-9]*"):
            # It may end while it is looked at, or be another user's.
            with contextlib.suppress(OSError):
                if (found := name(process)) and (placed := placement(process))[1]:
                    seen.setdefault(found, set()).add(placed)
        time.sleep(EVERY_S)
    file.write_text(json.dumps({each: sorted(places) for each, places in seen.items()}))
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
