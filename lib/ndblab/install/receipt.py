"""The receipt of a finished installation: `receipt.json` in its folder, written last.

In: what was installed where. Out: an `Ndb` and a `Sysbench`, or None if the receipt is missing or
does not match the files. It repairs nothing and starts no program.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ndblab.install.binaries import Ndb, Sysbench, product
from ndblab.machine.files import write as write_file

NAME = "receipt.json"
SCHEMA = 1


@dataclass(frozen=True)
class Receipt:
    """The content of one folder of the cache."""

    root: Path
    ndb: Ndb | None
    sysbench: Sysbench | None
    source: dict[str, Any]
    phases_s: dict[str, float]
    installed_utc: str


def write(
    root: Path,
    *,
    ndb: Ndb | None,
    sysbench: Sysbench | None,
    files: list[Path],
    source: dict[str, Any],
    phases_s: dict[str, float],
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
            "schema": SCHEMA,
            "root": str(final_root or root),
            "installed_utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "ndb": ndb and _relative(ndb, root),
            "sysbench": sysbench and _relative(sysbench, root),
            "files": {str(f.relative_to(root)): f.stat().st_size for f in files},
            "source": source,
            "phases_s": {name: round(seconds, 1) for name, seconds in phases_s.items()},
        },
        indent=1,
    )
    write_file(root / NAME, text.encode())


def read(root: Path) -> Receipt | None:
    """Return the receipt of `root`, or None if it is damaged or does not match the files."""
    try:
        content = json.loads((root / NAME).read_text())
        # Libraries are found by absolute path, so a moved folder does not work.
        if content["schema"] != SCHEMA or Path(content["root"]).resolve() != root.resolve():
            return None
        if any((root / name).stat().st_size != size for name, size in content["files"].items()):
            return None
        return Receipt(
            root=root,
            ndb=content["ndb"] and Ndb(**_absolute(Ndb, content["ndb"], root)),
            sysbench=content["sysbench"]
            and Sysbench(**_absolute(Sysbench, content["sysbench"], root)),
            source=content["source"],
            phases_s=content["phases_s"],
            installed_utc=content["installed_utc"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def content(text: str) -> dict[str, Any] | None:
    """Return what an installation consists of, whenever it was made; None without a receipt.

    Parameters
    ----------
    text : of a receipt, also one of another host.
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


def read_all(cache: Path) -> list[Receipt]:
    """Return every valid receipt in the cache, the most recently chosen first."""
    receipts = [receipt for path in cache.glob(f"*/{NAME}") if (receipt := read(path.parent))]
    return sorted(receipts, key=lambda r: (r.root / NAME).stat().st_mtime_ns, reverse=True)


def choose(receipt: Receipt) -> None:
    """Prefer this installation to the others in the cache."""
    os.utime(receipt.root / NAME)


def _relative(programs: Ndb | Sysbench, root: Path) -> dict[str, Any]:
    values = {field.name: getattr(programs, field.name) for field in fields(programs)}
    return {k: str(v.relative_to(root)) if isinstance(v, Path) else v for k, v in values.items()}


def _absolute(kind: type, values: dict[str, Any], root: Path) -> dict[str, Any]:
    paths = {f.name for f in fields(kind) if f.type in ("Path", "Path | None")}
    return {k: root / v if k in paths and v is not None else v for k, v in values.items()}
