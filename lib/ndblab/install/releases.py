"""Releases of NDB Cluster as its vendor's binary tarballs: which there are, and which fits here.

It uses no tarball that the vendor did not sign with one of the keys in `vendor-keys.asc`.

`releases.csv` holds only files that somebody has seen; its last column says who. "dbdeployer's
list" is downloads/tarball_list.json of github.com/ProxySQL/dbdeployer, which has the vendor's own
checksum and the size of each.
"""

from __future__ import annotations

import csv
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ndblab.error import LabError
from ndblab.install import binaries, cache, download, requirements, tarball
from ndblab.install.progress import Phases

T = TypeVar("T")

NEWEST = "newest"
"""In place of a version: the newest that runs on this machine."""
DATA = Path(__file__).with_name("releases.csv")
KEYS = Path(__file__).with_name("vendor-keys.asc")
# A release moves to the archive when a newer one of its series comes; 14 is the number of the
# product there. Seen in public scripts: the three places of tarballs (8.0.30, 8.0.20 and 7.6.23),
# and those of signatures for MySQL Server; only the .asc beside an archived tarball is a guess.
TARBALLS = (
    "https://cdn.mysql.com/archives/mysql-cluster-gpl-{series}/{file}",
    "https://cdn.mysql.com/Downloads/MySQL-Cluster-{series}/{file}",
    "https://downloads.mysql.com/archives/get/p/14/file/{file}",
)
SIGNATURES = (
    *(f"{place}.asc" for place in TARBALLS[:2]),
    "https://downloads.mysql.com/archives/gpg/?file={file}&p=14",
)


@dataclass(frozen=True)
class Release:
    """One tarball of the vendor; `glibc` is the oldest C library that it runs with."""

    version: str
    architecture: str
    glibc: str
    file: str

    def __str__(self) -> str:
        return f"NDB Cluster {self.version}"

    def addresses(self, templates: Iterable[str]) -> list[str]:
        """Return where it may be, the most likely place first."""
        series = ".".join(self.version.split(".")[:2])
        return [template.format(series=series, file=self.file) for template in templates]


def is_version(text: str) -> bool:
    """Return whether a text is a version, not a path."""
    return re.fullmatch(r"\d+\.\d+\.\d+", text) is not None


def known() -> list[Release]:
    """Return every release that the lab knows, the newest first."""
    with DATA.open() as stream:
        rows = [Release(*row[:4]) for row in csv.reader(stream)][1:]
    return sorted(rows, key=lambda row: (_number(row.version), _number(row.glibc)), reverse=True)


def here() -> tuple[str, str | None]:
    """Return this machine's architecture and its glibc version, None with another C library."""
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        libc = None
    return platform.machine(), libc.split()[1] if libc else None


def choose(wanted: str = NEWEST) -> Release:
    """Choose the tarball of a version, or the newest, for this machine, as `fitting` does."""
    return fitting(known(), wanted, *here())


def fitting(releases: list[Release], wanted: str, architecture: str, glibc: str | None) -> Release:
    """Choose from `releases`, the newest first, what runs with an architecture and a glibc.

    LabError names what is lacking, and the releases that run.
    """
    asked = [release for release in releases if wanted in (NEWEST, release.version)]
    if not asked:
        raise LabError(
            f"The lab knows no release {wanted} of NDB Cluster",
            expected=f"one of {_listed(releases)}, or {NEWEST}",
            next_step="Give one of these, or download the tarball by hand and give it with "
            "--tarball PATH.",
        )
    fits = [release for release in releases if _fits(release, architecture, glibc)]
    if chosen := next((release for release in asked if release in fits), None):
        return chosen
    name = "Every release" if wanted == NEWEST else f"Release {wanted}"
    others = f"Give another release: {_listed(fits)}. " if fits else ""
    if built := [release for release in asked if release.architecture == architecture]:
        oldest = min(built, key=lambda release: _number(release.glibc)).glibc
        what = "needs a C library that is not here"
        found = f"glibc {glibc}" if glibc else "another C library"
        expected = f"glibc {oldest} or newer"
    else:
        what, found = "is built for other processors", architecture
        expected = " or ".join(sorted({release.architecture for release in asked}))
    raise LabError(
        f"{name} of NDB Cluster that the lab knows {what}",
        found=found,
        expected=expected,
        next_step=f"{others}{requirements.OTHERWISE}",
    )


def installed(folder: Path, release: Release) -> cache.Receipt | None:
    """Return the receipt of a tarball that was installed after its signature was checked."""
    wanted = {"release": release.version, "tarball": release.file}
    valid = cache.receipts(folder)
    return next((r for r in valid if wanted.items() <= r.source.items()), None)


def install(folder: Path, release: Release, phases: Phases) -> cache.Receipt:
    """Download, verify and install a release below the cache `folder`, unless it is there.

    LabError if it cannot be fetched, is not signed by the vendor, or does not run here.
    """
    if (present := installed(folder, release)) is not None:
        return present
    phases.say(f"{release} comes from its vendor, as {release.file}")
    detached = _first(release, SIGNATURES, _signature)
    keys = KEYS.read_text()

    def verify(file: Path) -> None:
        download.verify_signature(file, detached, keys, release.file)

    target = folder / "downloads" / release.file / release.file
    times = 1 + tarball.UNPACKED_TIMES

    def fetch(url: str) -> None:
        download.fetch(url, target, verify, phases, times=times)

    _first(release, TARBALLS, fetch)
    sha256 = binaries.sha256(target)
    source = {"release": release.version, "tarball": release.file, "sha256": sha256}
    unpacked = tarball.unpack(folder, target, sha256, source, phases)
    shutil.rmtree(target.parent)
    return unpacked


def _signature(url: str) -> bytes:
    if signature := download.ARMOURED.search(download.read(url)):
        return signature[0]
    raise download.Unreachable(f"{url} cannot be fetched", found="no signature there")


def _first(release: Release, templates: Iterable[str], act: Callable[[str], T]) -> T:
    """Apply `act` to the first address of a release that can be reached."""
    problems = []
    for url in release.addresses(templates):
        try:
            return act(url)
        except download.Unreachable as problem:
            problems.append(f"{url}: {problem.found}")
    raise LabError(
        f"{release} cannot be fetched from its vendor",
        found="\n            ".join(problems),
        next_step="Check the network and repeat the command, which resumes; or download "
        f"{release.file} by hand and give it with --tarball PATH.",
    )


def _fits(release: Release, architecture: str, glibc: str | None) -> bool:
    return (
        release.architecture == architecture
        and glibc is not None
        and _number(release.glibc) <= _number(glibc)
    )


def _listed(releases: Iterable[Release]) -> str:
    versions = {release.version for release in releases}
    return ", ".join(sorted(versions, key=_number)) or "none"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
