"""The programs of a lab: found here, from Debian's packages, a vendor's release, or a tarball.

In: the environment and the user's choice. Out: `Binaries`. An installation counts only once its
programs ran and its receipt was written; an interrupted one resumes. It starts no cluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.install import cache, ndb_tools, receipt, releases, requirements
from ndblab.install.binaries import Binaries, Ndb, Sysbench, join
from ndblab.install.cache import location
from ndblab.install.debian.build_dependencies import missing as missing_build_packages
from ndblab.install.discovery import find_ndb, find_sysbench
from ndblab.install.ndb_tools import missing as missing_tools
from ndblab.machine import commands

if TYPE_CHECKING:
    from ndblab.install.progress import Phases

__all__ = [
    "Binaries",
    "Ndb",
    "Sysbench",
    "add_tools",
    "ensure",
    "find",
    "find_ndb",
    "find_sysbench",
    "has_debian",
    "location",
    "missing_build_packages",
    "missing_tools",
    "release_for",
    "releases",
    "requirements",
]


def has_debian() -> bool:
    """Whether Debian's packages can be fetched here; elsewhere the vendor's release is."""
    from ndblab.install.debian import apt

    return apt.find_mirror() is not None


def release_for(version: str | None = None) -> releases.Release | None:
    """Choose the vendor's release that `ensure` installs here; None if it takes another way.

    Parameters
    ----------
    version : of a release, "newest", or None for the default way.

    Raises
    ------
    LabError : the lab does not know the version, or no release runs here.
    """
    if version is None and (find_ndb() is not None or has_debian()):
        return None
    return releases.choose(version or releases.NEWEST)


def find() -> Binaries | None:
    """Find NDB Cluster and sysbench on this machine; install nothing.

    Returns
    -------
    None if one of the two is not installed.

    Raises
    ------
    LabError : what is installed cannot be used; the message says why.
    """
    ndb = find_ndb()
    sysbench = find_sysbench() if ndb else None
    return join(ndb, sysbench) if ndb and sysbench else None


def ensure(
    tarball: str | None = None,
    sha256: str | None = None,
    progress: bool = True,
    release: str | None = None,
) -> Binaries:
    """Find NDB Cluster and sysbench, or install what is missing.

    Parameters
    ----------
    tarball : path or URL of a binary tarball of NDB Cluster; preferred to any installation.
    sha256 : its checksum, required with a URL.
    release : version of a release of the vendor, or "newest"; preferred to any installation.

    Raises
    ------
    LabError : what is installed or downloaded cannot be used, or cannot be installed here.
    """
    if tarball is not None and release is not None:
        raise LabError(
            "--tarball and --release exclude each other",
            found=f"--tarball {tarball} with --release {release}",
            next_step="Drop one of them.",
        )
    if tarball is None and release is None and (binaries := find()) is not None:
        return binaries
    from ndblab.install import tarball as tarballs
    from ndblab.install.progress import Phases

    if tarball is not None:
        tarballs.check_request(tarball, sha256)
    chosen = release_for(release) if release is not None else None
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        if tarball is not None:
            return _from_tarball(folder, tarball, sha256, phases)
        if chosen is not None:
            return _from_release(folder, chosen, phases)
        # If it waited for another installer, the work is done.
        if (binaries := find()) is not None:
            return binaries
        if (chosen := release_for()) is not None:
            return _from_release(folder, chosen, phases)
        return _from_debian(folder, phases)


def add_tools(ndb: Ndb, progress: bool = True) -> None:
    """Build NDB's further programs for an installation of the lab that lacks them.

    Raises
    ------
    LabError : the cluster is not the lab's own from Debian, or they cannot be built here.
    """
    lacking = ndb_tools.missing(ndb)
    if not lacking:
        return
    from ndblab.install.debian import packages
    from ndblab.install.progress import Phases

    if ndb.origin != packages.ORIGIN:
        raise LabError(
            "The lab builds tools only for the NDB Cluster that it installs from Debian's packages",
            found=f"{ndb.origin}, without {', '.join(lacking)}",
            next_step=f"Put them beside {ndb.ndbmtd}, built from the source of the same version.",
        )
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        # If it waited for another installer, the work is done.
        if ndb_tools.missing(ndb):
            packages.install_tools(folder, ndb, phases)


def _from_tarball(folder: Path, tarball: str, sha256: str | None, phases: Phases) -> Binaries:
    from ndblab.install import sysbench
    from ndblab.install import tarball as tarballs

    sysbench.require()
    installed = tarballs.install(folder, tarball, sha256, phases)
    receipt.choose(installed)
    assert installed.ndb is not None
    return join(installed.ndb, sysbench.ensure(folder, phases))


def _from_release(folder: Path, release: releases.Release, phases: Phases) -> Binaries:
    from ndblab.install import sysbench

    lacking = [*releases.missing(folder, release), *sysbench.missing()]
    requirements.require(f"Installing {release}", lacking)
    installed = releases.install(folder, release, phases)
    receipt.choose(installed)
    assert installed.ndb is not None
    return join(installed.ndb, sysbench.ensure(folder, phases))


def _from_debian(folder: Path, phases: Phases) -> Binaries:
    from ndblab.install import sysbench
    from ndblab.install.debian import packages

    if find_ndb() is None:
        packages.install_cluster(folder, phases)
    else:
        sysbench.require()
        sysbench.ensure(folder, phases)
    if (binaries := find()) is None:
        raise LabError(
            f"The installation in {folder} has disappeared",
            next_step="Make sure that nothing deletes files in this folder, and install again.",
        )
    return binaries
