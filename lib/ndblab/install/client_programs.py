"""MySQL's client programs, such as mysqldump: those that came with an NDB Cluster, or on PATH."""

from __future__ import annotations

import shutil

from ndblab.error import LabError
from ndblab.install import packages
from ndblab.install.binaries import Ndb


def argv(ndb: Ndb, name: str) -> tuple[str, ...]:
    """Return the words that start a client program.

    One that was unpacked from Debian's packages runs through the loader of the same packages, since
    it may need newer libraries than this machine has.

    Raises
    ------
    LabError
        If there is none.
    """
    own = ndb.basedir / "bin" / name
    if own.is_file() and ndb.origin == packages.ORIGIN:
        return (*map(str, packages.through_loader(ndb.basedir.parent)), str(own))
    if own.is_file():
        return (str(own),)
    return (on_path(name, "mysql-client"),)


def on_path(name: str, package: str) -> str:
    """Return the path of a program of this machine; LabError names the package that has it."""
    if found := shutil.which(name):
        return found
    raise LabError(
        f"{name} is not installed",
        found=f"no {name} on PATH",
        expected=f"{name}, which the workload runs",
        next_step=f"Install it, on Debian with: sudo apt-get install -y {package}",
    )
