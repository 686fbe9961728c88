"""What a machine needs besides a vendor's tarball, and the one line to type that installs it.

In: PATH, the loader's libraries, /etc/os-release. Out: names of what is missing, and a command. It
installs nothing.
"""

from __future__ import annotations

import ctypes
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ndblab.error import LabError

SYSBENCH = "sysbench"
OTHERWISE = (
    "Or set NDB_HOME to an installation of NDB Cluster, or give its tarball with --tarball PATH."
)
"""What helps where nothing can be fetched."""

# What mysqld of the vendor's tarballs loads from the system, besides the C and C++ libraries
# (MySQL's manual, "Installing MySQL on Unix/Linux Using Generic Binaries").
_LIBRARIES = ("libaio.so.1", "libnuma.so.1")
_OS_RELEASE = Path("/etc/os-release")
_MANAGERS = {
    "sudo apt-get install -y": ("debian", "ubuntu"),
    "sudo dnf install -y": ("fedora", "rhel", "centos", "ol"),
    "sudo zypper install -y": ("suse", "opensuse", "sles"),
    "sudo pacman -S --needed": ("arch",),
}
# In the order of _MANAGERS.
_PACKAGES = {
    SYSBENCH: ("sysbench", "sysbench", "sysbench", "sysbench"),
    "gpgv": ("gpgv", "gnupg2", "gpg2", "gnupg"),
    "xz": ("xz-utils", "xz", "xz", "xz"),
    "libaio.so.1": ("libaio1", "libaio", "libaio1", "libaio"),
    "libnuma.so.1": ("libnuma1", "numactl-libs", "libnuma1", "numactl"),
}
# From these versions on, the package and the library have another name.
_RENAMED_LIBAIO = {"ubuntu": 24.04, "debian": 13}


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
        raise LabError(
            f"{what} needs what this machine lacks",
            found=f"no {', no '.join(lacking)}",
            next_step=f"{line(lacking)}\n            {OTHERWISE}",
        )


def line(things: Iterable[str]) -> str:
    """Return what to type on this machine to install things that are missing."""
    return install_line(things, _OS_RELEASE.read_text() if _OS_RELEASE.exists() else "")


def install_line(things: Iterable[str], os_release: str) -> str:
    """Return what to type to install things.

    Parameters
    ----------
    os_release : the text of a distribution's /etc/os-release.

    Sources: package names of Debian, Fedora and EPEL, openSUSE, and Arch Linux.
    """
    things = list(things)
    release = _parsed(os_release)
    kind = release.get("ID", "")
    found = _manager(kind, release.get("ID_LIKE", ""))
    if found is None:
        return f"Install with this machine's package manager: {', '.join(things)}."
    column, command = found
    packages = [_PACKAGES[thing][column] for thing in things]
    before, after = [], []
    if "dnf" in command and SYSBENCH in things and kind != "fedora":
        # Oracle Linux and Red Hat's other relatives have sysbench in EPEL.
        major = release.get("VERSION_ID", "").partition(".")[0]
        epel = f"oracle-epel-release-el{major}" if kind == "ol" else "epel-release"
        before.append(f"{command} {epel}")
    if "libaio1" in packages and _renamed_libaio(kind, release.get("VERSION_ID", "")):
        packages[packages.index("libaio1")] = "libaio1t64"
        folder = "/usr/lib/$(uname -m)-linux-gnu"
        after.append(f"sudo ln -sf libaio.so.1t64 {folder}/libaio.so.1")
    return "Run: " + " && ".join([*before, " ".join([command, *packages]), *after])


def _manager(kind: str, like: str) -> tuple[int, str] | None:
    for name in (kind, *like.split()):
        for column, (command, kinds) in enumerate(_MANAGERS.items()):
            if name.partition("-")[0] in kinds:
                return column, command
    return None


def _renamed_libaio(kind: str, version: str) -> bool:
    return (
        kind in _RENAMED_LIBAIO
        and re.fullmatch(r"\d+(\.\d+)?", version) is not None
        and float(version) >= _RENAMED_LIBAIO[kind]
    )


def _parsed(os_release: str) -> Mapping[str, str]:
    pairs = (text.partition("=") for text in os_release.splitlines() if "=" in text)
    return {name: "".join(shlex.split(value)) for name, _, value in pairs}


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
