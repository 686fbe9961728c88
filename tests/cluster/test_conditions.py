"""A process that spins, for real."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import waiting
from ndblab.cluster import conditions


@pytest.mark.parametrize("idle", [True, False])
def test_a_spinner_has_the_priority_and_the_cpu_that_are_asked_for(idle: bool):
    """It gives way to others only if it is asked to."""
    cpu = max(os.sched_getaffinity(0))
    child = subprocess.Popen(conditions.spinning(Path(sys.executable), idle, cpu))
    try:
        policy = os.SCHED_IDLE if idle else os.SCHED_OTHER
        waiting.until(lambda: os.sched_getscheduler(child.pid) == policy, 10, "its priority")
        waiting.until(lambda: os.sched_getaffinity(child.pid) == {cpu}, 10, "its CPU")
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
