"""The lab's cache: the folder of its installations, each with a receipt that is written last.

An installation counts only with a receipt that matches its files. A full disk or a folder that
cannot be written is one clear error, whichever program noticed it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ndblab.error import LabError
from ndblab.install.binaries import Ndb, Sysbench, product
from ndblab.machine import files as whole_files
from ndblab.machine import user
from ndblab.machine.commands import ChildFailed

RECEIPT = "receipt.json"
_SCHEMA = 1
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_WORDS = ("No space left on device", "Disk quota exceeded")


@dataclass(frozen=True)
class Receipt:
    """The content of one folder of the cache."""

    root: Path
    ndb: Ndb | None
    sysbench: Sysbench | None
    source: dict[str, Any]


def location() -> Path:
    """Return the folder of the installations, which need not exist; LabError without a home."""
    return user.cache() / "ndblab"


@contextmanager
def locked(say: Callable[[str], None]) -> Iterator[Path]:
    """Lock the cache for one installer; a second one waits and says so.

    LabError if no program can be started from the cache, or it is full or cannot be written.
    """
    folder = location()
    with _explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_noexec(folder)
        place = folder / "install.lock"
        place.touch()
        lock = whole_files.lock(place, wait=False)
        if lock is None:
            say("another process is installing into this cache; waiting for it")
            lock = whole_files.lock(place, wait=True)
        try:
            yield folder
        finally:
            os.close(lock)


def need_space(folder: Path, needed_bytes: int, what: str) -> None:
    """Refuse to start what the disk cannot hold."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        missing = (needed_bytes - free_bytes) / 1e9
        raise LabError(
            f"Not enough disk space in {folder} for {what}",
            found=f"{free_bytes / 1e9:.1f} GB free",
            expected=f"{needed_bytes / 1e9:.1f} GB while installing",
            next_step=f"Free {missing:.1f} GB, or set XDG_CACHE_HOME to a folder on another disk.",
        )


def certify(
    root: Path,
    *,
    ndb: Ndb | None,
    sysbench: Sysbench | None,
    files: list[Path],
    source: dict[str, Any],
    final_root: Path | None = None,
) -> None:
    """Write the receipt of `root`; from now on it counts as installed.

    Parameters
    ----------
    files : files below `root`; if one is missing or has another size, the receipt is invalid.
    source : what it was made from: packages and versions, or a tarball's checksum.
    final_root : the name that `root` is about to get, if not its own.
    """
    text = json.dumps(
        {
            "schema": _SCHEMA,
            "root": str(final_root or root),
            "installed_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "ndb": ndb and _relative(ndb, root),
            "sysbench": sysbench and _relative(sysbench, root),
            "files": {str(f.relative_to(root)): f.stat().st_size for f in files},
            "source": source,
        },
        indent=1,
    )
    whole_files.write(root / RECEIPT, text.encode())


def receipt(root: Path) -> Receipt | None:
    """Return the receipt of `root`, or None if it is damaged or does not match the files."""
    try:
        content = json.loads((root / RECEIPT).read_text())
        # Libraries are found by absolute path, so a moved folder does not work.
        if content["schema"] != _SCHEMA or Path(content["root"]).resolve() != root.resolve():
            return None
        if any((root / name).stat().st_size != size for name, size in content["files"].items()):
            return None
        return Receipt(
            root=root,
            ndb=content["ndb"] and Ndb(**_absolute(Ndb, content["ndb"], root)),
            sysbench=content["sysbench"]
            and Sysbench(**_absolute(Sysbench, content["sysbench"], root)),
            source=content["source"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def content(text: str) -> dict[str, Any] | None:
    """Return what an installation consists of, whenever it was made; None without a receipt.

    `text` is that of a receipt, which may be another host's.
    """
    try:
        known = json.loads(text)
        return {key: known[key] for key in ("root", "ndb", "sysbench", "files", "source")}
    except (ValueError, KeyError, TypeError):
        return None


def summary(text: str) -> str:
    """Say in one line what the text of a receipt is about."""
    known = json.loads(text)
    programs = [product(known["ndb"]["ndb_version"])] if known["ndb"] else []
    programs += [f"sysbench {known['sysbench']['version']}"] if known["sysbench"] else []
    installed_utc = known["installed_utc"][:16].replace("T", " ")
    return f"{' and '.join(programs)}, installed on {installed_utc} UTC"


def receipts(cache: Path) -> list[Receipt]:
    """Return every valid receipt in the cache, the most recently chosen first."""
    valid = [r for path in cache.glob(f"*/{RECEIPT}") if (r := receipt(path.parent))]
    return sorted(valid, key=lambda r: (r.root / RECEIPT).stat().st_mtime_ns, reverse=True)


def choose(receipt: Receipt) -> Ndb | None:
    """Prefer this installation to the others in the cache, and return its NDB Cluster."""
    os.utime(receipt.root / RECEIPT)
    return receipt.ndb


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    """Report a full disk or an unwritable folder in one way, from Python and from programs."""
    try:
        yield
    except ChildFailed as failure:
        if not any(words in failure.output for words in _FULL_WORDS):
            raise
        raise _full(folder, f"{failure.what}: {failure.found}") from None
    except OSError as error:
        if error.errno in _FULL:
            raise _full(folder, error.strerror) from None
        place = Path(error.filename) if isinstance(error.filename, str) else None
        # If the cache cannot be created, the error names a folder above it.
        if place is None or not (place.is_relative_to(folder) or folder.is_relative_to(place)):
            raise
        raise LabError(
            f"The lab's cache {folder} cannot be written",
            found=f"{place}: {error.strerror}",
            next_step=user.NEXT_STEP,
        ) from None


def _refuse_noexec(folder: Path) -> None:
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise LabError(
            f"The disk of the lab's cache {folder} runs no programs",
            found="a file system that is mounted noexec",
            expected="one from which programs can be started",
            next_step="Set XDG_CACHE_HOME to a folder on another disk, and install again.",
        )


def _full(folder: Path, found: str) -> LabError:
    return LabError(
        f"The disk of the lab's cache {folder} is full",
        found=found,
        next_step="Free some space, or set XDG_CACHE_HOME to a folder on another disk, and install "
        "again: it resumes where it stopped.",
    )


def _relative(programs: Ndb | Sysbench, root: Path) -> dict[str, Any]:
    values = {field.name: getattr(programs, field.name) for field in fields(programs)}
    return {k: str(v.relative_to(root)) if isinstance(v, Path) else v for k, v in values.items()}


def _absolute(kind: type, values: dict[str, Any], root: Path) -> dict[str, Any]:
    paths = {f.name for f in fields(kind) if f.type in ("Path", "Path | None")}
    return {k: root / v if k in paths and v is not None else v for k, v in values.items()}
