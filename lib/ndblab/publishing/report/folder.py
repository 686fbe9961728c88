"""The folder of a report: written to a temporary place, then swapped with the last report.

It never removes a folder without the report's marker file.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ndblab.error import LabError, writing
from ndblab.machine.files import replace_folder

MARKER = ".ndblab-report"


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Yield a folder to fill; it becomes `out` at the end of the block, unless that fails.

    LabError if `out` exists and is not an earlier report, or it cannot be written.
    """
    out = out.absolute()
    _check(out)
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        site = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        try:
            # Temporary folders are private; a site is for everyone.
            site.chmod(0o755)
            (site / MARKER).write_text("A report of the lab; the next one replaces it.\n")
            yield site
            _check(out)
            replace_folder(site, out)
        finally:
            shutil.rmtree(site, ignore_errors=True)


def _check(out: Path) -> None:
    if not out.exists() and not out.is_symlink():
        return
    ours = out.is_dir() and not out.is_symlink() and (out / MARKER).is_file()
    empty = out.is_dir() and not out.is_symlink() and not any(out.iterdir())
    if not (ours or empty):
        raise LabError(
            f"{out} is not a report; the lab will not replace it",
            found="a folder with other files" if out.is_dir() else "a file",
            expected="a new or empty folder, or an earlier report",
            next_step="Choose another folder with --out.",
        )
