"""The programs of a lab: where they are, their versions, and what they need to run from there.

In: paths, and what the programs print about themselves. Out: `Ndb`, `Sysbench` and the two
together, `Binaries`. It never starts a program and never searches for one.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ndblab.error import LabError

NDB_PROGRAMS = ("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm")
OLDEST_SYSBENCH = "1.0.20"
_FOREIGN_PREFIXES = (Path("/"), Path("/usr"))


@dataclass(frozen=True)
class Ndb:
    """One installation of NDB Cluster whose parts belong together."""

    mysqld: Path
    ndbmtd: Path
    ndb_mgmd: Path
    ndb_mgm: Path
    ndb_version: str
    mysqld_version: str
    origin: str
    basedir: Path


@dataclass(frozen=True)
class Sysbench:
    """One sysbench; `scripts` is the folder of its Lua files where it cannot find them itself."""

    program: Path
    version: str
    scripts: Path | None = None
    client_plugins: Path | None = None


@dataclass(frozen=True)
class Binaries:
    """Everything a lab starts, from one or two origins.

    `mysqld_args` are what this mysqld needs to run from its place, `sysbench_env` what has to be
    in the environment of this sysbench.
    """

    mysqld: Path
    ndbmtd: Path
    ndb_mgmd: Path
    ndb_mgm: Path
    sysbench: Path
    ndb_version: str
    mysqld_version: str
    sysbench_version: str
    origin: str
    basedir: Path
    mysqld_args: tuple[str, ...]
    sysbench_env: dict[str, str]
    sysbench_scripts: Path | None = None

    def sysbench_script(self, workload: str) -> str:
        """Name the workload as this sysbench understands it."""
        if self.sysbench_scripts is None:
            return workload
        return str(self.sysbench_scripts / f"{workload}.lua")

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, ready for JSON."""
        plain = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self).items()}
        return plain | {"mysqld_args": list(self.mysqld_args)}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Binaries:
        """Undo `to_dict`."""
        values = dict(plain)
        for field in fields(cls):
            if field.type in ("Path", "Path | None") and values.get(field.name) is not None:
                values[field.name] = Path(values[field.name])
        return cls(**values | {"mysqld_args": tuple(values["mysqld_args"])})


def join(ndb: Ndb, sysbench: Sysbench) -> Binaries:
    """Put an NDB Cluster and a sysbench together."""
    return Binaries(
        mysqld=ndb.mysqld,
        ndbmtd=ndb.ndbmtd,
        ndb_mgmd=ndb.ndb_mgmd,
        ndb_mgm=ndb.ndb_mgm,
        sysbench=sysbench.program,
        ndb_version=ndb.ndb_version,
        mysqld_version=ndb.mysqld_version,
        sysbench_version=sysbench.version,
        origin=ndb.origin,
        basedir=ndb.basedir,
        mysqld_args=mysqld_arguments(ndb.basedir),
        sysbench_env=sysbench_environment(sysbench),
        sysbench_scripts=sysbench.scripts,
    )


def mysqld_arguments(basedir: Path) -> tuple[str, ...]:
    """List what mysqld needs to find its messages, character sets and plugins under `basedir`.

    A mysqld installed in the system's own place knows its folders; it is only kept from wanting
    the packaged folder for file imports.
    """
    arguments = ["--secure-file-priv=NULL"]
    if basedir in _FOREIGN_PREFIXES:
        return tuple(arguments)
    arguments.insert(0, f"--basedir={basedir}")
    for option, places in (
        ("--lc-messages-dir", ("share", "share/mysql")),
        ("--character-sets-dir", ("share/charsets", "share/mysql/charsets")),
        ("--plugin-dir", ("lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin")),
    ):
        mark = "english/errmsg.sys" if option == "--lc-messages-dir" else ""
        present = (basedir / place for place in places if (basedir / place / mark).exists())
        if (folder := next(present, None)) is not None:
            arguments.append(f"{option}={folder}")
    return tuple(arguments)


def sysbench_environment(sysbench: Sysbench) -> dict[str, str]:
    """Say which variables a sysbench away from its place needs."""
    environment = {}
    if sysbench.scripts is not None:
        environment["LUA_PATH"] = f"{sysbench.scripts}/?.lua;;"
    if sysbench.client_plugins is not None:
        environment["MARIADB_PLUGIN_DIR"] = str(sysbench.client_plugins)
    return environment


def mysqld_version(text: str) -> str | None:
    """Read the server's version, three numbers, from `mysqld --version`."""
    match = re.search(r"\bVer (\d+\.\d+\.\d+)", text)
    return match and match[1]


def ndb_versions(text: str) -> tuple[str, str] | None:
    """Read (MySQL's version, NDB's version) from `ndbmtd --version`."""
    match = re.search(r"\bmysql-(\d+\.\d+\.\d+)\S* ndb-(\d+\.\d+\.\d+)", text)
    return match and (match[1], match[2])


def sysbench_version(text: str) -> str | None:
    """Read the version from `sysbench --version`."""
    match = re.search(r"\bsysbench (\d+\.\d+\.\d+)", text)
    return match and match[1]


def is_at_least(version: str, oldest: str) -> bool:
    """Compare dotted versions number by number."""
    return [int(n) for n in version.split(".")] >= [int(n) for n in oldest.split(".")]


def match_versions(versions: dict[str, str], where: str) -> None:
    """Refuse an installation whose parts are of several versions.

    Parameters
    ----------
    versions : program name to the MySQL version it was built with.
    where : the place the programs come from, for the message.
    """
    if len(set(versions.values())) > 1:
        raise LabError(
            f"The programs of the NDB Cluster from {where} do not belong together",
            found=", ".join(f"{program} {version}" for program, version in versions.items()),
            expected="one version for all of them",
            next_step="Point NDB_HOME at one whole installation of NDB Cluster.",
        )
