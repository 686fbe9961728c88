"""Conditions of the host under which a slice is measured.

Their processes carry the cluster's mark, so its watchdog ends those that a killed lab leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.planning.point import BUSY_NEIGHBOUR, IDLE_SPINNER

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Machine

_IDLE = "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))"


@contextmanager
def holding(condition: str, cluster: Cluster) -> Iterator[None]:
    """Keep a condition for the length of a `with` block.

    LabError if a process that makes the condition has ended by itself.
    """
    with ExitStack() as stack:
        children = []
        for machine in cluster.machines.values():
            for argv in _commands(condition, machine):
                # On another host, that host's folder marks the cluster's processes.
                mark = getattr(machine, "folder", None) or cluster.folder
                children.append(machine.spawn(argv, mark))
                stack.callback(machine.kill, children[-1])
        yield
        if any(child.poll() is not None for child in children):
            raise LabError(
                f"The condition {condition} did not last",
                found="a process ended by itself",
                expected="processes that spin until they are ended",
                next_step="Look at the kernel's log: it may have run out of memory.",
            )


def _commands(condition: str, machine: Machine) -> list[list[str]]:
    if condition == BUSY_NEIGHBOUR:
        return [spinning(machine.python)]
    if condition == IDLE_SPINNER:
        return [spinning(machine.python, True, cpu) for cpu in sorted(machine.usable_cpus())]
    return []


def spinning(python: Path, idle: bool = False, cpu: int | None = None) -> list[str]:
    """Return the command of a process that uses a CPU for as long as it lives.

    Parameters
    ----------
    idle : give way to every process of normal priority (sched(7), SCHED_IDLE), and so take only
        time in which the CPU would sleep.
    cpu : the only logical CPU that it may use.
    """
    steps = ["import os"]
    steps += [f"os.sched_setaffinity(0, {{{cpu}}})"] if cpu is not None else []
    steps += [_IDLE] if idle else []
    return [str(python), "-S", "-E", "-c", "\n".join([*steps, "while True: pass"])]
