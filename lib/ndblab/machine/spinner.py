"""A process that uses a CPU for as long as it lives.

Nothing is started here.
"""

from __future__ import annotations

import sys

_IDLE = "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))"


def command(python: str = sys.executable, idle: bool = False, cpu: int | None = None) -> list[str]:
    """Return the command of a process that spins.

    Parameters
    ----------
    python : the Python that executes it; any will do.
    idle : give way to every process of normal priority (sched(7), SCHED_IDLE), and so take only
        time in which the CPU would sleep.
    cpu : the only logical CPU that it may use.
    """
    steps = ["import os"]
    steps += [f"os.sched_setaffinity(0, {{{cpu}}})"] if cpu is not None else []
    steps += [_IDLE] if idle else []
    return [python, "-S", "-E", "-c", "\n".join([*steps, "while True: pass"])]
