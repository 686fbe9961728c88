"""NDB Cluster and sysbench from Debian's packages, in a folder of their own.

MySQL Server and sysbench come as packages, whose programs are bound to the loader and libraries
that come with them. Data node, management server and NDB's tools, which Debian does not package,
are built from the source package of the same version. The system is not changed, except that root
gets the missing build packages.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import apt, binaries, cache, discovery, ndb_tools, requirements
from ndblab.install.binaries import Ndb, Sysbench
from ndblab.install.build import NODES, Build
from ndblab.install.progress import Phases
from ndblab.machine import commands, host

ORIGIN = "cache:debian"
_SYSBENCH, _SOURCE = ("sysbench", "patchelf"), ("mysql-source",)
_CLUSTER = ("mysql-server-core", "mysql-client-core", *_SOURCE, *_SYSBENCH)
_CLUSTER_BYTES = 2_500_000_000
_SYSBENCH_BYTES = 300_000_000
# Measured on two CPUs of a virtual machine: CPU time of the compilers and linkers.
_FETCH_S = {"package lists": 3, "packages": 5}
_BUILD_CPU_S = 460
_BOUND = ("usr/sbin/mysqld", "usr/bin/mysql", "usr/bin/mysqladmin", "usr/bin/sysbench")
SYSBENCH_S = _FETCH_S | {"prefix": 2}
"""What the phases of an installation of sysbench usually take."""


def cluster_s() -> dict[str, float]:
    """Return what the phases of an installation with a build usually take here, in seconds."""
    build_s = _BUILD_CPU_S / host.read().usable_cpus
    return _FETCH_S | {"unpack source": 12, "configure": 22, "build": build_s, "finish": 6}


def install_cluster(folder: Path, phases: Phases) -> None:
    """Install an NDB Cluster with sysbench below the cache `folder`."""
    cache.need_space(folder, _CLUSTER_BYTES, "building NDB Cluster")
    targets = (*NODES, *ndb_tools.BUILT)
    with phases.expecting(cluster_s()), _work_folder(folder) as work:
        with ThreadPoolExecutor() as background:
            system = background.submit(_install_build_packages, work, phases)
            packages = _download(work, _CLUSTER, phases)
            build, version = _build_of(work, packages)
            _require_same_version(packages, version)
            root = folder / f"ndb-{version.partition('-')[0]}-debian"
            others = [p for p in packages if not p.name.startswith("mysql-source_")]
            # Unpacking and CMake use one CPU each, so with two CPUs this takes no extra time.
            bound = background.submit(_make_prefix, others, root, work, phases)
            build.prepare(packages, phases, when_unpacked=system.result)
            bound.result()
            build.make(targets, phases)
        with phases.timed("finish"):
            built = build.copy(targets, root / "usr/sbin")
            programs = {name: root / "usr/sbin" / name for name in binaries.NDB_PROGRAMS}
            ndb = discovery.programs_version(programs, basedir=root / "usr", origin=ORIGIN)
            discovery.require_engine(ndb.mysqld)
            for name in ndb_tools.BUILT:
                ndb_tools.version(ndb, name)
            _certify(root, ndb, [ndb.mysqld, *built], packages)


def install_tools(folder: Path, ndb: Ndb, tools: Sequence[str], phases: Phases) -> None:
    """Build the tools that an installation was made without, and put them beside it.

    LabError if Debian no longer has the source of its version, or the tools cannot be built here.
    """
    cache.need_space(folder, _CLUSTER_BYTES, "building NDB's tools")
    with phases.expecting(cluster_s()), _work_folder(folder) as work:
        _install_build_packages(work, phases)
        packages = _download(work, _SOURCE, phases)
        build, version = _build_of(work, packages)
        if version.partition("-")[0] != ndb.mysqld_version:
            raise LabError(
                "Debian no longer has the source of the installed NDB Cluster",
                found=version,
                expected=ndb.mysqld_version,
                next_step=f"Remove {ndb.basedir.parent}, and run ./lab install.",
            )
        build.prepare(packages, phases)
        build.make(tools, phases)
        with phases.timed("finish"):
            build.copy(tools, ndb.ndbmtd.parent)
            for name in tools:
                ndb_tools.version(ndb, name)


def sysbench(folder: Path, phases: Phases) -> Sysbench:
    """Find sysbench, or install it below the cache `folder`, for a cluster from elsewhere."""
    if here := discovery.find_sysbench():
        return here
    cache.need_space(folder, _SYSBENCH_BYTES, "sysbench")
    with _work_folder(folder) as work:
        packages = _download(work, _SYSBENCH, phases)
        version = _debian_version(packages, "sysbench")
        root = folder / f"sysbench-{version.partition('+')[0].partition('-')[0]}-debian"
        _make_prefix(packages, root, work, phases)
        return _certify(root, None, [], packages)


def through_loader(root: Path) -> list[str | Path]:
    """Return the words before a program below `root` that start it with the libraries there."""
    libraries = _the_one(root, "usr/lib/*/libc.so.6").parent
    loader = _the_one(root, "usr/lib64/ld-*.so.*", "usr/lib/ld-*.so.*")
    return [loader, "--library-path", libraries]


def client_argv(ndb: Ndb, name: str) -> tuple[str, ...]:
    """Return the words that start a client program of MySQL: one that came with `ndb`, or on PATH.

    One that was unpacked from Debian's packages runs through the loader of the same packages, since
    it may need newer libraries than this machine has. LabError if there is none.
    """
    own = ndb.basedir / "bin" / name
    if own.is_file() and ndb.origin == ORIGIN:
        return (*map(str, through_loader(ndb.basedir.parent)), str(own))
    if own.is_file():
        return (str(own),)
    return (discovery.on_path(name, "mysql-client"),)


def unpack(packages: Iterable[Path], root: Path, log: Path) -> None:
    """Unpack all packages into `root`."""
    root.mkdir(parents=True, exist_ok=True)
    for package in packages:
        what = f"The package {package.name} cannot be unpacked"
        commands.run(["dpkg", "-x", package, root], what=what, log=log)


@contextlib.contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that is removed when all is done; after a failure, the next attempt uses it."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    yield work
    shutil.rmtree(work)


def _install_build_packages(work: Path, phases: Phases) -> None:
    if packages := requirements.missing_packages():
        phases.say(f"installing build packages as root: {' '.join(packages)}")
        with phases.timed("build packages"):
            requirements.install_packages(packages, work / "install.log")


def _download(work: Path, packages: Sequence[str], phases: Phases) -> list[Path]:
    private = apt.PrivateApt(work / "apt", work / "install.log")
    with phases.timed("package lists"):
        private.update(apt.mirror(), phases.say)
    with phases.timed("packages") as reach:
        return private.download(packages, lambda percent: reach(percent, 100))


def _make_prefix(packages: Iterable[Path], root: Path, work: Path, phases: Phases) -> None:
    """Unpack packages into an empty `root`, and bind their programs to the libraries there."""
    shutil.rmtree(root, ignore_errors=True)
    with phases.timed("prefix"):
        unpack(packages, root, work / "install.log")
        _bind(root, work / "install.log")


def _bind(root: Path, log: Path) -> None:
    """Make the programs below `root` always use its libraries; they work only at this path."""
    if ":" in str(root):
        raise LabError(
            f"The cache {root} has a colon in its path, which library paths cannot have",
            next_step="Set XDG_CACHE_HOME to a folder without a colon in its path.",
        )
    loader, option, libraries = through_loader(root)
    patchelf = [loader, option, libraries, root / "usr/bin/patchelf"]
    # RPATH, not RUNPATH: only RPATH also applies to the libraries of libraries.
    patchelf += ["--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries]
    for program in (root / name for name in _BOUND if (root / name).is_file()):
        what = f"{program.name} cannot be bound to its own libraries"
        commands.run([*patchelf, program], what=what, log=log)


def _the_one(root: Path, *patterns: str) -> Path:
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            return path
    raise LabError(
        "The unpacked Debian packages have no C library of their own",
        found=f"nothing like {' or '.join(patterns)} in {root}",
        next_step="Report this: Debian's packages may have changed their layout.",
    )


def _build_of(work: Path, packages: Iterable[Path]) -> tuple[Build, str]:
    """Return the build of the source that is among packages, and its version."""
    version = _debian_version(packages, "mysql-source")
    return Build(work / f"mysql-{version}"), version


def _debian_version(packages: Iterable[Path], name: str) -> str:
    package = next(p for p in packages if p.name.startswith(f"{name}_"))
    what = f"The version of {package.name} cannot be read"
    return commands.output(["dpkg-deb", "-f", str(package), "Version"], what=what).strip()


def _require_same_version(packages: list[Path], source: str) -> None:
    versions = {"mysqld": _debian_version(packages, "mysql-server-core"), "source": source}
    upstream = {name: version.partition("-")[0] for name, version in versions.items()}
    binaries.match_versions(upstream, "Debian's packages")


def _certify(root: Path, ndb: Ndb | None, files: list[Path], packages: list[Path]) -> Sysbench:
    program = root / "usr/bin/sysbench"
    what = "The sysbench just installed does not run"
    version = binaries.sysbench_version(commands.output([program, "--version"], what=what))
    if version is None:
        raise LabError(what, next_step="Report this: Debian's package may have changed.")
    scripts = root / "usr/share/sysbench"
    loader, _, libraries = through_loader(root)
    plugins = Path(libraries) / "libmariadb3/plugin"
    installed = Sysbench(program, version, scripts, plugins if plugins.is_dir() else None)
    needed = [program, scripts / "oltp_point_select.lua", Path(libraries) / "libc.so.6", loader]
    cache.certify(
        root,
        ndb=ndb,
        sysbench=installed,
        files=[*files, *map(Path, needed)],
        source={"packages": [package.stem for package in packages]},
    )
    return installed
