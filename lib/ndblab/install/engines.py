"""The two installations that a comparison of engines runs, one after the other.

In: what the user names. Out: `Binaries` of each, both with one sysbench. Which installation the lab
uses otherwise stays as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ndblab.error import LabError
from ndblab.install import cache, discovery, receipt
from ndblab.install import tarball as tarballs
from ndblab.install.binaries import Binaries, Ndb, join
from ndblab.install.debian import packages
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
    named : two folders or tarballs, separated by a comma.

    Raises
    ------
    LabError : there are not two, or one of them cannot be used.
    """
    places = [Path(place.strip()).expanduser().absolute() for place in named.split(",")]
    if len(places) != 2 or "" in map(str.strip, named.split(",")):
        raise LabError(
            "A comparison of engines needs two installations",
            found=f"--engines {named}",
            expected="two folders or binary tarballs, separated by a comma",
            next_step="Name both, such as --engines /opt/rondb-21.04.1,rondb-21.10.1.tar.gz",
        )
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        first, second = (_one(folder, place, phases) for place in places)
        sysbench = discovery.find_sysbench() or packages.install_sysbench(folder, phases)
    return Engines(join(first, sysbench), join(second, sysbench))


def _one(folder: Path, place: Path, phases: Phases) -> Ndb:
    if place.is_dir():
        return discovery.in_home(place, "--engines")
    tarballs.check_request(str(place), None)
    chosen = receipt.read_all(folder)[:1]
    installed = tarballs.install(folder, str(place), None, phases)
    for before in chosen:
        receipt.choose(before)
    assert installed.ndb is not None
    return installed.ndb
