"""The system packages that a build needs.

In: dpkg's list of packages. Out: the missing ones, installed for root; others get a LabError with
the command to type. Nothing is ever removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import package_manager
from ndblab.machine import commands

# The minimum to configure and build data node, management server and client on bookworm.
BUILD_PACKAGES = (
    "g++",
    "cmake",
    "ninja-build",
    "bison",
    "pkgconf",
    "libssl-dev",
    "libncurses-dev",
)


def missing_packages(status: str, wanted: Iterable[str]) -> list[str]:
    """Select what is missing, given lines "name state" of dpkg-query."""
    installed = {
        words[0] for line in status.splitlines() if (words := line.split())[1:] == ["installed"]
    }
    return [package for package in wanted if package not in installed]


def missing() -> list[str]:
    """Return the build packages that this machine lacks."""
    try:
        status = commands.output(
            ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *BUILD_PACKAGES],
            what="dpkg-query cannot list what is installed",
        )
    except commands.ChildFailed as failure:
        # It fails if it does not know one of the names, and lists the others.
        status = failure.output
    return missing_packages(status, BUILD_PACKAGES)


def require_root_for(packages: list[str]) -> None:
    """Refuse to continue if packages are missing and only root could install them."""
    if packages and os.geteuid() != 0:
        raise LabError(
            "Building the data node needs packages that this machine lacks",
            found=f"{len(packages)} missing: {' '.join(packages)}",
            expected="all of them, or root to install them",
            next_step=package_manager.DEBIAN.next_step(packages),
        )


def install(packages: list[str], log: Path) -> None:
    """Install missing packages with the system's own apt (root only)."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    argv = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    what = f"The build packages {' '.join(packages)} cannot be installed"
    try:
        commands.run(argv, what=what, log=log, env=environment)
    except commands.ChildFailed:
        # Package lists are missing on fresh machines and outdated on old ones.
        update = ["apt-get", "update"]
        commands.run(update, what="apt-get update failed", log=log, env=environment)
        commands.run(argv, what=what, log=log, env=environment)
