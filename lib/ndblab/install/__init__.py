"""Where the programs of a lab come from: found on this machine, from Debian, or from a tarball.

In: the environment and the user's wishes. Out: `Binaries`. Nothing counts as installed until it
ran and was certified; an interrupted installation is taken up where it stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.install import cache, discovery, receipt
from ndblab.install.binaries import Binaries, Ndb, Sysbench, join
from ndblab.install.debian import apt
from ndblab.install.debian.build_dependencies import install_line
from ndblab.install.debian.build_dependencies import missing as missing_build_packages
from ndblab.machine import commands

if TYPE_CHECKING:
    from ndblab.install.progress import Phases

__all__ = [
    "Binaries",
    "Ndb",
    "Sysbench",
    "ensure",
    "find",
    "find_ndb",
    "find_sysbench",
    "has_apt",
    "install_line",
    "location",
    "missing_build_packages",
]

location = cache.location
find_ndb = discovery.find_ndb
find_sysbench = discovery.find_sysbench
has_apt = apt.is_here


def find() -> Binaries | None:
    """Find NDB Cluster and sysbench on this machine; install nothing.

    Returns
    -------
    None when one of the two is not here at all.

    Raises
    ------
    LabError : what is here cannot be used; the message says why.
    """
    ndb = discovery.find_ndb()
    sysbench = discovery.find_sysbench() if ndb else None
    return join(ndb, sysbench) if ndb and sysbench else None


def ensure(
    tarball: str | None = None, sha256: str | None = None, progress: bool = True
) -> Binaries:
    """Find NDB Cluster and sysbench, or install what is missing.

    Parameters
    ----------
    tarball : path or address of a binary tarball of NDB Cluster; preferred to all that is found.
    sha256 : its checksum, which an address must have.
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
        # Whoever waited for another installer finds the work done.
        return find() or _from_debian(folder, phases)


def _from_tarball(folder: Path, tarball: str, sha256: str | None, phases: Phases) -> Binaries:
    from ndblab.install import tarball as tarballs

    installed = tarballs.install(folder, tarball, sha256, phases)
    receipt.choose(installed)
    assert installed.ndb is not None
    return join(installed.ndb, discovery.find_sysbench() or _sysbench_from_debian(folder, phases))


def _from_debian(folder: Path, phases: Phases) -> Binaries:
    from ndblab.install.debian import packages

    ndb = discovery.find_ndb()
    if ndb is None:
        packages.install_cluster(folder, phases)
    else:
        _sysbench_from_debian(folder, phases)
    binaries = find()
    if binaries is None:
        raise LabError(
            f"What was just installed in {folder} is not there any more",
            next_step="See that nothing cleans this folder, and install again.",
        )
    return binaries


def _sysbench_from_debian(folder: Path, phases: Phases) -> Sysbench:
    from ndblab.install.debian import packages

    return packages.install_sysbench(folder, phases)
