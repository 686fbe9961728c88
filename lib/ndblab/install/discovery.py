"""Installed NDB Cluster and sysbench: from NDB_HOME, then PATH, then the lab's cache.

An unusable installation is an error that says why.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import binaries, cache
from ndblab.install.binaries import NDB_PROGRAMS, Ndb, Sysbench
from ndblab.machine import commands

_LAYOUTS = ("bin", "sbin", "libexec", "usr/bin", "usr/sbin")
_INSTALL_OURS = "remove this one from PATH and run: ./lab install"


def find_ndb() -> Ndb | None:
    """Find an NDB Cluster; LabError if one is here that cannot be used."""
    if home := os.environ.get("NDB_HOME"):
        return in_home(Path(home).expanduser().absolute())
    on_path = {name: path for name in NDB_PROGRAMS if (path := shutil.which(name))}
    # A mysqld alone is another database on this machine, not a cluster.
    if len(on_path) == len(NDB_PROGRAMS):
        programs = {name: Path(path).resolve() for name, path in on_path.items()}
        basedir = programs["mysqld"].parent.parent
        ndb = programs_version(programs, basedir=basedir, origin="PATH")
        require_engine(ndb.mysqld)
        return ndb
    return next((r.ndb for r in cache.receipts(cache.location()) if r.ndb), None)


def find_sysbench() -> Sysbench | None:
    """Find a sysbench; LabError if the only one is too old or has no MySQL driver."""
    unusable: LabError | None = None
    if on_path := shutil.which("sysbench"):
        try:
            return check_sysbench(Path(on_path))
        except LabError as error:
            unusable = error
    own = next((r.sysbench for r in cache.receipts(cache.location()) if r.sysbench), None)
    if own is None and unusable is not None:
        raise unusable
    return own


def on_path(name: str, package: str) -> str:
    """Return the path of a program of this machine; LabError names the package that has it."""
    if program := shutil.which(name):
        return program
    raise LabError(
        f"{name} is not installed",
        found=f"no {name} on PATH",
        expected=f"{name}, which the workload runs",
        next_step=f"Install it, on Debian with: sudo apt-get install -y {package}",
    )


def programs_version(programs: dict[str, Path], *, basedir: Path, origin: str) -> Ndb:
    """Ask each program for its version and refuse a mixture of versions."""
    versions: dict[str, str] = {}
    ndb_version = ""
    for name, program in programs.items():
        what = f"{program} does not run"
        text = commands.output([program, "--no-defaults", "--version"], what=what)
        if name == "mysqld":
            version = binaries.mysqld_version(text)
        else:
            version, ndb_version = binaries.ndb_versions(text) or (None, "")
        if version is None:
            raise LabError(
                f"{program} does not report a version as {name} does",
                found=text.strip()[:200],
                expected=f"the version line of {name}",
                next_step="Check that it is the right program.",
            )
        versions[name] = version
    binaries.match_versions(versions, str(basedir))
    return Ndb(
        **{name: programs[name] for name in NDB_PROGRAMS},
        ndb_version=ndb_version,
        mysqld_version=binaries.mysql_version(versions["mysqld"]),
        origin=origin,
        basedir=basedir,
    )


def require_engine(mysqld: Path) -> None:
    """Refuse a mysqld that was built without the ndbcluster storage engine."""
    what = f"{mysqld} has no ndbcluster storage engine"
    as_root = ["--user=root"] if os.geteuid() == 0 else []
    argv = [mysqld, "--no-defaults", *as_root, "--ndbcluster", "--verbose", "--help"]
    next_step = "Use the mysqld of an NDB Cluster release, not that of MySQL Server."
    try:
        text = commands.output(argv, what=what)
    except commands.ChildFailed as failure:
        failure.next_step = next_step
        raise
    if "ndb-connectstring" not in text:
        raise LabError(what, expected="options such as --ndb-connectstring", next_step=next_step)


def check_sysbench(program: Path) -> Sysbench:
    """Refuse a sysbench that is too old or has no MySQL driver."""
    text = commands.output([program, "--version"], what=f"{program} does not run")
    version = binaries.sysbench_version(text)
    if version is None or not binaries.is_at_least(version, binaries.OLDEST_SYSBENCH):
        raise LabError(
            f"{program} is too old",
            found=text.strip()[:200],
            expected=f"sysbench {binaries.OLDEST_SYSBENCH} or newer",
            next_step=f"Install a newer sysbench, or {_INSTALL_OURS}",
        )
    options = commands.output([program, "--help"], what=f"{program} does not run")
    if "mysql - MySQL driver" not in options:
        raise LabError(
            f"{program} has no MySQL driver",
            expected="a sysbench built with the MySQL driver",
            next_step=f"Install another sysbench, or {_INSTALL_OURS}",
        )
    return Sysbench(program=program, version=version)


def in_home(home: Path, named_by: str = "NDB_HOME") -> Ndb:
    """Return the installation below a folder; LabError if it lacks a program or cannot be used.

    `named_by` is what the user named the folder with, for messages and as the origin.
    """
    places = [home / layout for layout in _LAYOUTS]
    programs = {
        name: program
        for name in NDB_PROGRAMS
        if (program := next((p / name for p in places if (p / name).is_file()), None))
    }
    if missing := [name for name in NDB_PROGRAMS if name not in programs]:
        raise LabError(
            f"{named_by}={home} is not a complete installation of NDB Cluster",
            found=f"no {', no '.join(missing)}" if home.is_dir() else "no such folder",
            expected=f"{', '.join(NDB_PROGRAMS)} in {', '.join(_LAYOUTS)}",
            next_step=f"Point {named_by} at the installation's top folder, or leave it out.",
        )
    below_usr = home / "usr" in programs["mysqld"].parents
    ndb = programs_version(programs, basedir=home / "usr" if below_usr else home, origin=named_by)
    require_engine(ndb.mysqld)
    return ndb
