"""The programs of a lab: their paths and versions, and what they need to run from there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError

NDB_PROGRAMS = ("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm")
OLDEST_SYSBENCH = "1.0.20"
_FOREIGN_PREFIXES = (Path("/"), Path("/usr"))
# RonDB numbers its releases by year and month (its file MYSQL_VERSION) and does not print the
# version of the MySQL that it is based on. These are the oldest that its release notes and merges
# name for a series; the options depend on them. 21.04: notes of 21.04.5, 21.10: of 21.10.1, 22.10:
# of 22.10.0, 24.10: of 24.10.0 (docs.rondb.com).
_MYSQL_OF_RONDB = {
    (21, 4): "8.0.23",
    (21, 10): "8.0.24",
    (22, 1): "8.0.28",
    (22, 10): "8.0.31",
    (23, 4): "8.0.32",
    (24, 10): "8.4.3",
}


@dataclass(frozen=True)
class Ndb:
    """One installation of NDB Cluster, all of one version.

    `mysqld_version` is the MySQL version, three numbers, even if the product has its own numbers.
    """

    mysqld: Path
    ndbmtd: Path
    ndb_mgmd: Path
    ndb_mgm: Path
    ndb_version: str
    mysqld_version: str
    origin: str
    basedir: Path

    @property
    def product(self) -> str:
        """Return name and version as its makers write them."""
        return product(self.ndb_version)


@dataclass(frozen=True)
class Sysbench:
    """One sysbench; `scripts` is the folder of its Lua files if it cannot find them itself."""

    program: Path
    version: str
    scripts: Path | None = None
    client_plugins: Path | None = None


@dataclass(frozen=True)
class Binaries(Ndb):
    """Everything a lab starts: an NDB Cluster and a sysbench, from one or two origins.

    `mysqld_args` are what this mysqld needs to run from where it is, `sysbench_env` what this
    sysbench needs in its environment.
    """

    sysbench: Path
    sysbench_version: str
    mysqld_args: tuple[str, ...]
    sysbench_env: dict[str, str]
    sysbench_scripts: Path | None = None

    def sysbench_script(self, workload: str) -> str:
        """Return the workload's name or, for a relocated sysbench, the path of its script."""
        if self.sysbench_scripts is None:
            return workload
        return str(self.sysbench_scripts / f"{workload}.lua")

    def fingerprint(self) -> dict[str, str]:
        """Return the first 12 digits of each program's SHA-256, which differ between builds."""
        programs = {"ndbmtd": self.ndbmtd, "mysqld": self.mysqld, "sysbench": self.sysbench}
        return {name: sha256(program)[:12] for name, program in programs.items()}


def join(ndb: Ndb, sysbench: Sysbench) -> Binaries:
    """Combine an NDB Cluster and a sysbench."""
    return Binaries(
        **vars(ndb),
        sysbench=sysbench.program,
        sysbench_version=sysbench.version,
        mysqld_args=mysqld_arguments(ndb.basedir),
        sysbench_env=sysbench_environment(sysbench),
        sysbench_scripts=sysbench.scripts,
    )


def mysqld_arguments(basedir: Path) -> tuple[str, ...]:
    """List what mysqld needs to find its messages, character sets and plugins under `basedir`.

    A mysqld in the system's own place knows its folders. It need only be kept from requiring the
    packaged folder for file imports.
    """
    if basedir in _FOREIGN_PREFIXES:
        return ("--secure-file-priv=NULL",)
    arguments = [f"--basedir={basedir}", "--secure-file-priv=NULL"]
    for option, mark, places in (
        ("--lc-messages-dir", "english/errmsg.sys", ("share", "share/mysql")),
        ("--character-sets-dir", "", ("share/charsets", "share/mysql/charsets")),
        ("--plugin-dir", "", ("lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin")),
    ):
        present = (basedir / place for place in places if (basedir / place / mark).exists())
        if folder := next(present, None):
            arguments.append(f"{option}={folder}")
    return tuple(arguments)


def sysbench_environment(sysbench: Sysbench) -> dict[str, str]:
    """Return the environment variables that a relocated sysbench needs."""
    environment = {}
    if sysbench.scripts is not None:
        environment["LUA_PATH"] = f"{sysbench.scripts}/?.lua;;"
    if sysbench.client_plugins is not None:
        environment["MARIADB_PLUGIN_DIR"] = str(sysbench.client_plugins)
    return environment


def mysqld_version(text: str) -> str | None:
    """Read the server's own version (for RonDB, RonDB's) from `mysqld --version`."""
    match = re.search(r"\bVer (\d+\.\d+\.\d+)", text)
    return match and _plain(match[1])


def ndb_versions(text: str) -> tuple[str, str] | None:
    """Read the server's own version and NDB's from `ndbmtd --version`.

    RonDB has one version for both and writes it as in "RonDB distrib RonDB-22.10.2".
    """
    match = re.search(r"\bmysql-(\d+\.\d+\.\d+)\S* ndb-(\d+\.\d+\.\d+)", text)
    if match is None:
        match = re.search(r"\bdistrib i?RonDB-(\d+\.\d+\.\d+)", text, re.IGNORECASE)
        return match and (_plain(match[1]), _plain(match[1]))
    return match[1], match[2]


def rondb_series(version: str) -> tuple[int, ...]:
    """Return the series of a RonDB by its version, such as (21, 4); empty for another NDB Cluster.

    RonDB began with 21.04; NDB Cluster's own versions are far below that.
    """
    series = tuple(int(n) for n in version.split(".")[:2]) if version else ()
    return series if series >= min(_MYSQL_OF_RONDB) else ()


def product(ndb_version: str) -> str:
    """Name an NDB Cluster as its makers do.

    >>> product("9.7.4"), product("21.4.17")
    ('NDB Cluster 9.7.4', 'RonDB 21.04.17')
    """
    if not rondb_series(ndb_version):
        return f"NDB Cluster {ndb_version}"
    year, month, number = map(int, ndb_version.split("."))
    return f"RonDB {year}.{month:02d}.{number}"


def mysql_version(own_version: str) -> str:
    """Return the MySQL version of a server: its own, unless it is a RonDB."""
    if not (series := rondb_series(own_version)):
        return own_version
    return _MYSQL_OF_RONDB[max(known for known in _MYSQL_OF_RONDB if known <= series)]


def sysbench_version(text: str) -> str | None:
    """Read the version from `sysbench --version`."""
    match = re.search(r"\bsysbench (\d+\.\d+\.\d+)", text)
    return match and match[1]


def is_at_least(version: str, oldest: str) -> bool:
    """Compare dotted versions number by number."""
    return [int(n) for n in version.split(".")] >= [int(n) for n in oldest.split(".")]


def match_versions(versions: dict[str, str], where: str) -> None:
    """Refuse programs from one place that differ in version; `versions` are by program."""
    if len(set(versions.values())) > 1:
        raise LabError(
            f"The programs of the NDB Cluster from {where} have different versions",
            found=", ".join(f"{program} {version}" for program, version in versions.items()),
            expected="one version for all of them",
            next_step="Point NDB_HOME at one complete installation of NDB Cluster.",
        )


def _plain(version: str) -> str:
    # RonDB writes 21.04.9 in one program and 21.4.9 in another.
    return ".".join(str(int(number)) for number in version.split("."))


def sha256(file: Path) -> str:
    """Return a file's SHA-256 in hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def named(ndb_version: str, sysbench_version: str) -> Binaries:
    """Return the programs of a host that is only described: their names, as on its PATH."""
    return Binaries(
        **{name: Path(name) for name in (*NDB_PROGRAMS, "sysbench")},
        ndb_version=ndb_version,
        mysqld_version=ndb_version,
        sysbench_version=sysbench_version,
        origin="PATH",
        basedir=Path("/usr"),
        mysqld_args=(),
        sysbench_env={},
    )
