"""What a dump holds: its tables, rows and bytes, counted in its files.

So a dump that ends early does not pass as a fast one.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.experiments.dump import MYSQL_SHELL, UNCOMPRESSED, tools
from ndblab.machine.commands import exit_reason
from ndblab.workloads.load_generator import spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.workloads.load_generator import Job

_END = b"-- Dump completed"
_INCOMPLETE = "The dump is not complete"


@dataclass(frozen=True)
class Contents:
    """What a dump holds; `size_bytes` is without compression."""

    tables: int
    rows: int
    size_bytes: int


def read(cluster: Cluster, job: Job, folder: Path, printed: str) -> Contents:
    """Read a dump back; LabError if it ends early, or its compressed file is damaged."""
    if tools.tool() == MYSQL_SHELL:
        return of_shell(folder, printed)
    if tools.compression(job) == UNCOMPRESSED:
        with tools.script(job, folder).open("rb") as lines:
            return of_script(lines)
    command = tools.decompress(job, folder)
    with spawned(cluster, command, stderr=subprocess.DEVNULL) as child:
        held = of_script(child.stdout.buffer)
        if code := child.wait():
            raise LabError(_INCOMPLETE, found=f"{command.argv[0]}: {exit_reason(code)}")
    return held


def of_script(lines: Iterable[bytes]) -> Contents:
    """Count what the lines of mysqldump hold; each INSERT is one line with many rows of a table.

    "),(" separates two rows: the values of sysbench do not contain it.
    """
    tables = rows = size_bytes = 0
    last = b""
    for line in lines:
        size_bytes += len(line)
        tables += line.startswith(b"CREATE TABLE ")
        rows += line.count(b"),(") + 1 if line.startswith(b"INSERT INTO ") else 0
        last = line if line.strip() else last
    if not last.startswith(_END):
        end = last[:60].decode(errors="replace").strip()
        raise LabError(_INCOMPLETE, found=f"it ends with: {end}" if end else "it is empty")
    return Contents(tables, rows, size_bytes)


def of_shell(folder: Path, printed: str) -> Contents:
    """Take the counts that MySQL Shell prints, and the size from the file that it writes last."""
    done = folder / "@.done.json"
    if not done.is_file():
        raise LabError(_INCOMPLETE, found=f"no {done.name}")
    numbers = [
        re.search(rf"{words}: (\d+)", printed) for words in ("Tables dumped", "Rows written")
    ]
    if None in numbers:
        raise LabError(_INCOMPLETE, found="MySQL Shell printed no number of tables or rows")
    tables, rows = (int(number[1]) for number in numbers)
    return Contents(tables, rows, int(json.loads(done.read_text())["dataBytes"]))
