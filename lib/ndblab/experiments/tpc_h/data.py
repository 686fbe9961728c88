"""The rows of TPC-H, as `tpchgen-cli` generates them.

The generator is a Python package of this project, so its program is beside Python's own; else it is
one on PATH.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ndblab.error import LabError
from ndblab.experiments.tpc_h.database import REPEATED
from ndblab.machine.local import LOCAL

PROGRAM = "tpchgen-cli"
GENERATE_TIMEOUT_S = 3600


def program() -> Path:
    """Return the path of the generator.

    Raises
    ------
    LabError
        If there is none.
    """
    beside = Path(sys.executable).with_name(PROGRAM)
    found = beside if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise LabError(
            f"{PROGRAM}, which generates the data of TPC-H, is not installed",
            found=f"none in {beside.parent}, none on PATH",
            expected=f"the Python package {PROGRAM}",
            next_step="Run ./lab again, which completes its environment; elsewhere install it "
            f"with pip install {PROGRAM}.",
        )
    return Path(found)


def version() -> str:
    """Return the version of the generator; LabError if there is none."""
    text = LOCAL.run([str(program()), "--version"], what=f"{PROGRAM} does not tell its version")
    return text.split()[1]


def generate(folder: Path, scale: float) -> None:
    """Write the file of each table, `lineitem.tbl` and so on; LabError if that fails.

    No two rows of a file have the same key.
    """
    argv = [str(program()), "--scale-factor", str(scale), "--output-dir", str(folder)]
    LOCAL.run(argv, what="The data of TPC-H could not be generated", timeout_s=GENERATE_TIMEOUT_S)
    _keep_once(folder / f"{REPEATED}.tbl")


def _keep_once(file: Path) -> None:
    """Keep the first row of each key, which is the first two columns."""
    rows = file.read_text().splitlines(keepends=True)
    once: dict[tuple[str, ...], str] = {}
    for row in rows:
        once.setdefault(tuple(row.split("|", 2)[:2]), row)
    if len(once) < len(rows):
        file.write_text("".join(once.values()))
