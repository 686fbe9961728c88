"""Data node, management server, management client and tools, built from Debian's mysql-source.

An interrupted build resumes. What it builds is copied to its place as a whole.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from ndblab.install.progress import Phases
from ndblab.machine import commands, host

NODES = ("ndbmtd", "ndb_mgmd", "ndb_mgm")
_COMPILER_BYTES = 700_000_000
_LIBRARY = "libndbclient.so.*"
_SOURCE_IN_PACKAGE = "./usr/src/mysql/mysql-source.tar.gz"
_STEP = re.compile(r"^\[(\d+)/(\d+)\] ")

_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "WITH_NDB": "ON",
    "WITH_NDB_JAVA": "OFF",
    # flexAsynch belongs to NDB's tests; the others are not built.
    "WITH_NDB_TEST": "ON",
    # A tool may need NDB's own client library, which lies beside it.
    "CMAKE_BUILD_RPATH": "$ORIGIN",
    "WITH_UNIT_TESTS": "OFF",
    "WITH_ROUTER": "OFF",
    "WITH_MYSQLX": "OFF",
    "WITH_GROUP_REPLICATION": "OFF",
    "WITH_FIDO": "none",
    "WITH_AUTHENTICATION_CLIENT_PLUGINS": "OFF",
    "WITH_AUTHENTICATION_KERBEROS": "OFF",
    "WITH_AUTHENTICATION_LDAP": "OFF",
    "WITH_AUTHENTICATION_WEBAUTHN": "OFF",
    "WITH_CURL": "none",
    "WITH_NUMA": "OFF",
    "WITH_SYSTEMD": "OFF",
}
_SHORTER = Path(__file__).with_name("shorter_build.cmake")
_SHORTEN = "-DCMAKE_PROJECT_MySQL_INCLUDE="
# Bundled libraries need fewer build packages.
_BUNDLED = ("PROTOBUF", "ZLIB", "ZSTD", "LZ4", "ICU", "LIBEVENT", "EDITLINE", "TIRPC")


def cmake_arguments() -> list[str]:
    """Return the settings, which leave out what NDB's programs do not need."""
    options = _OPTIONS | {f"WITH_{name}": "bundled" for name in _BUNDLED}
    defined = [f"-D{name}={value}" for name, value in options.items()]
    return ["-G", "Ninja", f"{_SHORTEN}{_SHORTER}", *defined]


def parse_progress(line: str) -> tuple[int, int] | None:
    """Read the steps done and their total from a line of ninja; None for other lines."""
    match = _STEP.match(line)
    return (int(match[1]), int(match[2])) if match else None


def parallel_jobs(cpus: int, free_bytes: int) -> int:
    """Return how many compilers to run at once: one more than CPUs, if memory allows."""
    return max(1, min(cpus + 1, free_bytes // _COMPILER_BYTES))


class Build:
    """Source and build of one version, below one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._source = folder / "source"
        self._build = folder / "build"
        self._configured = folder / "configured.json"
        self.log = folder / "build.log"

    def copy(self, names: Iterable[str], folder: Path) -> list[Path]:
        """Copy built programs and their library into a folder, even if an older one runs there."""
        built = [self._build / "runtime_output_directory" / name for name in names]
        built += sorted((self._build / "library_output_directory").glob(_LIBRARY))
        for file in built:
            partial = folder / f".{file.name}.partial"
            shutil.copy2(file, partial)
            partial.replace(folder / file.name)
        return [folder / file.name for file in built]

    def prepare(
        self,
        packages: Iterable[Path],
        phases: Phases,
        when_unpacked: Callable[[], object] = lambda: None,
    ) -> None:
        """Unpack the source that is among packages, and configure it."""
        source = next(p for p in packages if p.name.startswith("mysql-source_"))
        with phases.timed("unpack source"):
            self._unpack(source)
        when_unpacked()
        with phases.timed("configure"):
            self._configure()

    def _unpack(self, package: Path) -> None:
        """Unpack the source, without its tests and Boost, as a stream."""
        if self._source.exists():
            return
        partial = self._source.with_name("source.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        # CMake needs the files directly in mysql-test and its lib folder, not the tests.
        tests = [f"--exclude=*/mysql-test/{name}/*" for name in ("[!l]*", "l[!i]*")]
        unpack = ["tar", "-xz", "-C", str(partial), "--strip-components=1", "--no-same-owner"]
        unpack += ["--wildcards", "--no-wildcards-match-slash", "--anchored"]
        # Nearly half of all files are Boost, which only MySQL Server includes.
        unpack += ["--exclude=*/builddir", "--exclude=*/extra/boost/*/*/*", *tests]
        packed = ["dpkg-deb", "--fsys-tarfile", str(package)]
        commands.pipeline(
            [packed, ["tar", "-xO", _SOURCE_IN_PACKAGE], unpack],
            what="MySQL's source cannot be unpacked",
            log=self.log,
        )
        partial.rename(self._source)

    def _configure(self) -> None:
        """Run CMake, unless it succeeded before with the same settings."""
        settings = [*cmake_arguments(), _SHORTER.read_text()]
        if self._configured.exists() and json.loads(self._configured.read_text()) == settings:
            return
        shutil.rmtree(self._build, ignore_errors=True)
        try:
            self._cmake(cmake_arguments())
        except commands.ChildFailed:
            self._cmake([*cmake_arguments(), _SHORTEN])
        self._configured.write_text(json.dumps(settings))

    def _cmake(self, arguments: Iterable[str]) -> None:
        what = "CMake cannot configure MySQL's source"
        command = ["cmake", "-S", self._source, "-B", self._build, *arguments]
        commands.run(command, what=what, log=self.log)

    def make(self, targets: Iterable[str], phases: Phases) -> None:
        """Compile and link programs; ninja skips what is done.

        A newer source that cannot be built in the shorter way is built as its makers build it.
        """
        here = host.read()
        jobs = parallel_jobs(math.ceil(here.usable_cpus), here.memory_available_bytes)
        with phases.timed("build") as reach:

            def on_line(line: str) -> bool:
                if step := parse_progress(line):
                    reach(*step)
                return step is not None

            def ninja() -> None:
                commands.run(
                    ["ninja", "-C", self._build, f"-j{jobs}", *targets],
                    what="NDB Cluster cannot be built",
                    log=self.log,
                    on_line=on_line,
                    env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
                )

            try:
                ninja()
            except commands.ChildFailed:
                self._cmake([_SHORTEN])
                ninja()
