"""The package manager of this machine, with which root installs what the lab lacks.

In: PATH. Out: the command to type. It installs nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from ndblab.install.debian import apt

_INSTALL = {
    "apt-get": "install -y --no-install-recommends",
    "dnf": "install -y",
    "yum": "install -y",
    "zypper": "--non-interactive install",
}


def name() -> str | None:
    """Return the package manager's program; None without one that the lab knows."""
    known = (each for each in _INSTALL if each != "apt-get" and shutil.which(each))
    return "apt-get" if apt.is_here() else next(known, None)


def as_root(command: str) -> str:
    """Return a command as this user types it to run it as root."""
    return command if os.geteuid() == 0 else f"sudo {command}"


def install_line(packages: Iterable[str]) -> str:
    """Return the command that installs packages; without a known package manager, a sentence."""
    manager, names = name(), " ".join(packages)
    if manager is None:
        return f"Install with this machine's package manager: {names}"
    return as_root(f"{manager} {_INSTALL[manager]} {names}")
