"""NDB Cluster and sysbench from Debian's packages, in a folder of their own.

In: a Debian machine and its mirror. Out: a folder in the cache with a receipt. MySQL Server and
sysbench come as packages; data node, management server and NDB's tools, which Debian does not
package, are built from the source package of the same version. The system is not changed, except
that root gets the missing build packages.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import binaries, cache, ndb_tools, receipt
from ndblab.install.binaries import Ndb, Sysbench
from ndblab.install.debian import apt, build_dependencies, relocation
from ndblab.install.debian.build import NODES, Build
from ndblab.install.discovery import programs_version, require_engine
from ndblab.install.progress import Phases
from ndblab.machine import commands

ORIGIN = "cache:debian"
_SYSBENCH, _SOURCE = ["sysbench", "patchelf"], ["mysql-source"]
_CLUSTER = ["mysql-server-core", "mysql-client-core", *_SOURCE, *_SYSBENCH]
_CLUSTER_BYTES = 2_500_000_000
_SYSBENCH_BYTES = 300_000_000


def install_cluster(folder: Path, phases: Phases) -> None:
    """Install an NDB Cluster with sysbench below the cache `folder`."""
    missing = build_dependencies.missing()
    mirror = apt.mirror()
    build_dependencies.require_root_for(missing)
    cache.need_space(folder, _CLUSTER_BYTES, "building NDB Cluster")
    work = _work_folder(folder)
    log = work / "install.log"
    with ThreadPoolExecutor() as background:
        system = background.submit(_install_build_packages, missing, log, phases)
        packages = _download(work, mirror, _CLUSTER, phases)
        source = next(p for p in packages if p.name.startswith("mysql-source_"))
        version = _debian_version(source)
        _require_same_version(packages, version)
        root = folder / f"ndb-{version.partition('-')[0]}-debian"
        shutil.rmtree(root, ignore_errors=True)
        others = [p for p in packages if p != source]
        # Unpacking and CMake use one CPU each, so with two CPUs the prefix takes no extra time.
        bound = background.submit(_timed, phases, "prefix", _make_prefix, others, root, log)
        build = Build(work / f"mysql-{version}")
        with phases.timed("unpack source"):
            build.unpack(source)
        system.result()
        with phases.timed("configure"):
            build.configure()
        bound.result()
        with phases.bar("build", 1, "steps") as reach:
            build.make(reach, (*NODES, *ndb_tools.TOOLS))
    with phases.timed("finish"):
        built = build.copy((*NODES, *ndb_tools.TOOLS), root / "usr/sbin")
        ndb = _ndb_in(root)
        _check_tools(ndb)
        files = [ndb.mysqld, *built]
        _certify(root, ndb, files, packages, phases)
        shutil.rmtree(work)


def install_tools(folder: Path, ndb: Ndb, phases: Phases) -> None:
    """Build the tools that an installation was made without, and put them beside it.

    Raises
    ------
    LabError
        If Debian no longer has the source of its version, or the tools cannot be built here.
    """
    tools = ndb_tools.missing(ndb)
    lacking = build_dependencies.missing()
    mirror = apt.mirror()
    build_dependencies.require_root_for(lacking)
    cache.need_space(folder, _CLUSTER_BYTES, "building NDB's tools")
    work = _work_folder(folder)
    _install_build_packages(lacking, work / "install.log", phases)
    packages = _download(work, mirror, _SOURCE, phases)
    source = next(p for p in packages if p.name.startswith("mysql-source_"))
    version = _debian_version(source)
    if version.partition("-")[0] != ndb.mysqld_version:
        raise LabError(
            "Debian no longer has the source of the installed NDB Cluster",
            found=version,
            expected=ndb.mysqld_version,
            next_step=f"Remove {ndb.basedir.parent}, and run ./lab install.",
        )
    build = Build(work / f"mysql-{version}")
    with phases.timed("unpack source"):
        build.unpack(source)
    with phases.timed("configure"):
        build.configure()
    with phases.bar("build", 1, "steps") as reach:
        build.make(reach, tools)
    build.copy(tools, ndb.ndbmtd.parent)
    _check_tools(ndb)
    shutil.rmtree(work)


def install_sysbench(folder: Path, phases: Phases) -> Sysbench:
    """Install sysbench alone, for a cluster from elsewhere."""
    mirror = apt.mirror()
    cache.need_space(folder, _SYSBENCH_BYTES, "sysbench")
    work = _work_folder(folder)
    packages = _download(work, mirror, _SYSBENCH, phases)
    version = _debian_version(next(p for p in packages if p.name.startswith("sysbench_")))
    root = folder / f"sysbench-{version.partition('+')[0].partition('-')[0]}-debian"
    shutil.rmtree(root, ignore_errors=True)
    with phases.timed("prefix"):
        _make_prefix(packages, root, work / "install.log")
    sysbench = _certify(root, None, [], packages, phases)
    shutil.rmtree(work)
    return sysbench


def _work_folder(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return work


def _timed(phases: Phases, name: str, act: Callable[..., None], *arguments: object) -> None:
    with phases.timed(name):
        act(*arguments)


def _install_build_packages(missing: list[str], log: Path, phases: Phases) -> None:
    if missing:
        phases.say(f"installing build packages as root: {' '.join(missing)}")
        _timed(phases, "build packages", build_dependencies.install, missing, log)


def _download(work: Path, mirror: str, packages: list[str], phases: Phases) -> list[Path]:
    private = apt.PrivateApt(work / "apt", work / "install.log")
    with phases.timed("package lists"):
        private.update(mirror, phases.say)
    with phases.bar("download", 100, "%") as reach:
        fetched = private.download(packages, lambda percent: reach(percent, 100))
        reach(100, 100)  # apt shows nothing if everything is already here
    return fetched


def _make_prefix(packages: list[Path], root: Path, log: Path) -> None:
    relocation.unpack(packages, root, log)
    relocation.bind(root, log)


def _debian_version(package: Path) -> str:
    what = f"The version of {package.name} cannot be read"
    return commands.output(["dpkg-deb", "-f", str(package), "Version"], what=what).strip()


def _require_same_version(packages: list[Path], source_version: str) -> None:
    server = next(p for p in packages if p.name.startswith("mysql-server-core_"))
    server_version = _debian_version(server)
    binaries.match_versions(
        {
            name: version.partition("-")[0]
            for name, version in (("mysqld", server_version), ("source", source_version))
        },
        "Debian's packages",
    )


def _ndb_in(root: Path) -> Ndb:
    programs = {name: root / "usr/sbin" / name for name in binaries.NDB_PROGRAMS}
    ndb = programs_version(programs, basedir=root / "usr", origin=ORIGIN)
    require_engine(ndb.mysqld)
    return ndb


def _check_tools(ndb: Ndb) -> None:
    for name in ndb_tools.TOOLS:
        ndb_tools.version(ndb, name)


def _certify(
    root: Path, ndb: Ndb | None, files: list[Path], packages: list[Path], phases: Phases
) -> Sysbench:
    program = root / "usr/bin/sysbench"
    what = "The sysbench just installed does not run"
    version = binaries.sysbench_version(commands.output([program, "--version"], what=what))
    if version is None:
        raise LabError(what, next_step="Report this: Debian's package may have changed.")
    own_libraries = relocation.libraries(root)
    plugins = own_libraries / "libmariadb3/plugin"
    sysbench = Sysbench(
        program=program,
        version=version,
        scripts=root / "usr/share/sysbench",
        client_plugins=plugins if plugins.is_dir() else None,
    )
    point_select = root / "usr/share/sysbench/oltp_point_select.lua"
    libc = own_libraries / "libc.so.6"
    receipt.write(
        root,
        ndb=ndb,
        sysbench=sysbench,
        files=[*files, program, point_select, libc, relocation.loader(root)],
        source={"packages": [package.stem for package in packages]},
        phases_s=phases.seconds,
    )
    return sysbench
