"""The control group that the lab itself runs in: what it allows, and how to divide it.

In: the root folder of a machine ("/" or a captured copy). Out: the CPU and memory limits already
imposed on this process, and the `CpuController` with which it may limit others. It changes nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

LEAF = "lab"
"""Group into which the lab moves itself before it divides the one it was given."""


@dataclass(frozen=True)
class CpuController:
    """How this host lets us limit CPU bandwidth.

    `kind` is "cgroup2", "cgroup1", "systemd" (not yet, but a user manager can delegate a group) or
    "none"; `path` is the folder below which groups may be made (empty for the last two); `reason`
    says why this kind was chosen.
    """

    kind: str
    path: str
    reason: str


def cpu_limit(root: Path) -> float | None:
    """CPU bandwidth that this process may use (a container's limit, say), in CPUs."""
    limits = []
    for group in _ancestors(root, "cgroup2", ""):
        quota, _, period = read_text(group / "cpu.max").partition(" ")
        if quota not in ("", "max"):
            limits.append(int(quota) / int(period))
    for group in _ancestors(root, "cgroup", "cpu"):
        quota = read_text(group / "cpu.cfs_quota_us").strip()
        if quota and int(quota) > 0:
            limits.append(int(quota) / int(read_text(group / "cpu.cfs_period_us")))
    return min(limits, default=None)


def memory_left_bytes(root: Path) -> int | None:
    """Memory that the limits of this process (a container's, say) leave it, in bytes."""
    left = []
    for kind, controller, limit, used in (
        ("cgroup2", "", "memory.max", "memory.current"),
        ("cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        for group in _ancestors(root, kind, controller):
            limit_bytes = read_text(group / limit).strip()
            if limit_bytes.isdigit():
                left.append(int(limit_bytes) - int(read_text(group / used).strip() or 0))
    return min(left, default=None)


def cpu_controller(root: Path) -> CpuController:
    """Choose how to limit CPU bandwidth: cgroup v2, v1, a user scope of systemd, or not at all.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst ("No Internal Process Constraint":
    only the root group may hold both processes and limited children).
    """
    groups = _own_groups(root)
    if (mount := _mount(root, "cgroup2")) is not None:
        own = mount / groups.get("", "/").lstrip("/")
        own = own.parent if own.name == LEAF else own
        for group, why in ((mount, "the root group is ours to divide"), (own, "delegated to us")):
            has_cpu = "cpu" in read_text(group / "cgroup.controllers").split()
            if has_cpu and os.access(group / "cgroup.subtree_control", os.W_OK):
                return CpuController("cgroup2", f"/{group.relative_to(root)}", why)
    if (mount := _mount(root, "cgroup", "cpu")) is not None:
        own = mount / groups.get("cpu", "/").lstrip("/")
        if os.access(own, os.W_OK):
            path = f"/{own.relative_to(root)}"
            return CpuController("cgroup1", path, "the cpu hierarchy is writable")
    if (root / f"run/user/{os.getuid()}/bus").exists():
        return CpuController(
            "systemd", "", "only a scope of the user's systemd may limit CPUs, and we are in none"
        )
    return CpuController(
        "none", "", "no writable cpu control group and no user manager of systemd on this host"
    )


def _own_groups(root: Path) -> dict[str, str]:
    """Map each controller ("" for version 2) to the group this process is in."""
    groups = {}
    for line in read_text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _mount(root: Path, kind: str, option: str = "") -> Path | None:
    for line in read_text(root / "proc/self/mounts").splitlines():
        _, where, fstype, options, *_ = line.split()
        if fstype == kind and (not option or option in options.split(",")):
            return root / where.lstrip("/")
    return None


def _ancestors(root: Path, kind: str, controller: str) -> list[Path]:
    """The control group of this process and those above it, as far as they are visible here."""
    mount = _mount(root, kind, controller)
    if mount is None:
        return []
    own = mount / _own_groups(root).get(controller, "/").lstrip("/")
    return [group for group in (own, *own.parents) if group.is_relative_to(mount)]


def read_text(path: Path) -> str:
    """Text of a file of /proc or /sys; empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
