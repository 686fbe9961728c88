"""The programs of a lab: where they are, their versions, and what they need to run from there.

In: paths, and what the programs print about themselves. Out: `Ndb`, `Sysbench` and the two
together, `Binaries`, which know their files' checksums. It never starts a program and never
searches for one.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError

NDB_PROGRAMS = ("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm")
OLDEST_SYSBENCH = "1.0.20"
_FOREIGN_PREFIXES = (Path("/"), Path("/usr"))
# RonDB numbers its releases by year and month and nowhere prints the MySQL it is made from. These
# are the oldest that its release notes and merges name for a series; the options follow from them.
_MYSQL_OF_RONDB = {
    (21, 4): "8.0.23",
    (21, 10): "8.0.24",
    (22, 1): "8.0.28",
    (22, 10): "8.0.34",
    (23, 4): "8.0.32",
    (24, 10): "8.4.4",
}


@dataclass(frozen=True)
class Ndb:
    """One installation of NDB Cluster whose parts belong together.

    `mysqld_version` is that of MySQL, three numbers, also where the product counts otherwise.
    """

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
    in the environment of this sysbench. `mysqld_version` is three numbers with dots: what mysqld
    understands follows from it.
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

    def fingerprint(self) -> dict[str, str]:
        """Tell builds of one version apart: the first 12 digits of each program's SHA-256."""
        programs = {"ndbmtd": self.ndbmtd, "mysqld": self.mysqld, "sysbench": self.sysbench}
        return {name: _short_sha256(program) for name, program in programs.items()}


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
    """Read the server's own number, which is RonDB's in RonDB, from `mysqld --version`."""
    match = re.search(r"\bVer (\d+\.\d+\.\d+)", text)
    return match and _plain(match[1])


def ndb_versions(text: str) -> tuple[str, str] | None:
    """Read (its server's own number, NDB's version) from `ndbmtd --version`.

    RonDB has one number for both and writes it as in "RonDB distrib RonDB-22.10.2".
    """
    match = re.search(r"\bmysql-(\d+\.\d+\.\d+)\S* ndb-(\d+\.\d+\.\d+)", text)
    if match is None:
        match = re.search(r"\bdistrib i?RonDB-(\d+\.\d+\.\d+)", text, re.IGNORECASE)
        return match and (_plain(match[1]), _plain(match[1]))
    return match[1], match[2]


def mysql_version(own_number: str) -> str:
    """Say which MySQL a server with this number is: the same, or older if it is a RonDB."""
    series = tuple(int(n) for n in own_number.split(".")[:2])
    older = [known for known in _MYSQL_OF_RONDB if known <= series]
    return _MYSQL_OF_RONDB[max(older)] if older else own_number


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


def _plain(version: str) -> str:
    # RonDB writes 21.04.9 in one program and 21.4.9 in another.
    return ".".join(str(int(number)) for number in version.split("."))


def _short_sha256(program: Path) -> str:
    with program.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:12]
