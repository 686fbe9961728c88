"""A process that spins, for real."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from ndblab.machine import spinner


@pytest.mark.parametrize("idle", [True, False])
def test_a_spinner_has_the_priority_and_the_cpu_that_are_asked_for(idle: bool):
    """It gives way to others only if it is asked to."""
    cpu = max(os.sched_getaffinity(0))
    child = subprocess.Popen(spinner.command(idle=idle, cpu=cpu))
    try:
        deadline = time.monotonic() + 10
        wanted = os.SCHED_IDLE if idle else os.SCHED_OTHER
        while (os.sched_getaffinity(child.pid), os.sched_getscheduler(child.pid)) != (
            {cpu},
            wanted,
        ):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
