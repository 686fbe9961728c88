"""A host that changes while the lab measures on it: one message, and nothing is left running."""

from __future__ import annotations

import time

import pytest

from virtual_machine.image import USER
from virtual_machine.machine import VirtualMachine
from virtual_machine.sweeps import POLL_S, START_S, begin, nothing_is_left

pytestmark = pytest.mark.virtual_machine

SWITCH = "echo {} >/sys/devices/system/cpu/cpu3/online"
TAKE_AWAY = (
    "group=$(find /sys/fs/cgroup -type d -path '*/ndblab-*/sql/mysqld.1') && "
    "for process in $(cat $group/cgroup.procs); do "
    "echo $process >/sys/fs/cgroup/cgroup.procs; done; rmdir $group"
)


@pytest.mark.parametrize(
    ("budget", "change", "undo", "message"),
    [
        ("pinned", SWITCH.format(0), SWITCH.format(1), "CPUs of the plan are gone"),
        ("scaled", TAKE_AWAY, "true", "has lost its CPU limit"),
    ],
)
def test_a_run_ends_with_what_changed(
    machine: VirtualMachine, budget: str, change: str, undo: str, message: str
) -> None:
    """A CPU is switched off, or somebody else removes the control group of a server."""
    with machine.logged_in(USER):
        printed = begin(machine, USER, budget)
        try:
            machine.run(change, "root")
            until_s = time.monotonic() + START_S
            while machine.run("pgrep -x 'invoke|python' || true", USER):
                assert time.monotonic() < until_s
                time.sleep(POLL_S)
        finally:
            machine.run(undo, "root")
        said = machine.run(f"cat {printed}", USER)
        print(said)
        assert message in said
        assert "Traceback" not in said
        assert nothing_is_left(machine, USER)
