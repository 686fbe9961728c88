"""Relocation: Debian packages of another release, made to run from their own folder.

In: .deb files. Out: a folder whose programs use its own loader and libraries. The system's
libraries are not changed, and no package script is run.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine import commands

_PROGRAMS = ("usr/sbin/mysqld", "usr/bin/mysql", "usr/bin/mysqladmin", "usr/bin/sysbench")


def unpack(packages: Iterable[Path], root: Path, log: Path) -> None:
    """Unpack all packages into `root`."""
    root.mkdir(parents=True, exist_ok=True)
    for package in packages:
        what = f"The package {package.name} cannot be unpacked"
        commands.run(["dpkg", "-x", package, root], what=what, log=log)


def loader(root: Path) -> Path:
    """Find the program loader of the unpacked C library."""
    return _the_one(root, "usr/lib64/ld-*.so.*", "usr/lib/ld-*.so.*")


def libraries(root: Path) -> Path:
    """Find the folder of the unpacked libraries."""
    return _the_one(root, "usr/lib/*/libc.so.6").parent


def bind(root: Path, log: Path) -> list[Path]:
    """Make the programs below `root` always use its loader and libraries.

    Returns
    -------
    The programs that were bound. They work only at this absolute path.
    """
    if ":" in str(root):
        raise LabError(
            f"The cache {root} has a colon in its path, which library paths cannot have",
            next_step="Set XDG_CACHE_HOME to a folder without a colon in its path.",
        )
    own_loader, own_libraries = loader(root), libraries(root)
    through_loader = [own_loader, "--library-path", own_libraries, root / "usr/bin/patchelf"]
    programs = [root / name for name in _PROGRAMS if (root / name).is_file()]
    for program in programs:
        # RPATH, not RUNPATH: only RPATH also applies to the libraries of libraries.
        flags = ["--set-interpreter", own_loader, "--force-rpath", "--set-rpath", own_libraries]
        commands.run(
            [*through_loader, *flags, program],
            what=f"{program.name} cannot be bound to its own libraries",
            log=log,
        )
    return programs


def _the_one(root: Path, *patterns: str) -> Path:
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            return path
    raise LabError(
        "The unpacked Debian packages have no C library of their own",
        found=f"nothing like {' or '.join(patterns)} in {root}",
        next_step="Report this: Debian's packages may have changed their layout.",
    )
