"""The package manager of a distribution, with which root installs what the lab lacks.

In: /etc/os-release. Out: a `PackageManager`, and what to type. It installs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
        """Return as a sentence what to type to install packages, and to run commands after that."""
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


def here() -> PackageManager:
    """Return the package manager of this machine."""
    return of(_OS_RELEASE.read_text() if _OS_RELEASE.exists() else "")


def of(os_release: str) -> PackageManager:
    """Return the package manager of a distribution, given the text of its /etc/os-release."""
    pairs = (line.partition("=") for line in os_release.splitlines())
    fields = {name: value.strip("\"'") for name, _, value in pairs}
    distribution = fields.get("ID", "")
    names = [n.partition("-")[0] for n in (distribution, *fields.get("ID_LIKE", "").split())]
    programs = (p for name in names for p, known in _DISTRIBUTIONS.items() if name in known)
    return PackageManager(next(programs, None), distribution, fields.get("VERSION_ID", ""))


def as_root(command: str) -> str:
    """Return a command as this user types it to run it as root."""
    return command if os.geteuid() == 0 else f"sudo {command}"
