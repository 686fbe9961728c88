"""The programs of a lab: found on this machine, from Debian's packages, or from a tarball.

In: the environment and the user's choice. Out: `Binaries`. An installation counts only once its
programs ran and its receipt was written; an interrupted one resumes. It starts no cluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.install import cache, ndb_tools, receipt
from ndblab.install.binaries import Binaries, Ndb, Sysbench, join
from ndblab.install.cache import location
from ndblab.install.debian.apt import has_archive as has_debian_archive
from ndblab.install.debian.apt import is_here as has_apt
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
    "has_apt",
    "has_debian_archive",
    "location",
    "missing_build_packages",
    "missing_tools",
]


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
    tarball: str | None = None, sha256: str | None = None, progress: bool = True
) -> Binaries:
    """Find NDB Cluster and sysbench, or install what is missing.

    Parameters
    ----------
    tarball : path or URL of a binary tarball of NDB Cluster; preferred to any installation.
    sha256 : its checksum, required with a URL.

    Raises
    ------
    LabError : what is installed or downloaded cannot be used, or cannot be installed here.
    """
    if tarball is None and (binaries := find()) is not None:
        return binaries
    from ndblab.install import tarball as tarballs
    from ndblab.install.progress import Phases

    if tarball is not None:
        tarballs.check_request(tarball, sha256)
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        if tarball is not None:
            return _from_tarball(folder, tarball, sha256, phases)
        # If it waited for another installer, the work is done.
        return find() or _from_debian(folder, phases)


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
    from ndblab.install import tarball as tarballs
    from ndblab.install.debian import packages

    installed = tarballs.install(folder, tarball, sha256, phases)
    receipt.choose(installed)
    assert installed.ndb is not None
    return join(installed.ndb, find_sysbench() or packages.install_sysbench(folder, phases))


def _from_debian(folder: Path, phases: Phases) -> Binaries:
    from ndblab.install.debian import packages

    if find_ndb() is None:
        packages.install_cluster(folder, phases)
    else:
        packages.install_sysbench(folder, phases)
    if (binaries := find()) is None:
        raise LabError(
            f"The installation in {folder} has disappeared",
            next_step="Make sure that nothing deletes files in this folder, and install again.",
        )
    return binaries
