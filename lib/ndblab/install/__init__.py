"""The programs of a lab: found here, from Debian's packages, a vendor's release, or a tarball.

An installation counts only once its programs ran and its receipt was written; an interrupted one
resumes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.install import apt, cache, ndb_tools, releases, requirements
from ndblab.install.binaries import Binaries, Ndb, Sysbench, join
from ndblab.install.cache import location
from ndblab.install.discovery import find_ndb, find_sysbench
from ndblab.install.requirements import Lack
from ndblab.machine import commands

if TYPE_CHECKING:
    from ndblab.install.progress import Phases

__all__ = [
    "Binaries", "Ndb", "Sysbench", "add_tools", "ensure", "find", "find_ndb", "find_sysbench",
    "has_debian", "lacks", "lacks_ndb", "lacks_sysbench", "location", "release_for", "releases",
    "requirements", "usual_s",
]  # fmt: skip


def has_debian() -> bool:
    """Return whether Debian's packages can be fetched here; if not, the vendor's release is."""
    return apt.find_mirror() is not None


def release_for(version: str | None = None) -> releases.Release | None:
    """Choose the vendor's release that `ensure` installs here; None if it takes another way.

    `version` is that of a release, "newest", or None for the default way. LabError if none runs
    here.
    """
    if version is None and (find_ndb() is not None or has_debian()):
        return None
    return releases.choose(version or releases.NEWEST)


def find() -> Binaries | None:
    """Find NDB Cluster and sysbench on this machine; None if one of the two is not installed.

    LabError says why an installation cannot be used.
    """
    ndb = find_ndb()
    sysbench = find_sysbench() if ndb else None
    return join(ndb, sysbench) if ndb and sysbench else None


def lacks(tarball: str | None = None, release: str | None = None) -> list[Lack]:
    """List what only root can give, without which `ensure` with the same parameters fails.

    LabError says that no release fits, or why an installation cannot be used.
    """
    return [*lacks_sysbench(), *lacks_ndb(tarball, release)]


def lacks_sysbench() -> list[Lack]:
    """List sysbench if it is neither installed nor available from Debian's packages."""
    is_out_of_reach = find_sysbench() is None and not has_debian()
    return [requirements.lack("sysbench")] if is_out_of_reach else []


def lacks_ndb(tarball: str | None = None, release: str | None = None) -> list[Lack]:
    """List what only root can give, without which `ensure` cannot install NDB Cluster."""
    if tarball is not None or (release is None and find_ndb() is not None):
        return []
    if chosen := release_for(release):
        is_here = releases.installed(location(), chosen)
        return [] if is_here else requirements.of_tarball(chosen.file)
    return _lacks_build()


def usual_s() -> float:
    """Return what a first installation usually takes here, in seconds."""
    from ndblab.install import packages, tarball

    return sum((packages.cluster_s() if has_debian() else tarball.PHASES_S).values())


def ensure(
    tarball: str | None = None,
    sha256: str | None = None,
    progress: bool = True,
    release: str | None = None,
) -> Binaries:
    """Find NDB Cluster and sysbench, or install what is missing.

    LabError if what is installed or downloaded cannot be used, or cannot be installed here.

    Parameters
    ----------
    tarball : path or URL of a binary tarball of NDB Cluster; preferred to any installation.
    sha256 : its checksum, required with a URL.
    release : version of a release of the vendor, or "newest"; preferred to any installation.
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
    chosen = None if tarball is not None else release_for(release)
    requirements.require(f"Installing {chosen or 'NDB Cluster'}", lacks(tarball, release))
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        # If it waited for another installer, the work is done.
        if tarball is None and release is None and (binaries := find()) is not None:
            return binaries
        return _installed(folder, tarball, sha256, chosen, phases)


def add_tools(ndb: Ndb, tools: Sequence[str] = (), progress: bool = True) -> None:
    """Build NDB's further programs for an installation of the lab that lacks them.

    These are `ndb_tools.BUILT` and `tools`. LabError if the cluster is not the lab's own from
    Debian, or they cannot be built here.
    """
    wanted = tuple(dict.fromkeys((*ndb_tools.BUILT, *tools)))
    if not (lacking := ndb_tools.missing(ndb, *wanted)):
        return
    from ndblab.install import packages
    from ndblab.install.progress import Phases

    if ndb.origin != packages.ORIGIN:
        raise LabError(
            "The lab builds tools only for the NDB Cluster that it installs from Debian's packages",
            found=f"{ndb.origin}, without {', '.join(lacking)}",
            next_step=f"Put them beside {ndb.ndbmtd}, built from the source of the same version.",
        )
    requirements.require("Building NDB's tools", _lacks_build())
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        # If it waited for another installer, the work is done.
        if lacking := ndb_tools.missing(ndb, *wanted):
            packages.install_tools(folder, ndb, lacking, phases)


def _lacks_build() -> list[Lack]:
    """List the packages that a build lacks; for root, the lab installs them itself."""
    missing = requirements.missing_packages() if os.geteuid() != 0 else []
    lack = Lack("build packages", "to build NDB's data node", True, tuple(missing))
    return [lack] if missing else []


def _installed(
    folder: Path,
    tarball: str | None,
    sha256: str | None,
    release: releases.Release | None,
    phases: Phases,
) -> Binaries:
    """Install what is missing below the cache `folder`."""
    from ndblab.install import packages
    from ndblab.install import tarball as tarballs

    if tarball is None and release is None and find_ndb() is None:
        packages.install_cluster(folder, phases)
    usual_s = tarballs.PHASES_S if tarball or release else {}
    with phases.expecting(usual_s | ({} if find_sysbench() else packages.SYSBENCH_S)):
        if release is not None:
            ndb = cache.choose(releases.install(folder, release, phases))
        elif tarball is not None:
            ndb = cache.choose(tarballs.install(folder, tarball, sha256, phases))
        else:
            ndb = find_ndb()
        sysbench = packages.sysbench(folder, phases)
    if ndb is None:
        raise LabError(
            f"The installation in {folder} has disappeared",
            next_step="Make sure that nothing deletes files in this folder, and install again.",
        )
    return join(ndb, sysbench)
