"""CPU bandwidth limits: the kernel's control groups that make the `scaled` budget.

In: the way this host offers (`host.CpuController`), group names and their CPUs. Out: groups on the
system, removed again by `Groups.remove`. It decides nobody's share and ends no process.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.host import CpuController

SHORTEST_US = 1000
"""Shortest period and shortest quota that the kernel takes (Linux, kernel/sched/core.c and
Documentation/scheduler/sched-bwc.rst)."""


def period_and_quota_us(cpus: float) -> tuple[int, int]:
    """Give the shortest period, and the quota in it, that amount to `cpus` CPUs.

    The period shows in latency, since a process that has used its quota waits for the next one.
    """
    period = max(SHORTEST_US, math.ceil(SHORTEST_US / cpus))
    return period, max(SHORTEST_US, round(period * cpus))


LEAF = host.LEAF
SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "-p", "Delegate=yes", "--")
_IN_SCOPE = "NDBLAB_SCOPE"


def scope_argv(
    controller: CpuController, environment: Mapping[str, str], argv: list[str]
) -> list[str] | None:
    """Give the command that runs `argv` where it may limit CPUs; None if that is here or nowhere.

    An ordinary user may divide only what systemd delegates to it (systemd.resource-control(5),
    "Delegate=").
    """
    if controller.kind != "systemd" or _IN_SCOPE in environment:
        return None
    return [*SCOPE, *argv]


def enter_scope(controller: CpuController, argv: list[str]) -> None:
    """Become the same command inside a delegated scope, on hosts where that is the way.

    Where systemd does not give one, this process goes on as it is, and the plan says so.
    """
    command = scope_argv(controller, os.environ, argv)
    if command is None:
        return
    os.environ[_IN_SCOPE] = "1"
    try:
        probe = subprocess.run([*SCOPE, "true"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    if probe.returncode == 0:
        os.execvp(command[0], command)


@dataclass(frozen=True)
class Groups:
    """Control groups below one folder; `kind` is "cgroup1" or "cgroup2"."""

    kind: str
    base: Path

    def create(self, name: str, cpus: float | None) -> None:
        """Make the group `name` ("sql/mysqld.1" lies in "sql") with a limit in CPUs, or without.

        Raises
        ------
        LabError
            If the kernel refuses.
        """
        group = self.base / name
        try:
            group.mkdir(parents=True, exist_ok=True)
            if self.kind == "cgroup2":
                for parent in (self.base, *reversed(group.relative_to(self.base).parents[:-1])):
                    (self.base / parent / "cgroup.subtree_control").write_text("+cpu")
            if cpus is None:
                return
            period, quota = period_and_quota_us(cpus)
            if self.kind == "cgroup2":
                (group / "cpu.max").write_text(f"{quota} {period}")
            else:
                (group / "cpu.cfs_quota_us").write_text("-1")
                (group / "cpu.cfs_period_us").write_text(str(period))
                (group / "cpu.cfs_quota_us").write_text(str(quota))
        except OSError as error:
            raise LabError(
                f"The kernel refused the CPU limit of {name}",
                found=str(error),
                expected=f"{cpus:g} CPUs in the group {group}" if cpus else f"the group {group}",
                next_step="Use --budget shared, or run where control groups may be made.",
            ) from error

    def place(self, name: str, pid: int) -> None:
        """Move a process with all its threads into the group `name`."""
        try:
            (self.base / name / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise LabError(
                f"Process {pid} could not be put under the CPU limit of {name}",
                found=str(error),
                expected="a running process and a writable control group",
                next_step="Use --budget shared, or run where control groups may be made.",
            ) from error

    def shell_entry(self, name: str) -> list[str]:
        """Give a command prefix that enters the group before it becomes the command."""
        target = self.base / name / "cgroup.procs"
        return ["sh", "-c", f'echo $$ > "{target}" && exec "$@"', "sh"]

    def lift(self) -> None:
        """Take the limits away, so that what is in the groups can end at full speed."""
        name, unlimited = (
            ("cpu.max", "max") if self.kind == "cgroup2" else ("cpu.cfs_quota_us", "-1")
        )
        for limit in sorted(self.base.rglob(name), key=lambda path: len(path.parts)):
            with contextlib.suppress(OSError):
                limit.write_text(unlimited)

    def remove(self) -> None:
        """Remove all groups; those that still hold a process stay until it has ended."""
        deadline = time.monotonic() + 2
        while self.base.exists() and time.monotonic() < deadline:
            for folder, _, _ in os.walk(self.base, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if self.base.exists():
                time.sleep(0.02)


def groups(controller: CpuController, name: str) -> Groups:
    """Give the (still empty) set of groups called `name` below the host's controller.

    Raises
    ------
    LabError
        If the host offers no control groups to this process.
    """
    if controller.kind not in ("cgroup1", "cgroup2"):
        raise LabError(
            "CPU bandwidth cannot be limited from here",
            found=controller.reason,
            expected="a writable cpu control group",
            next_step="Use --budget shared, or run as root or inside "
            "`systemd-run --user --scope -p Delegate=yes`.",
        )
    parent = Path(controller.path)
    if controller.kind == "cgroup2":
        try:
            if (parent / "cgroup.type").exists():
                _leave(parent)
            (parent / "cgroup.subtree_control").write_text("+cpu")
        except OSError as error:
            raise LabError(
                "The kernel does not let us divide our control group",
                found=str(error),
                expected=f"the cpu controller handed down in {parent}",
                next_step="Use --budget shared, or run as root.",
            ) from error
    return Groups(controller.kind, parent / name)


def _leave(parent: Path) -> None:
    """Move the processes of a delegated group into a leaf of it.

    Only a group without processes of its own may limit its children (cgroup-v2.rst, "No Internal
    Process Constraint"); the root group, which has no cgroup.type, is exempt.
    """
    leaf = parent / LEAF
    leaf.mkdir(exist_ok=True)
    for pid in (parent / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            (leaf / "cgroup.procs").write_text(pid)
