"""An ordinary user on a host where root has to give something first.

The machine has no network: in place of Go and Chromium its archive has stand-ins, which nothing
executes here; all else is real.
"""

from __future__ import annotations

import re
import time

import pytest

from ndblab.machine import commands
from virtual_machine.image import USER
from virtual_machine.machine import VirtualMachine
from virtual_machine.sweeps import COMMAND_S, POLL_S, SMALL, SWEEP_S, left, nothing_is_left

pytestmark = pytest.mark.virtual_machine

LINE = re.compile(r"Type once, then log in again: (.+)")
LACKING = (
    "the cpu controller (systemd delegates memory and pids to this user, not cpu)",
    "shared-memory segments (kernel.shmmni is 3)",
    "Go: to build go-tpc",
    "Chromium: tests that open the report",
)
ONE_TEST = "test_a_cluster_by_hand_stays_until_it_is_stopped"
"""Of the tests on a real cluster; all of them would take an emulated machine a day."""


def refused(machine: VirtualMachine, command: str) -> str:
    """Return what a command prints to the ordinary user when it fails."""
    with pytest.raises(commands.ChildFailed) as caught:
        machine.run(command, USER, COMMAND_S)
    print(caught.value.output)
    return caught.value.output


def log_out(machine: VirtualMachine) -> None:
    """Wait until systemd has ended the user's manager, a while after the last session."""
    until_s = time.monotonic() + COMMAND_S
    state = f"systemctl show --property=ActiveState --value user@$(id -u {USER})"
    while machine.run(state, "root").strip() != "inactive":
        assert time.monotonic() < until_s
        time.sleep(POLL_S)


def test_after_the_one_line_both_commands_work_without_root(machine: VirtualMachine) -> None:
    """Doctor and `reproduce` list the same before anything starts; root types the line once."""
    machine.run("python3 tests/virtual_machine/lacking.py", "root", COMMAND_S)
    log_out(machine)
    listed = refused(machine, "./lab doctor")
    assert [lack for lack in LACKING if lack not in listed] == []
    [line] = LINE.findall(listed)
    stopped = refused(machine, f"./lab reproduce {SMALL}")
    assert [lack for lack in LACKING if lack not in stopped] == []
    assert LINE.findall(stopped) == [line]
    assert not left(machine, USER)

    print(machine.run(line, "root", COMMAND_S))
    log_out(machine)
    found = machine.run("./lab doctor", USER, COMMAND_S)
    assert "only root can give" not in found
    assert "CPU bandwidth control: cgroup v2, writable" in found
    measured = machine.run(f"./lab reproduce {SMALL}", USER, SWEEP_S)
    print(measured)
    assert "budget scaled: " in measured
    assert re.search(r"^figures  .*figure6", measured, re.MULTILINE)
    tested = machine.run(f"./lab test --only {ONE_TEST}", USER, SWEEP_S)
    print(tested)
    assert "1 passed" in tested
    assert nothing_is_left(machine, USER)
