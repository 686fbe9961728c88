"""NDB Cluster from a binary tarball with the layout of Oracle's and RonDB's.

Only a verified tarball is unpacked, and only programs that run get the final name.
"""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import cache, download
from ndblab.install.binaries import NDB_PROGRAMS, Ndb
from ndblab.install.discovery import programs_version, require_engine
from ndblab.install.progress import Phases
from ndblab.machine import commands

ORIGIN = "cache:tarball"
PHASES_S = {"download": 60, "check": 4, "unpack tarball": 25}
"""What the phases of an installation usually take; the download depends on the network."""
UNPACKED_TIMES = 4
"""Unpacked, a tarball of this kind takes about so many times its size."""


def is_url(tarball: str) -> bool:
    """Return whether a tarball is given by URL, not by path."""
    return re.match(r"(https?|ftp)://", tarball) is not None


def check_request(tarball: str, sha256: str | None) -> None:
    """Refuse a tarball that does not exist or cannot be verified, before anything is done."""
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise LabError(
            "The checksum of the tarball is not a SHA-256",
            found=sha256,
            expected="64 hexadecimal digits",
            next_step="Copy it from the page that publishes the tarball.",
        )
    if is_url(tarball) and sha256 is None:
        raise LabError(
            "A tarball from a URL needs a checksum",
            expected="--sha256 with 64 hexadecimal digits",
            next_step="Add --sha256 as published with the tarball.",
        )
    if not is_url(tarball) and not Path(tarball).expanduser().is_file():
        raise LabError(
            f"The tarball {tarball} does not exist",
            expected="a file such as mysql-cluster-....tar.gz",
            next_step="Check the path given with --tarball.",
        )


def install(folder: Path, tarball: str, sha256: str | None, phases: Phases) -> cache.Receipt:
    """Install a tarball below the cache `folder`, unless it is already installed."""
    known = sha256.lower() if sha256 else None
    if not is_url(tarball):
        path = Path(tarball).expanduser().absolute()
        with phases.timed("check"):
            known = download.verified_sha256(path, known, path)
    same = (r for r in cache.receipts(folder) if r.ndb and r.source.get("sha256") == known)
    if (installed := next(same, None)) is not None:
        return installed
    if is_url(tarball):
        assert known is not None
        path = _downloaded(folder, tarball, known, phases)
    source = {"tarball": path.name, "sha256": known}
    installed = unpack(folder, path, known, source, phases)
    if is_url(tarball):
        shutil.rmtree(path.parent)
    return installed


def unpack(
    folder: Path, path: Path, sha256: str, source: dict[str, str], phases: Phases
) -> cache.Receipt:
    """Install a verified tarball below the cache `folder`.

    If it holds no NDB Cluster that runs here, nothing of it stays. `source` is what the receipt
    says about where the tarball came from.
    """
    cache.need_space(folder, UNPACKED_TIMES * path.stat().st_size, f"unpacking {path.name}")
    partial = folder / "tarball.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        with phases.timed("unpack tarball"):
            _unpack(path, partial)
        ndb = _checked_ndb(_top_of(partial))
        root = folder / f"ndb-{ndb.ndb_version}-tarball-{sha256[:8]}"
        shutil.rmtree(root, ignore_errors=True)
        cache.certify(
            ndb.basedir,
            ndb=ndb,
            sysbench=None,
            files=[ndb.mysqld, ndb.ndbmtd, ndb.ndb_mgmd, ndb.ndb_mgm],
            source=source,
            final_root=root,
        )
        ndb.basedir.rename(root)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    installed = cache.receipt(root)
    assert installed is not None
    return installed


def _downloaded(folder: Path, url: str, sha256: str, phases: Phases) -> Path:
    name = url.rpartition("/")[2].partition("?")[0] or "tarball"
    # A folder per checksum keeps partial downloads of the same name apart.
    target = folder / "downloads" / sha256[:12] / name
    download.fetch(
        url,
        target,
        lambda file: download.verified_sha256(file, sha256, url),
        phases,
        times=1 + UNPACKED_TIMES,
    )
    return target


def _unpack(path: Path, folder: Path) -> None:
    # GNU tar, because tarfile's safe filter needs Python 3.11.4 and Debian 12 has 3.11.2. It also
    # refuses to write outside the folder.
    argv = ["tar", "-x", "-f", str(path), "-C", str(folder), "--no-same-owner"]
    argv += ["--no-same-permissions", "--anchored", "--exclude=*/mysql-test/*"]
    what = f"{path.name} cannot be unpacked"
    log = folder.with_name("tarball.log")
    commands.run(argv, what=what, log=log)
    log.unlink()


def _top_of(folder: Path) -> Path:
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def _checked_ndb(top: Path) -> Ndb:
    programs = {name: top / "bin" / name for name in NDB_PROGRAMS}
    missing = [f"bin/{name}" for name, path in programs.items() if not path.is_file()]
    missing += [] if (top / "share").is_dir() else ["share/"]
    if missing:
        raise LabError(
            "The tarball does not contain an NDB Cluster",
            found=f"no {', no '.join(missing)}",
            expected="the layout of Oracle's or RonDB's binary tarballs",
            next_step="Use a binary tarball of NDB Cluster for this machine, "
            "not the source and not MySQL Server.",
        )
    try:
        ndb = programs_version(programs, basedir=top, origin=ORIGIN)
        require_engine(ndb.mysqld)
    except commands.ChildFailed as failure:
        failure.next_step = failure.next_step or (
            f"Use a tarball that is built for {platform.machine()} and for a C library no newer "
            "than this machine's."
        )
        raise
    return ndb
