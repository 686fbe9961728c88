"""The two installations that a comparison of engines runs, both with one sysbench.

The installation that the lab uses for everything else stays the same.
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
    """Say in one line what a comparison of engines needs beyond this machine's installation."""
    return "it compares two installations (./lab reproduce --experiment engines --engines A,B)"


def both(named: str, progress: bool = True) -> Engines:
    """Find or install two installations of NDB Cluster or RonDB.

    `named` are two folders, tarballs or versions of releases, separated by a comma. LabError if
    there are not two, or one of them cannot be used.
    """
    lacking = [lack for source in sources(named) for lack in install.lacks(**source)]
    requirements.require("Comparing engines", list(dict.fromkeys(lacking)))
    phases = Phases(progress)
    with commands.exit_on_sigterm(), cache.locked(phases.say) as folder:
        clusters = [present(name) or _installed(folder, name, phases) for name in _names(named)]
        load = packages.sysbench(folder, phases)
    return Engines(*(join(ndb, load) for ndb in clusters))


def find(named: str) -> Engines | None:
    """Find two installations, as `both` does; None if one of them, or sysbench, is not installed.

    A tarball never counts as installed.
    """
    there = [ndb for name in _names(named) if (ndb := present(name))]
    load = discovery.find_sysbench() if len(there) == 2 else None
    return Engines(*(join(ndb, load) for ndb in there)) if load else None


def sources(named: str) -> list[dict[str, str]]:
    """Return, for each installation, the parameter of `install.ensure` that provides it.

    A folder, and a release that is installed, count as tarballs: nothing is needed for them.
    """

    def is_fetched(name: str) -> bool:
        return releases.is_version(name) and not Path(name).is_dir() and present(name) is None

    return [{"release" if is_fetched(name) else "tarball": name} for name in _names(named)]


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


def present(name: str) -> Ndb | None:
    """Return the installation in a folder, or that of a version, from the cache or in use."""
    place = Path(name).expanduser().absolute()
    if place.is_dir():
        return discovery.in_home(place, "--engines")
    known = (receipt.ndb for receipt in cache.receipts(cache.location()))
    if installed := next((ndb for ndb in known if ndb and ndb.ndb_version == name), None):
        return installed
    in_use = discovery.find_ndb() if releases.is_version(name) else None
    return in_use if in_use and in_use.ndb_version == name else None


def check_present(name: str) -> None:
    """Refuse a version that is not installed; LabError says which are, and how to install it."""
    if not releases.is_version(name) or present(name):
        return
    known = [receipt.ndb for receipt in cache.receipts(cache.location())]
    there = sorted({ndb.ndb_version for ndb in (*known, discovery.find_ndb()) if ndb})
    tarball = "download its binary tarball, and name that: engine=FILE.tar.gz"
    next_step = f"The lab cannot fetch it: {tarball}."
    if name in {release.version for release in releases.known()}:
        other = next(iter(there), "A")
        next_step = f"Run: ./lab install --release {name}. The lab uses it from then on; to "
        next_step += f"compare it with another, name both: engine={other} engine={name}."
    raise LabError(
        f"NDB Cluster {name} is not installed",
        found=f"installed: {', '.join(there) or 'none'}",
        expected="a version that is installed, a folder or a binary tarball",
        next_step=next_step,
    )


def _installed(folder: Path, name: str, phases: Phases) -> Ndb:
    """Install a release or a tarball, and keep using the installation that is in use now."""
    in_use = cache.receipts(folder)[:1]
    with phases.expecting(tarballs.PHASES_S):
        if releases.is_version(name):
            installed = releases.install(folder, releases.choose(name), phases)
        else:
            tarballs.check_request(name, None)
            installed = tarballs.install(folder, name, None, phases)
    for receipt in in_use:
        cache.choose(receipt)
    assert installed.ndb is not None
    return installed.ndb
