"""What a machine needs besides a vendor's tarball, and which package provides it.

In: PATH, the loader's libraries, a package manager. Out: names of what is missing, and a
`Provision` of each. It installs nothing.
"""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterable
from typing import NamedTuple

from ndblab.error import LabError
from ndblab.install import package_manager
from ndblab.install.package_manager import PackageManager

SYSBENCH = "sysbench"
OTHERWISE = (
    "Or set NDB_HOME to an installation of NDB Cluster, or give its tarball with --tarball PATH."
)
"""What helps where nothing can be fetched."""

# What mysqld of the vendor's tarballs loads from the system, besides the C and C++ libraries
# (MySQL's manual, "Installing MySQL on Unix/Linux Using Generic Binaries").
_LIBRARIES = ("libaio.so.1", "libnuma.so.1")
_USES = {
    SYSBENCH: "the load generator",
    "gpgv": "to check the vendor's signature",
    "xz": "to unpack the vendor's tarball",
    **dict.fromkeys(_LIBRARIES, "a library of NDB Cluster"),
}
# Where a package is not named as what it provides.
# Sources: package names of Debian, Fedora and EPEL, openSUSE, and Arch Linux.
_PACKAGES = {
    "gpgv": {"dnf": "gnupg2", "zypper": "gpg2", "pacman": "gnupg"},
    "xz": {"apt-get": "xz-utils"},
    "libaio.so.1": {
        "apt-get": "libaio1", "dnf": "libaio", "zypper": "libaio1", "pacman": "libaio",
    },
    "libnuma.so.1": {
        "apt-get": "libnuma1", "dnf": "numactl-libs", "zypper": "libnuma1", "pacman": "numactl",
    },
}  # fmt: skip
# From these versions on, the package and the library have another name.
_RENAMED_LIBAIO = {"ubuntu": 24.04, "debian": 13}


class Provision(NamedTuple):
    """What a requirement is for, its package, and a command to run after that, if any."""

    use: str
    package: str
    command: str = ""


def signature_checker() -> str | None:
    """Return the path of gpgv or gpg, if there is one."""
    return shutil.which("gpgv") or shutil.which("gpg")


def missing(tarball: str) -> list[str]:
    """Name what this machine lacks to verify, unpack and run a vendor's tarball of this name."""
    lacking = [] if signature_checker() else ["gpgv"]
    if tarball.endswith(".xz") and not shutil.which("xz"):
        lacking.append("xz")
    return [*lacking, *(library for library in _LIBRARIES if not _can_load(library))]


def require(what: str, lacking: list[str]) -> None:
    """Refuse to begin with `what` if anything is missing.

    Raises
    ------
    LabError : everything that is missing, with one line that installs it.
    """
    if lacking:
        step = next_step(lacking, package_manager.here())
        raise LabError(
            f"{what} needs what this machine lacks",
            found=f"no {', no '.join(lacking)}",
            next_step=f"{step}\n            {OTHERWISE}",
        )


def next_step(lacking: Iterable[str], manager: PackageManager) -> str:
    """Return what to type to install everything that is missing."""
    provisions = [provision(thing, manager) for thing in lacking]
    commands = [each.command for each in provisions if each.command]
    return manager.next_step((each.package for each in provisions), commands)


def provision(thing: str, manager: PackageManager) -> Provision:
    """Return what provides one thing that `missing` names, or sysbench."""
    package = _PACKAGES.get(thing, {}).get(manager.program or "", thing)
    if package != "libaio1" or not _renamed_libaio(manager):
        return Provision(_USES[thing], package)
    link = "ln -sf libaio.so.1t64 /usr/lib/$(uname -m)-linux-gnu/libaio.so.1"
    return Provision(_USES[thing], "libaio1t64", package_manager.as_root(link))


def _renamed_libaio(manager: PackageManager) -> bool:
    return (
        manager.distribution in _RENAMED_LIBAIO
        and re.fullmatch(r"\d+(\.\d+)?", manager.version) is not None
        and float(manager.version) >= _RENAMED_LIBAIO[manager.distribution]
    )


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
