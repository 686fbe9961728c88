"""The two installations that a comparison of engines runs, both with one sysbench.

Which installation the lab uses otherwise stays as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ndblab import install
from ndblab.error import LabError
from ndblab.install import cache, discovery, packages, releases, requirements
from ndblab.install import tarball as tarballs
from ndblab.install.binaries import Binaries, Ndb, join
from ndblab.install.progress import Phases
from ndblab.machine import commands


class Engines(NamedTuple):
    """Two installations with the same sysbench."""

    first: Binaries
    second: Binaries


def lacks() -> str:
    """Say in one line what a comparison of engines needs besides this machine's installation."""
    return "it compares two installations (./lab reproduce --experiment engines --engines A,B)"


def both(named: str, progress: bool = True) -> Engines:
    """Find or install two installations of NDB Cluster or RonDB.

    Parameters
    ----------
    named : two folders, tarballs or versions of releases, separated by a comma.

    Raises
    ------
    LabError : there are not two, or one of them cannot be used.
    """
    lacks = [lack for source in sources(named) for lack in install.lacks(**source)]
    requirements.require("Comparing engines", list(dict.fromkeys(lacks)))
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        first, second = (_one(folder, name, phases) for name in _names(named))
        load = packages.sysbench(folder, phases)
    return Engines(join(first, load), join(second, load))


def find(named: str) -> Engines | None:
    """Find two installations; install nothing.

    Returns
    -------
    None if one of them, or sysbench, is not installed; a tarball never is.

    Raises
    ------
    LabError : there are not two, or one of them cannot be used.
    """
    folder = cache.location()
    found = []
    for name in _names(named):
        place = Path(name).expanduser().absolute()
        installed = releases.find(folder, name) if releases.is_version(name) else None
        if place.is_dir():
            found.append(discovery.in_home(place, "--engines"))
        elif installed and installed.ndb:
            found.append(installed.ndb)
    load = discovery.find_sysbench() if len(found) == 2 else None
    return Engines(join(found[0], load), join(found[1], load)) if load else None


def sources(named: str) -> list[dict[str, str]]:
    """Tell of each installation where it comes from, by the parameter of `install.ensure`.

    A folder, and a release that is installed, count as tarballs: nothing is needed for them.

    Raises
    ------
    LabError : there are not two.
    """
    folder = cache.location()
    fetched = {
        name: releases.is_version(name)
        and not Path(name).is_dir()
        and not releases.find(folder, name)
        for name in _names(named)
    }
    return [{"release" if is_so else "tarball": name} for name, is_so in fetched.items()]


def _names(named: str) -> list[str]:
    names = [name.strip() for name in named.split(",")]
    if len(names) != 2 or "" in names:
        raise LabError(
            "A comparison of engines needs two installations",
            found=f"--engines {named}",
            expected="two folders, binary tarballs or releases, separated by a comma",
            next_step="Name both, such as --engines /opt/rondb-21.04.1,rondb-21.10.1.tar.gz "
            "or --engines 8.0.26,9.7.4",
        )
    return names


def _one(folder: Path, name: str, phases: Phases) -> Ndb:
    place = Path(name).expanduser().absolute()
    if place.is_dir():
        return discovery.in_home(place, "--engines")
    chosen = cache.receipts(folder)[:1]
    if (here := releases.find(folder, name)) is None:
        with phases.expecting(tarballs.PHASES_S):
            if releases.is_version(name):
                here = releases.install(folder, releases.choose(name), phases)
            else:
                tarballs.check_request(str(place), None)
                here = tarballs.install(folder, str(place), None, phases)
    for before in chosen:
        cache.choose(before)
    assert here.ndb is not None
    return here.ndb
