"""The control group that the lab itself runs in: what it allows, and how to divide it.

It changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ndblab.machine.topology import read_text

LEAF = "lab"
"""Group into which the lab moves itself before it divides the one it was given."""
IN_SCOPE = "NDBLAB_SCOPE"
"""Environment variable that the lab sets before it asks systemd for a scope."""
UNDELEGATED = "undelegated"
_DROP_IN = "/etc/systemd/system/user@.service.d"
DELEGATE = (
    f"sudo mkdir -p {_DROP_IN} && "
    "printf '[Service]\\nDelegate=cpu memory pids\\n' | "
    f"sudo tee {_DROP_IN}/delegate-cpu.conf && sudo systemctl daemon-reload"
)
"""Makes systemd delegate the cpu controller to users, as it does by itself from release 252 on. It
takes effect for users who log in afterwards."""


@dataclass(frozen=True)
class CpuController:
    """How this host lets us limit CPU bandwidth.

    `kind` is "cgroup2", "cgroup1", "systemd" (not yet, but a user manager can delegate a group),
    "undelegated" (it could, if root let systemd delegate the cpu controller to it) or "none";
    `path` is the folder below which groups may be made (empty for the last three); `reason` says
    why this kind was chosen.
    """

    kind: str
    path: str
    reason: str


def cpu_limit(root: Path) -> float | None:
    """Return the CPU bandwidth that this process may use (a container's limit, say), in CPUs."""
    groups = [*_ancestors(root, "cgroup2", ""), *_ancestors(root, "cgroup", "cpu")]
    return min((cpus for group in groups if (cpus := limit_cpus(group))), default=None)


def limit_cpus(group: Path) -> float | None:
    """Return the CPU bandwidth limit of a control group of either version, in CPUs.

    Source: Linux, cgroup-v2.rst ("cpu.max") and sched-bwc.rst.
    """
    quota, _, period = read_text(group / "cpu.max").partition(" ")
    quota = quota or read_text(group / "cpu.cfs_quota_us")
    period = period or read_text(group / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.strip().isdigit() else None


def memory_left_bytes(root: Path) -> int | None:
    """Return the memory that the limits of this process (a container's, say) leave it, in bytes.

    File cache and slabs that the kernel can reclaim count as left, as they do in MemAvailable:
    they are charged to the group, and reclaimed when it needs the memory. Above "memory.high",
    processes are throttled, so it is a limit too.
    Source: Linux, cgroup-v2.rst ("memory.high", "memory.stat") and cgroup-v1/memory.rst.
    """
    left = []
    for kind, controller, limits, used in (
        ("cgroup2", "", ("memory.max", "memory.high"), "memory.current"),
        ("cgroup", "memory", ("memory.limit_in_bytes",), "memory.usage_in_bytes"),
    ):
        for group in _ancestors(root, kind, controller):
            texts = [read_text(group / limit).strip() for limit in limits]
            if limits_bytes := [int(text) for text in texts if text.isdigit()]:
                used_bytes = int(read_text(group / used).strip() or 0) - _reclaimable_bytes(group)
                left.append(max(0, min(limits_bytes) - max(0, used_bytes)))
    return min(left, default=None)


def tasks_left(root: Path) -> int | None:
    """Count the processes and threads that this process's limits (a container's, say) leave it.

    Source: Linux, cgroup-v2.rst ("pids.max") and cgroup-v1/pids.rst.
    """
    left = []
    for group in [*_ancestors(root, "cgroup2", ""), *_ancestors(root, "cgroup", "pids")]:
        limit = read_text(group / "pids.max").strip()
        if limit.isdigit():
            left.append(max(0, int(limit) - int(read_text(group / "pids.current").strip() or 0)))
    return min(left, default=None)


def _reclaimable_bytes(group: Path) -> int:
    """Return the reclaimable file cache and slabs of a control group and the groups below it.

    In version 1 only the "total_" counters include the groups below.
    """
    lines = (line.split() for line in read_text(group / "memory.stat").splitlines())
    counters = {name: int(value) for name, value in lines}
    return sum(
        counters.get(f"total_{name}", counters.get(name, 0))
        for name in ("inactive_file", "active_file", "slab_reclaimable")
    )


def cpu_controller(root: Path) -> CpuController:
    """Choose how to limit CPU bandwidth: cgroup v2, v1, a user scope of systemd, or not at all.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst ("No Internal Process Constraint":
    only the root group may hold both processes and limited children).
    """
    groups = _own_groups(root)
    mount = _mount(root, "cgroup2")
    if mount is not None:
        own = mount / groups.get("", "/").lstrip("/")
        own = own.parent if own.name == LEAF else own
        for group, why in ((mount, "the root group is ours to divide"), (own, "delegated to us")):
            if "cpu" in _controllers(group) and _writable(root, group / "cgroup.subtree_control"):
                return CpuController("cgroup2", f"/{group.relative_to(root)}", why)
    if (mount_1 := _mount(root, "cgroup", "cpu")) is not None:
        # A container may see its group as the mount itself, whatever the path says.
        visible = (group for group in _ancestors(root, "cgroup", "cpu") if group.is_dir())
        own = next(visible, mount_1)
        if _writable(root, own):
            path = f"/{own.relative_to(root)}"
            return CpuController("cgroup1", path, "the cpu hierarchy is writable")
    return _by_systemd(root, mount, groups.get("", "/"))


def in_scope() -> bool:
    """Return whether this process, or one that started it, has asked systemd for a scope."""
    return IN_SCOPE in os.environ


def ends_at_log_out(root: Path, user: str) -> bool:
    """Return whether systemd ends this process when its user logs out everywhere.

    It then ends the user's manager, and with it all scopes, unless the user lingers.
    Source: loginctl(1), "enable-linger"; systemd, src/login/logind-user.c, for the folder.
    """
    manager = f"/user@{os.getuid()}.service/"
    lingers = (root / "var/lib/systemd/linger" / user).exists()
    return manager in _own_groups(root).get("", "") and not lingers


def remedy(kind: str) -> str:
    """Return what lets a host with a `CpuController` of this kind limit CPU bandwidth."""
    if kind == UNDELEGATED:
        return f"Run `{DELEGATE}`, and log in again."
    return "Run as root or inside `systemd-run --user --scope -p Delegate=yes`."


def _by_systemd(root: Path, mount: Path | None, own: str) -> CpuController:
    """Say whether the user manager of systemd can give us a scope that may limit CPUs.

    Source: systemd.resource-control(5), "Delegate=": to users in version 2 only.
    """
    uid = os.getuid()
    if not (root / f"run/user/{uid}/bus").exists():
        reason = "no writable cpu control group and no user manager of systemd on this host"
        return CpuController("none", "", reason)
    if mount is None or _mount(root, "cgroup", "cpu") is not None:
        reason = "the cpu controller is in cgroup version 1, which systemd delegates to no user"
        return CpuController("none", "", reason)
    groups = {"this user": mount / f"user.slice/user-{uid}.slice/user@{uid}.service"}
    # Any other group of ours, such as a terminal's, may lack what a scope of the lab would get.
    if in_scope():
        groups["this scope"] = mount / own.lstrip("/")
    for whose, group in groups.items():
        known = (group / "cgroup.controllers").exists()
        if known and "cpu" not in (has := _controllers(group)):
            names = " and ".join(has) or "no controller"
            return CpuController(UNDELEGATED, "", f"systemd delegates {names} to {whose}, not cpu")
    return CpuController(
        "systemd", "", "only a scope of the user's systemd may limit CPUs, and we are in none"
    )


def _controllers(group: Path) -> list[str]:
    return read_text(group / "cgroup.controllers").split()


def _writable(root: Path, path: Path) -> bool:
    """Return whether we may write a file of a hierarchy; in containers these are read-only."""
    mounted = [m for m in _mounts(root) if path.is_relative_to(m.where) and "cgroup" in m.kind]
    innermost = max(mounted, key=lambda m: len(m.where.parts))
    return "ro" not in innermost.options and os.access(path, os.W_OK)


def _own_groups(root: Path) -> dict[str, str]:
    """Map each controller ("" for version 2) to the group this process is in."""
    groups = {}
    for line in read_text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


class _Mount(NamedTuple):
    where: Path
    kind: str
    options: list[str]


def _mounts(root: Path) -> Iterator[_Mount]:
    for line in read_text(root / "proc/self/mounts").splitlines():
        _, where, kind, options, *_ = line.split()
        yield _Mount(root / where.lstrip("/"), kind, options.split(","))


def _mount(root: Path, kind: str, option: str = "") -> Path | None:
    for mount in _mounts(root):
        if mount.kind == kind and (not option or option in mount.options):
            return mount.where
    return None


def _ancestors(root: Path, kind: str, controller: str) -> list[Path]:
    """List the control group of this process and those above it, as far as visible here."""
    mount = _mount(root, kind, controller)
    if mount is None:
        return []
    own = mount / _own_groups(root).get(controller, "/").lstrip("/")
    return [group for group in (own, *own.parents) if group.is_relative_to(mount)]
