"""The sealed files of a dataset: tables, configs and logs whose sha256 is in its manifest.

In: a folder and its manifest. Out: a table, or one LabError; or the files, sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab.dataset import table
from ndblab.dataset.column import PACKINGS
from ndblab.dataset.folder import packed, part_folders, read_bytes, sha256, unpacked
from ndblab.dataset.manifest import MANIFEST
from ndblab.dataset.schema import MEASURE_AGAIN, REQUIRED, SCHEMAS, file_name
from ndblab.error import LabError
from ndblab.machine import files


def read_table(
    folder: Path, name: str, manifest: Mapping[str, Any], verify: bool = True
) -> pd.DataFrame:
    """Read a table; one that the dataset's version or experiment does not have is empty."""
    sums = manifest.get("files", {})
    file = folder / file_name(name, sums)
    older = manifest["schema_version"] < SCHEMAS[name].since
    if older or (SCHEMAS[name].optional and file.name not in sums):
        return table.empty(name)
    # The schema first: "cut off" or "another unit" says more than "another sha256".
    data = read_bytes(file)
    frame = table.parse(name, unpacked(file, data), str(file))
    if verify:
        _verify(file, data, sums.get(file.name))
    return frame


def verify(folder: Path, manifest: Mapping[str, Any], besides: Iterable[str]) -> None:
    """Compare the sealed files with their sums, besides those of these tables."""
    sums = manifest.get("files", {})
    tables = {file_name(name, sums) for name in besides}
    for name, expected in sums.items():
        if name not in tables:
            _verify(folder / name, read_bytes(folder / name), expected)


def write(folder: Path, tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Write these tables, gather the logs of the runs, and return the sums of all files."""
    written = [name for name in SCHEMAS if name in REQUIRED or len(tables[name])]
    found = [folder / file_name(name) for name in written]
    for name, file in zip(written, found, strict=True):
        files.write(file, packed(file.name, table.render(name, tables[name], file.name)))
    for old in {folder / f"{name}.csv{end}" for name in SCHEMAS for end in PACKINGS} - {*found}:
        old.unlink(missing_ok=True)
    _gather_logs(folder)
    found += [file for kept in ("config", "logs") for file in (folder / kept).glob("[!.]*")]
    return {str(file.relative_to(folder)): sha256(read_bytes(file)) for file in sorted(found)}


def _gather_logs(folder: Path) -> None:
    kept = folder / "logs"
    for part in part_folders(folder):
        # A run measured again may have other logs than the time before.
        for old in kept.glob(f"{part.name}.*"):
            old.unlink()
        for log in sorted(part.glob("logs/*")):
            kept.mkdir(exist_ok=True)
            files.write(kept / log.name, read_bytes(log))


def _verify(file: Path, data: bytes, expected: str | None) -> None:
    if (found := sha256(data)) != expected:
        raise LabError(
            f"{file} has changed since it was measured",
            found=f"sha256 {found}",
            expected=f"sha256 {expected}" if expected else f"its sha256 in {MANIFEST}",
            next_step=MEASURE_AGAIN,
        )
