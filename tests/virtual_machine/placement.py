"""Where the processes of a cluster are while a command runs: CPUs, memory policy, CPU quota.

Executed in the virtual machine: `python placement.py FILE COMMAND ...`. In: a command that starts a
cluster. Out: FILE, with every placement that each process was seen in, as JSON; the command's own
exit status. It must not be company that disturbs what is measured, so it reads little.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time

PROGRAMS = ("ndb_mgmd", "ndbmtd", "mysqld", "sysbench")
EVERY_S = 10
CGROUPS = "/sys/fs/cgroup"


class Processes:
    """What is known of processes by their ids, of which the kernel gives each once in a while."""

    def __init__(self) -> None:
        self.seen: dict[str, set[tuple[str, str, str]]] = {}
        self._policies: dict[int, str] = {}

    def look(self) -> None:
        """Look at every process once."""
        for entry in os.listdir("/proc"):
            # It may end while it is looked at, or be another user's.
            with contextlib.suppress(OSError):
                if entry.isdigit() and (found := name(int(entry))):
                    self._place(int(entry), found)

    def _place(self, pid: int, found: str) -> None:
        """Note allowed CPUs, memory policy and cpu.max of a process.

        A process that has just begun has no heap yet, and no policy: it is left out. One in a group
        without the cpu controller has no cpu.max.
        """
        # Reading a policy takes the kernel long, and only the process itself can change it.
        policy = self._policies.get(pid) or policy_of_heap(pid)
        if not policy:
            return
        self._policies[pid] = policy
        cpus = re.search(r"^Cpus_allowed_list:\s+(\S+)", read(f"/proc/{pid}/status"), re.MULTILINE)
        group = read(f"/proc/{pid}/cgroup").strip().removeprefix("0::")
        limit = f"{CGROUPS}{group}/cpu.max"
        quota = read(limit).strip() if os.path.exists(limit) else ""
        self.seen.setdefault(found, set()).add((cpus[1] if cpus else "", policy, quota))


def policy_of_heap(pid: int) -> str:
    """Return the memory policy of a process's heap.

    Source: proc(5); numa_maps has a line for each mapping, its policy in the second column.
    """
    policy = re.search(r"^\S+ (\S+) heap", read(f"/proc/{pid}/numa_maps"), re.MULTILINE)
    return policy[1] if policy else ""


def name(pid: int) -> str:
    """Name a node by its program and number ("ndbmtd 2", "mysqld 1"); "" for other processes.

    The mysqld that initialises a data folder has no number, and is none of the nodes.
    """
    program = read(f"/proc/{pid}/comm").strip()
    if program not in PROGRAMS:
        return ""
    words = read(f"/proc/{pid}/cmdline").split("\0")
    numbers = [w.partition("=")[2].lstrip(".") for w in words if "nodeid=" in w or "suffix=" in w]
    if program == "sysbench":
        return program
    return f"{program} {numbers[0]}" if numbers else ""


def read(path: str) -> str:
    """Read a file of the kernel, which may be longer than it says."""
    with open(path) as file:
        return file.read()


def main(file: str, command: list[str]) -> int:
    """Run a command to its end, looking at the processes every few seconds."""
    processes = Processes()
    child = subprocess.Popen(command)
    while child.poll() is None:
        processes.look()
        time.sleep(EVERY_S)
    with open(file, "w") as written:
        json.dump({each: sorted(places) for each, places in processes.seen.items()}, written)
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
