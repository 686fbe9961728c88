"""The programs of a lab on another host: the same ones, at the same path.

Programs in the lab's cache are copied; those of the system must be installed there too. Only copies
that a lab made are replaced.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path

from ndblab.error import LabError
from ndblab.hosts import trees
from ndblab.hosts.remote import Remote
from ndblab.hosts.roles import DATA, LOAD, MANAGEMENT, SQL
from ndblab.install import cache
from ndblab.install.binaries import Binaries
from ndblab.machine import files
from ndblab.machine.commands import ChildFailed
from ndblab.machine.local import LOCAL

OF_ROLE = {
    MANAGEMENT: ("ndb_mgmd", "ndb_mgm"),
    DATA: ("ndbmtd",),
    SQL: ("mysqld",),
    LOAD: ("sysbench",),
}
"""What a host must have for each of its roles."""


def ensure(machine: Remote, ours: Binaries, roles: Collection[str]) -> None:
    """Make sure that a host has the programs of its roles, in the versions of this host.

    Programs unpacked from packages contain their own path, so they are at the same path everywhere.
    LabError if they cannot be copied, or others are there; it names the host.
    """
    for folder in cache.location().glob("*/"):
        if any(place.is_relative_to(folder) for place in (ours.basedir, ours.sysbench)):
            _copy(machine, folder)
    for name in (name for role in roles for name in OF_ROLE[role]):
        _compare(machine, getattr(ours, name), ours)


def _copy(machine: Remote, folder: Path) -> None:
    """Copy an installation, unless it is there."""
    file = folder / cache.RECEIPT
    there, here = cache.content(machine.get(file)), cache.content(LOCAL.get(file))
    if there == here:
        return
    if there and not machine.get(folder / trees.STAMP):
        raise LabError(
            f"On {machine.name}: another installation is in {folder}",
            found=cache.summary(machine.get(file)),
            expected=f"the same as here: {cache.summary(LOCAL.get(file))}",
            next_step="Remove it, and the lab copies its own: "
            f"ssh {shlex.quote(machine.name)} rm -r {shlex.quote(str(folder))}",
        )
    _check_writable(machine, folder)
    needed, free = trees.size_bytes(folder), files.free_bytes(machine, folder.parent)
    if free < needed:
        raise LabError(
            f"On {machine.name}: there is too little disk space for NDB Cluster and sysbench",
            found=f"{free / 1e9:.1f} GB free in {folder.parent}",
            expected=f"{needed / 1e9:.1f} GB",
            next_step="Free some there, or " + _install_again("on a larger disk of every host"),
        )
    machine.send_tree(folder, folder)


def _check_writable(machine: Remote, folder: Path) -> None:
    line = 'mkdir -p "$1" && touch "$2" && rm "$2"'
    probe = trees.partial_name(folder)
    argv = ["sh", "-c", line, "sh", str(folder.parent), str(probe)]
    try:
        machine.run(argv, what="not shown")
    except ChildFailed as failure:
        raise LabError(
            f"On {machine.name}: the lab's programs cannot be copied to {folder}",
            found=failure.found,
            expected="the same path as on this host, where your user there may write",
            next_step="Without root, " + _install_again("that you may write on every host"),
        ) from None


def _install_again(where: str) -> str:
    """Say how to have the lab's programs at another path."""
    return (
        f"install at a path {where}, for example: export XDG_CACHE_HOME=/var/tmp/ndblab-cache; "
        "./lab install; then run the same command again."
    )


def _compare(machine: Remote, program: Path, ours: Binaries) -> None:
    """Refuse a program that is missing there, or reports another version than here."""
    options = [] if program == ours.sysbench else ["--no-defaults"]
    argv = [str(program), *options, "--version"]
    here = LOCAL.run(argv, what=f"{program} does not run").strip()
    expected = f"the same program as here: {here}"
    next_step = "Install the same release in the same way on every host, or have the lab install "
    next_step += "its own here, which it copies: unset NDB_HOME, take it off PATH, ./lab install."
    try:
        there = machine.run(argv, what=f"{program} does not run").strip()
    except ChildFailed as failure:
        failure.expected, failure.next_step = expected, next_step
        raise
    if there != here:
        raise LabError(
            f"On {machine.name}: {program.name} is of another version",
            found=there,
            expected=expected,
            next_step=next_step,
        )
