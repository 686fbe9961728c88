"""Shell scripts that answer as the programs of NDB Cluster and sysbench do."""

from __future__ import annotations

import tarfile
from pathlib import Path

MYSQLD = """#!/bin/sh
case "$*" in
*--verbose*) {engine} ;;
*) echo "$0  Ver {version} for Linux on x86_64" ;;
esac
"""
NDB_TOOL = """#!/bin/sh
echo "MySQL distrib mysql-{version} ndb-{version}, for Linux (x86_64)"
"""
RONDB_TOOL = """#!/bin/sh
echo "RonDB distrib RonDB-{version}, for Linux (x86_64)"
"""
SYSBENCH = """#!/bin/sh
case "$*" in
*--help*) echo "  {driver}" ;;
*) echo "sysbench {version}" ;;
esac
"""
ORACLE = "mysql-cluster-9.7.4-linux-glibc2.28-x86_64"
WITH_ENGINE = "echo '  --ndb-connectstring=name'"
WITHOUT_ENGINE = "echo \"unknown option '--ndbcluster'\" >&2; exit 7"


def put_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def put_cluster(
    top: Path,
    *,
    version: str = "9.7.4",
    mysqld_version: str | None = None,
    engine: str = WITH_ENGINE,
    ndb_tool: str = NDB_TOOL,
    server_folder: str = "bin",
) -> Path:
    """Put the programs of a cluster below `top`, laid out as a tarball is."""
    mysqld = MYSQLD.format(version=mysqld_version or version, engine=engine)
    put_program(top / server_folder / "mysqld", mysqld)
    for name in ("ndbmtd", "ndb_mgmd", "ndb_mgm"):
        put_program(top / "bin" / name, ndb_tool.format(version=version))
    (top / "share").mkdir()
    return top


def put_rondb(top: Path, version: str, **changes: str) -> Path:
    return put_cluster(top, version=version, ndb_tool=RONDB_TOOL, **changes)


def put_sysbench(
    folder: Path, *, version: str = "1.0.20", driver: str = "mysql - MySQL driver"
) -> Path:
    return put_program(folder / "sysbench", SYSBENCH.format(version=version, driver=driver))


def pack(top: Path, tarball: Path, name: str = ORACLE) -> Path:
    with tarfile.open(tarball, "w:gz") as archive:
        archive.add(top, arcname=name)
    return tarball
