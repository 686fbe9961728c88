"""How slow this machine is, for timeouts: an emulated one needs more time for everything.

It is no benchmark.
"""

from __future__ import annotations

import functools
import time

LOOPS, TRIES = 10_000, 5
ORDINARY_S = 0.0008
"""What the loop takes on an ordinary machine: one CPU of a server of 2021, Python 3.11."""


def timeout_s(ordinary_s: float) -> float:
    """Lengthen a timeout by as much as this machine is slower than an ordinary one."""
    return ordinary_s * slowness()


@functools.cache
def slowness() -> float:
    """Return by what factor this machine is slower than an ordinary one, at least 1.

    The fastest of a few tries counts, since others may use the CPU meanwhile.
    """
    return max(1.0, min(_loop_s() for _ in range(TRIES)) / ORDINARY_S)


def _loop_s() -> float:
    began = time.perf_counter()
    total = 0
    for number in range(LOOPS):
        total ^= number * number
    return time.perf_counter() - began
