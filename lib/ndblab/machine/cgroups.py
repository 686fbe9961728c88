"""CPU bandwidth limits and weights: the kernel control groups behind the `scaled` budget and twins.

It decides no share and ends no process.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import commands, own_cgroup, speed
from ndblab.machine.own_cgroup import LEAF, CpuController
from ndblab.machine.topology import read_text

SHORTEST_US = 1000
"""Shortest period and shortest quota that the kernel accepts (Linux, kernel/sched/core.c and
Documentation/scheduler/sched-bwc.rst)."""

STEP = 1 / 250
"""How much longer the period of each further group is, as a share of the shortest."""

REMOVAL_TIMEOUT_S = 2

_WEIGHT = {"cgroup1": ("cpu.shares", "1024"), "cgroup2": ("cpu.weight", "100")}
"""File and default value of a group's weight, by version (sched-design-CFS.rst, cgroup-v2.rst)."""


def period_and_quota_us(cpus: float, steps: int = 0) -> tuple[int, int]:
    """Return the shortest period, and the quota in it, that give `cpus` CPUs.

    `steps` lengthen the period; the quota is then rounded down. The period shows in
    latency, since a process that has used its quota waits for the next one.

    The kernel draws the phase of a group's periods when the group is made (Linux,
    kernel/sched/fair.c, init_cfs_bandwidth). Between two groups with equal periods, the phase then
    never changes, and decides which of them waits for the other's CPUs: two equal MySQL servers
    differed by 4 % from phase to phase (standard deviation, 2 CPUs). They differed by 2 % with
    periods a step apart, whose phases pass each other once in 250 periods (12 drawings of each).
    """
    period = max(SHORTEST_US, math.ceil(SHORTEST_US / cpus))
    if steps:
        period = round(period * (1 + STEP * steps))
        return period, math.floor(period * cpus)
    return period, max(SHORTEST_US, round(period * cpus))


SCOPE = ("systemd-run", "--user", "--scope", "--quiet", "-p", "Delegate=yes", "--")


def enter_scope(controller: CpuController, argv: list[str]) -> None:
    """Replace this process by `argv` in a delegated scope, where that is needed.

    An ordinary user may divide only what systemd delegates to it (systemd.resource-control(5),
    "Delegate="). If systemd refuses, this process continues as it is, and the plan says so.
    """
    if controller.kind != "systemd" or own_cgroup.in_scope():
        return
    os.environ[own_cgroup.IN_SCOPE] = "1"
    # Without a login, as under su, nothing names the folder of the manager that runs there.
    os.environ.setdefault("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    with contextlib.suppress(LabError):
        commands.output([*SCOPE, "true"], what="No scope", timeout_s=10)
        os.execvp(SCOPE[0], [*SCOPE, *argv])


@dataclass(frozen=True)
class Groups:
    """Control groups below the folder `base`; `kind` is "cgroup1" or "cgroup2"."""

    kind: str
    base: Path

    def claim(self) -> None:
        """Prepare the group above `base` to be divided; LabError if that is refused.

        In version 2 only a group without processes of its own may limit its children
        (cgroup-v2.rst, "No Internal Process Constraint"): ours move to a leaf below it. The root
        group, which has no cgroup.type, is exempt.
        """
        if self.kind != "cgroup2":
            return
        parent = self.base.parent
        with _refusals(f"to divide {parent}", "the cpu controller, delegated to this group"):
            if (parent / "cgroup.type").exists():
                leaf = parent / LEAF
                leaf.mkdir(exist_ok=True)
                for pid in (parent / "cgroup.procs").read_text().split():
                    with contextlib.suppress(OSError):
                        (leaf / "cgroup.procs").write_text(pid)
            _write(parent / "cgroup.subtree_control", "+cpu")

    def create(self, name: str, cpus: float | None, steps: int = 0) -> int:
        """Make the group `name` ("sql/mysqld.1" lies in "sql"), limited to `cpus` CPUs or not.

        One that exists keeps its processes and gets the new limit. `steps` lengthen its period, as
        in `period_and_quota_us`. LabError if the kernel refuses.

        Returns
        -------
        The period in microseconds; 0 without a limit.
        """
        group = self.base / name
        with _refusals(f"control group {name}", f"{cpus:g} CPUs in {group}" if cpus else group):
            group.mkdir(parents=True, exist_ok=True)
            if self.kind == "cgroup2":
                for parent in (self.base, *reversed(group.relative_to(self.base).parents[:-1])):
                    _write(self.base / parent / "cgroup.subtree_control", "+cpu")
            name, unlimited = self._limit
            _write(group / name, unlimited)
            if cpus is None:
                return 0
            period, quota = period_and_quota_us(cpus, steps)
            if self.kind == "cgroup2":
                _write(group / "cpu.max", f"{quota} {period}")
            else:
                _write(group / "cpu.cfs_period_us", str(period))
                _write(group / "cpu.cfs_quota_us", str(quota))
        return period

    def weigh(self) -> None:
        """Make the group `base` with the default weight of groups.

        Groups of equal weight below the same parent share CPUs equally when both want more than
        there is, whatever the number of their threads (Linux, sched-design-CFS.rst and
        cgroup-v2.rst, "Weights"). LabError if the kernel refuses.
        """
        name, weight = _WEIGHT[self.kind]
        with _refusals(f"control group {self.base.name}", f"{name} {weight} in {self.base}"):
            self.base.mkdir(parents=True, exist_ok=True)
            _write(self.base / name, weight)

    def place(self, name: str, pid: int) -> None:
        """Move a process with all its threads into the group `name`; LabError if refused."""
        with _refusals(f"to move process {pid} into {name}", "a running process"):
            _write(self.base / name / "cgroup.procs", str(pid))

    def check(self, name: str, pid: int) -> None:
        """Make sure that a process is still in the group `name`; LabError if it is not."""
        group = self.base / name
        if str(pid) not in read_text(group / "cgroup.procs").split():
            raise LabError(
                f"Process {pid} has lost its CPU limit",
                found=f"{group} without it" if group.is_dir() else f"no {group}",
                expected="the control group that the lab made, with the process that it put there",
                next_step="Something else on this host manages the group, such as systemd or a "
                "container's manager. Run the same command again; completed runs are saved.",
            )

    def period_us(self, name: str) -> int:
        """Return the period in which the group `name` has its quota; 0 if there is no such group.

        The kernel doubles a period that is too short for the machine, and the quota with it (Linux,
        kernel/sched/fair.c, sched_cfs_period_timer).
        """
        file = "cpu.max" if self.kind == "cgroup2" else "cpu.cfs_period_us"
        return int((read_text(self.base / name / file).split() or ["0"])[-1])

    def entering(self, name: str) -> list[str]:
        """Return a command prefix that enters the group before it becomes the command."""
        target = self.base / name / "cgroup.procs"
        return ["sh", "-c", f'echo $$ > "{target}" && exec "$@"', "sh"]

    def lift(self) -> None:
        """Remove all limits, so that processes end at full speed or new limits can be set."""
        name, unlimited = self._limit
        for limit in sorted(self.base.rglob(name), key=lambda path: len(path.parts)):
            with contextlib.suppress(OSError):
                limit.write_text(unlimited)

    @property
    def _limit(self) -> tuple[str, str]:
        """Name of the file that holds a group's limit, and its value for no limit."""
        return ("cpu.max", "max") if self.kind == "cgroup2" else ("cpu.cfs_quota_us", "-1")

    def remove(self) -> None:
        """Remove all groups, waiting for their last processes to end."""
        deadline = time.monotonic() + speed.timeout_s(REMOVAL_TIMEOUT_S)
        while self.base.exists() and time.monotonic() < deadline:
            for folder, _, _ in os.walk(self.base, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if self.base.exists():
                time.sleep(0.02)


def groups(controller: CpuController, name: str) -> Groups:
    """Name the groups of a cluster below the host's controller; nothing is made yet.

    LabError if the host offers no control groups to this process.
    """
    if controller.kind not in ("cgroup1", "cgroup2"):
        raise LabError(
            "CPU bandwidth cannot be limited from here",
            found=controller.reason,
            expected="a writable cpu control group",
            next_step=f"Use --budget shared. Otherwise: {own_cgroup.remedy(controller.kind)}",
        )
    return Groups(controller.kind, Path(controller.path) / name)


def _write(file: Path, text: str) -> None:
    """Write a file of a control group; an error names it, even if only the write is refused."""
    try:
        file.write_text(text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


@contextlib.contextmanager
def _refusals(what: str, expected: object):
    """Turn what the kernel refuses into a LabError."""
    try:
        yield
    except OSError as error:
        why, next_step = _explanation(error)
        raise LabError(
            f"The kernel refused {what}", found=why, expected=expected, next_step=next_step
        ) from error


def _explanation(error: OSError) -> tuple[str, str]:
    """Say why a write was refused, and what to do.

    Source: Linux, kernel/cgroup/cgroup.c (cgroup_subtree_control_write) and kernel/sched/core.c
    (tg_set_cfs_bandwidth).
    """
    file = Path(error.filename or "/")
    group, number = file.parent, error.errno
    if number in (errno.ENOENT, errno.ENODEV) and not group.is_dir():
        return (
            f"no {group}",
            "Something else removed it, such as the end of a systemd scope or of a container. "
            "Run the same command again; completed runs are saved.",
        )
    if number == errno.ESRCH:
        return "no such process", "Its own log says why it ended."
    if file.name == "cgroup.subtree_control" and number == errno.ENOENT:
        has = read_text(group / "cgroup.controllers").strip() or "none"
        remedy = own_cgroup.remedy(own_cgroup.UNDELEGATED)
        return f"controllers of {group}: {has}", remedy
    if file.name == "cgroup.subtree_control" and number == errno.EBUSY:
        pids = ", ".join(read_text(group / "cgroup.procs").split())
        return (
            f"processes in {group} that cannot be moved: {pids}",
            "Start the lab in a group of its own: systemd-run --user --scope -p Delegate=yes "
            "./lab ...",
        )
    if file.name in ("cpu.max", "cpu.cfs_quota_us") and number == errno.EINVAL:
        limits = {outer: own_cgroup.limit_cpus(outer) for outer in group.parents}
        allowed = {outer: cpus for outer, cpus in limits.items() if cpus is not None}
        if allowed:
            outer = min(allowed, key=allowed.__getitem__)
            return (
                f"{outer} allows {allowed[outer]:g} CPUs in all",
                "Raise that limit (of a container or a service), or use --budget shared.",
            )
    return str(error), "Use --budget shared, or run as root."
