"""Debian packages downloaded by a private apt: its own lists and cache, Debian's signatures.

It installs no package, leaves the system's apt as it is, and contains no address.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import commands

SUITE = "sid"
_KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)
# Only network settings are taken from the machine's apt.
_NETWORK_SETTING = re.compile(
    r'^Acquire::(https?|Retries|ForceIPv[46]|Proxy[-\w]*)(::\S+)? "[^"]*";$', re.IGNORECASE
)
_PROGRESS = re.compile(r"^(?:dl|pm)status:[^:]*:(\d+(?:\.\d+)?):")
_TARGETS = "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"


def mirror_from(index_targets: str, update_uris: str = "") -> str | None:
    """Return the address of the main Debian archive that this machine uses.

    Parameters
    ----------
    index_targets : lines "origin|release|address", which apt prints if it has lists.
    update_uris : what an update would fetch, for a machine without lists.
    """
    for line in index_targets.splitlines():
        # apt's warnings are among them: of a source that is configured twice, for example.
        origin, release, address = (*line.split("|", 2), "", "")[:3]
        if origin == "Debian" and re.fullmatch(r"[a-z]+", release):
            return address
    match = re.search(r"^'(\S+/debian/)dists/[a-z]+/InRelease'", update_uris, re.MULTILINE)
    return match and match[1]


def parse_progress(line: str) -> float | None:
    """Read the percentage from a status line of apt-get; None for other lines."""
    match = _PROGRESS.match(line)
    return float(match[1]) if match else None


def network_settings(dump: str) -> list[str]:
    """Select the lines of `apt-config dump` that say how to reach the network."""
    return [line for line in dump.splitlines() if _NETWORK_SETTING.match(line)]


def is_expired(text: str) -> bool:
    """Return whether an update failed only because the mirror is no longer renewed."""
    errors = [line for line in text.splitlines() if line.startswith("E: ")]
    return bool(errors) and all(re.search(r"Release file .* is expired", e) for e in errors)


def mirror() -> str:
    """Return the address of this machine's Debian mirror; LabError if it has none."""
    if address := find_mirror():
        return address
    raise LabError(
        "Debian's packages cannot be fetched on this machine",
        expected="apt with a Debian archive among its package sources",
        next_step="Install NDB Cluster with --release or --tarball, and sysbench with the "
        "package manager of this machine.",
    )


def find_mirror() -> str | None:
    """Return the address of this machine's Debian mirror; None if it has none.

    Ubuntu, for example, has apt but no Debian archive.
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    what = "apt-get cannot list this machine's package sources"
    targets = commands.output(["apt-get", "indextargets", "--format", _TARGETS], what=what)
    if address := mirror_from(targets):
        return address
    return mirror_from("", commands.output(["apt-get", "update", "--print-uris"], what=what))


class PrivateApt:
    """apt-get with all its state below one folder."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self.archives = folder / "cache/archives"

    def update(self, mirror: str, say: Callable[[str], None]) -> None:
        """Read the mirror's package lists, checked against Debian's keys."""
        self._configure(mirror)
        what = f"Debian's package lists ({SUITE}) cannot be read"
        try:
            self._apt_get("update", what=what)
        except commands.ChildFailed as failure:
            if not is_expired(failure.output):
                raise
            say(
                "the mirror's package list has expired (it is no longer renewed); "
                "it is used anyway, and its signature is still checked"
            )
            self._configure(mirror, expired=True)
            self._apt_get("update", what=what)
        # Packages of other versions, left by an interrupted installation, must not be mixed in.
        self._apt_get("autoclean", what="Outdated packages cannot be removed")

    def download(self, packages: list[str], on_percent: Callable[[float], None]) -> list[Path]:
        """Download packages and their dependencies; apt verifies and resumes downloads."""

        def on_line(line: str) -> bool:
            percent = parse_progress(line)
            if percent is not None:
                on_percent(percent)
            return percent is not None

        self._apt_get(
            "-qq",
            "--download-only",
            "-oAPT::Status-Fd=1",
            "install",
            *packages,
            what=f"Debian's packages {' '.join(packages)} cannot be fetched",
            on_line=on_line,
        )
        return sorted(self.archives.glob("*.deb"))

    def _apt_get(
        self, *arguments: str, what: str, on_line: Callable[[str], bool] | None = None
    ) -> None:
        environment = os.environ | {"APT_CONFIG": str(self._folder / "apt.conf")}
        commands.run(
            ["apt-get", "-y", *arguments],
            what=what,
            log=self._log,
            env=environment,
            on_line=on_line,
        )

    def _configure(self, mirror: str, expired: bool = False) -> None:
        keyring = next((k for k in _KEYRINGS if k.exists()), None)
        if keyring is None:
            raise LabError(
                "Debian's archive keys are missing, so packages cannot be checked",
                expected=str(_KEYRINGS[0]),
                next_step="Run: sudo apt-get install debian-archive-keyring",
            )
        empty = self._folder / "empty"
        for folder in (empty, self._folder / "lists/partial", self.archives / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        status = self._folder / "status"
        status.write_text("")
        sources = self._folder / "sources.list"
        sources.write_text(f"deb [signed-by={keyring}] {mirror} {SUITE} main\n")
        settings = {
            "Dir::Etc::Main": "/dev/null",
            "Dir::Etc::Parts": empty,
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": empty,
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": empty,
            "Dir::State": self._folder,
            "Dir::State::Lists": self._folder / "lists",
            "Dir::State::status": status,
            "Dir::Cache": self._folder / "cache",
            "Dir::Log": self._folder,
            "APT::Install-Recommends": "false",
            # The folder may be in a home that apt's own user cannot enter.
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        if expired:
            settings["Acquire::Check-Valid-Until"] = "false"
        dump = commands.output(
            ["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"],
            what="apt's settings cannot be read",
        )
        lines = [f'{name} "{value}";' for name, value in settings.items()]
        conf = self._folder / "apt.conf"
        conf.write_text("\n".join([*lines, *network_settings(dump)]) + "\n")
