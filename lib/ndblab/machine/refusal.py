"""Why the kernel refuses a change of control groups, and what the user can do."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import own_cgroup
from ndblab.machine.topology import read_text


def write(file: Path, text: str) -> None:
    """Write a file of a control group; an error names it, even if only the write is refused."""
    try:
        file.write_text(text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


@contextlib.contextmanager
def refusals(what: str, expected: object):
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
