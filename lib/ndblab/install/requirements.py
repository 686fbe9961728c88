"""What the lab needs of a machine that only root can give it, and the line to type for it.

A `Lack` is one missing thing: what it is for, and the packages or the command that provide it on
this distribution. A `Tool` is a program that only some experiments run.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import commands

OTHERWISE = (
    "Or set NDB_HOME to an installation of NDB Cluster, or give its tarball with --tarball PATH."
)
"""Alternatives where nothing can be fetched."""

_OS_RELEASE = Path("/etc/os-release")
_INSTALL = {
    "apt-get": "apt-get install -y --no-install-recommends",
    "dnf": "dnf install -y",
    "zypper": "zypper install -y",
    "pacman": "pacman -S --needed",
}
_DISTRIBUTIONS = {
    "apt-get": ("debian", "ubuntu"),
    "dnf": ("fedora", "rhel", "centos", "ol"),
    "zypper": ("suse", "opensuse", "sles"),
    "pacman": ("arch",),
}
# Oracle Linux and Red Hat's other relatives have these in EPEL.
_IN_EPEL = {"sysbench", "chromium"}
# What mysqld of the vendor's tarballs loads from the system, besides the C and C++ libraries
# (MySQL's manual, "Installing MySQL on Unix/Linux Using Generic Binaries").
_LIBRARIES = ("libaio.so.1", "libnuma.so.1")
# The minimum to configure and build data node, management server and client on bookworm.
_BUILD_PACKAGES = (
    "g++", "cmake", "ninja-build", "bison", "pkgconf", "libssl-dev", "libncurses-dev",
)  # fmt: skip
_USES = {
    "sysbench": "the load generator",
    "gpgv": "to check the vendor's signature",
    "xz": "to unpack the vendor's tarball",
    **dict.fromkeys(_LIBRARIES, "a library of NDB Cluster"),
}
# Packages whose names differ from what they provide.
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
    "Go": {"apt-get": "golang-go", "dnf": "golang", "zypper": "go", "pacman": "go"},
}  # fmt: skip
# From these versions on, the package and the library have another name.
_RENAMED_LIBAIO = {"ubuntu": 24.04, "debian": 13}


@dataclass(frozen=True)
class PackageManager:
    """The program that installs packages, None if the lab does not know it.

    `distribution` and `version` are ID and VERSION_ID of /etc/os-release.
    """

    program: str | None
    distribution: str = ""
    version: str = ""

    def next_step(
        self, packages: Iterable[str], commands: Iterable[str] = (), verb: str = "Run"
    ) -> str:
        """Return, as a sentence, what to type to install packages and then run commands."""
        names, lines, sentences = list(dict.fromkeys(packages)), list(commands), []
        if names and self.program is None:
            listed = ", ".join(names)
            sentences.append(f"Install with this machine's package manager: {listed}.")
        elif names:
            lines = [*map(as_root, self._installing(names)), *lines]
        if lines:
            sentences.append(f"{verb}: {' && '.join(lines)}")
        return " ".join(sentences)

    def _installing(self, packages: list[str]) -> list[str]:
        install = _INSTALL[self.program or ""]
        line = f"{install} {' '.join(packages)}"
        if self.program != "dnf" or self.distribution == "fedora" or not _IN_EPEL & {*packages}:
            return [line]
        major = self.version.partition(".")[0]
        is_oracles = self.distribution == "ol"
        epel = f"oracle-epel-release-el{major}" if is_oracles else "epel-release"
        return [f"{install} {epel}", line]


DEBIAN = PackageManager("apt-get", "debian")


@dataclass(frozen=True)
class Lack:
    """One thing that only root can provide, as packages or by a command.

    What is not `needed` has a substitute, or only some experiments or tests use it. `again` means
    that the user must log in again afterwards.
    """

    what: str
    use: str
    needed: bool = False
    packages: tuple[str, ...] = ()
    command: str = ""
    again: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.use}"


@dataclass(frozen=True)
class Tool:
    """A program that only some experiments run.

    `use` says what needs it. `find` describes the one that is here or comes with NDB Cluster, ""
    without one. `lacks` says in one line why this machine cannot have it; "" if it has it or the
    lab can make it. `ensure` makes it if it is missing, and describes it. `takes` lists what the
    lab needs to make it and only root can give.
    """

    name: str
    use: str
    find: Callable[[], str]
    lacks: Callable[[], str]
    ensure: Callable[[], str] | None = None
    takes: Callable[[], Sequence[Lack]] = tuple


def package_manager(os_release: str | None = None) -> PackageManager:
    """Return the package manager of a distribution, by its /etc/os-release or this machine's."""
    if os_release is None:
        os_release = _OS_RELEASE.read_text() if _OS_RELEASE.exists() else ""
    pairs = (line.partition("=") for line in os_release.splitlines())
    fields = {name: value.strip("\"'") for name, _, value in pairs}
    distribution = fields.get("ID", "")
    names = [n.partition("-")[0] for n in (distribution, *fields.get("ID_LIKE", "").split())]
    programs = (p for name in names for p, known in _DISTRIBUTIONS.items() if name in known)
    return PackageManager(next(programs, None), distribution, fields.get("VERSION_ID", ""))


def as_root(command: str) -> str:
    """Return a command as this user types it to run it as root."""
    return command if os.geteuid() == 0 else f"sudo {command}"


def lack(thing: str, use: str = "", needed: bool = True) -> Lack:
    """Return the lack of a program or library, with its package on this distribution."""
    manager = package_manager()
    package, command = _PACKAGES.get(thing, {}).get(manager.program or "", thing.lower()), ""
    if package == "libaio1" and _renamed_libaio(manager):
        package = "libaio1t64"
        command = as_root("ln -sf libaio.so.1t64 /usr/lib/$(uname -m)-linux-gnu/libaio.so.1")
    return Lack(thing, use or _USES[thing], needed, (package,), command)


def of_tarball(name: str) -> list[Lack]:
    """List what this machine lacks to verify, unpack and run a vendor's tarball of this name."""
    lacking = [] if signature_checker() else ["gpgv"]
    if name.endswith(".xz") and not shutil.which("xz"):
        lacking.append("xz")
    lacking += [library for library in _LIBRARIES if not _can_load(library)]
    return [lack(thing) for thing in lacking]


def signature_checker() -> str | None:
    """Return the path of gpgv or gpg, if there is one."""
    return shutil.which("gpgv") or shutil.which("gpg")


def next_step(lacks: Sequence[Lack], verb: str = "Type once") -> str:
    """Return the one line to type that provides everything that is lacking."""
    packages = (name for lack in lacks for name in lack.packages)
    lines = [lack.command for lack in lacks if lack.command]
    again = ", then log in again" if any(lack.again for lack in lacks) else ""
    return package_manager().next_step(packages, lines, f"{verb}{again}")


def require(what: str, lacks: Sequence[Lack]) -> None:
    """Refuse to begin if anything is lacking; LabError lists all of it, with one line."""
    if lacks:
        raise LabError(
            f"{what} needs what this machine lacks",
            found="\n            ".join(map(str, lacks)),
            next_step=f"{next_step(lacks)}\n            {OTHERWISE}",
        )


def missing_packages(wanted: Iterable[str] = _BUILD_PACKAGES) -> list[str]:
    """Return which packages, by default those of the build, this Debian lacks."""
    wanted = list(wanted)
    try:
        status = commands.output(
            ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted],
            what="dpkg-query cannot list what is installed",
        )
    except commands.ChildFailed as failure:
        # It fails if it does not know one of the names, and lists the others.
        status = failure.output
    installed = [line.removesuffix(" installed") for line in status.splitlines()]
    return [package for package in wanted if package not in installed]


def install_packages(packages: Sequence[str], log: Path) -> None:
    """Install packages with the system's own apt (root only). Nothing is ever removed."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    argv = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    what = f"The packages {' '.join(packages)} cannot be installed"
    try:
        commands.run(argv, what=what, log=log, env=environment)
    except commands.ChildFailed:
        # Package lists are missing on fresh machines and outdated on old ones.
        update = ["apt-get", "update"]
        commands.run(update, what="apt-get update failed", log=log, env=environment)
        commands.run(argv, what=what, log=log, env=environment)


def _renamed_libaio(manager: PackageManager) -> bool:
    since = _RENAMED_LIBAIO.get(manager.distribution, math.inf)
    return bool(re.fullmatch(r"\d+(\.\d+)?", manager.version)) and float(manager.version) >= since


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
