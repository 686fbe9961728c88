"""Company, which uses the host's CPUs too: processes or, on a virtual machine, other machines.

The lab's processes are its own one and its descendants: nodes, load generators, programs it runs.
Kernel threads work for everybody and are left out.

A process that ends between two readings is not missed: its parent inherits its CPU time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

LIMIT_PCT = 5.0
"""Company above this share of the host's CPUs disturbs a measurement."""
STEAL_LIMIT_PCT = 3.0
"""Steal above this share of the host's CPU time disturbs a measurement: in two sweeps with much
of it, a steal of 10 % cost 9 and 27 % of throughput. Steal comes in waves; half of these sweeps'
runs had less than 1 %."""
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of Linux, include/linux/sched.h; the flags are those of proc_pid_stat(5)."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Seen(NamedTuple):
    """A process: CPU seconds of its own and of its children that have ended."""

    pid: int
    name: str
    parent: int
    flags: int
    cpu_s: float
    started_ticks: int


class Reading(NamedTuple):
    """Processes that are not the lab's, by process id, read at `at_s` of `time.monotonic`.

    `cpus` is the CPU bandwidth that the lab may use.
    """

    at_s: float
    cpus: float
    others: Mapping[int, Seen]


class Company(NamedTuple):
    """CPU of others in percent of the host's usable CPUs, and the name of the busiest."""

    pct: float = 0.0
    name: str = ""

    @property
    def disturbs(self) -> bool:
        """Whether a measurement beside it must be repeated."""
        return self.pct > LIMIT_PCT

    def __str__(self) -> str:
        return f"{self.name} uses {self.pct:.0f} % of the CPUs"


NO_COMPANY = Company()


def disturbance(company: Company, steal_pct: float) -> str:
    """Return in a few words who disturbs a measurement; empty if nobody does.

    `steal_pct` is the CPU time that the hypervisor gave to others, in percent of the host's.
    """
    if company.disturbs:
        return str(company)
    if steal_pct > STEAL_LIMIT_PCT:
        return f"the hypervisor takes {steal_pct:.0f} % of the CPUs"
    return ""


def read(proc: Path, lab: int, cpus: float) -> Reading:
    """Read the processes below `proc` that are neither `lab` nor its descendants."""
    at_s = time.monotonic()
    seen = {process.pid: process for process in _processes(proc)}
    children = defaultdict(list)
    for process in seen.values():
        children[process.parent].append(process.pid)
    waiting = [lab]
    while waiting:
        pid = waiting.pop()
        seen.pop(pid, None)
        waiting += children[pid]
    users = {pid: process for pid, process in seen.items() if not process.flags & _KERNEL_THREAD}
    return Reading(at_s, cpus, users)


def between(before: Reading, after: Reading) -> Company:
    """Return the CPU that others used between two readings."""
    used_s: dict[int, float] = {}
    for pid, now in after.others.items():
        earlier = before.others.get(pid)
        same = earlier is not None and earlier.started_ticks == now.started_ticks
        used_s[pid] = now.cpu_s - (earlier.cpu_s if same else 0.0)
    for pid, earlier in before.others.items():
        now = after.others.get(pid)
        if now is not None and now.started_ticks == earlier.started_ticks:
            continue
        # The CPU time that it had used before has passed to its nearest living ancestor.
        heir = earlier.parent
        while heir not in after.others and heir in before.others:
            heir = before.others[heir].parent
        if heir in used_s:
            used_s[heir] -= earlier.cpu_s
    by_name: dict[str, float] = defaultdict(float)
    for pid, seconds in used_s.items():
        by_name[after.others[pid].name] += max(0.0, seconds)
    available_s = (after.at_s - before.at_s) * after.cpus
    total_s = sum(by_name.values())
    if total_s <= 0 or available_s <= 0:
        return NO_COMPANY
    return Company(round(100 * total_s / available_s, 1), max(by_name, key=by_name.__getitem__))


def parse(stat: str) -> Seen:
    """Read /proc/<pid>/stat; the name, in parentheses, may itself hold any character."""
    pid, _, rest = stat.partition(" (")
    name, _, fields = rest.rpartition(") ")
    _, parent, _, _, _, _, flags, *others = fields.split()
    ticks = sum(map(int, others[4:8]))
    return Seen(int(pid), name, int(parent), int(flags), ticks / _TICKS_PER_S, int(others[12]))


def _processes(proc: Path) -> Iterator[Seen]:
    for entry in os.listdir(proc):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"{proc}/{entry}/stat", errors="replace") as f:
                yield parse(f.read())
