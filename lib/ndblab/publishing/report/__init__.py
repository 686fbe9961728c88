"""The report: everything the lab has shown, as a site of plain files.

It computes no verdict, has no clock (the same input gives the same bytes), and replaces only a
folder that it wrote itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError, writing
from ndblab.judging import publication
from ndblab.machine.files import replace_folder
from ndblab.publishing.comparisons import pages as comparisons
from ndblab.publishing.report import claims_page, dataset_page, index_page, notebook_page, page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.publishing.comparisons.history import History

__all__ = ["MARKER", "Section", "write"]

MARKER = ".ndblab-report"
"""File that distinguishes a report from a folder of the user's."""


def write(
    out: Path,
    sections: Sequence[Section],
    unjudged: pd.DataFrame | None = None,
    findings: Sequence[Path] = (),
    forest: str = "",
    tally: str = "",
    compared: Sequence[History] = (),
) -> Path:
    """Write the site, with what the sources published; return its first page, `out`/index.html.

    LabError if `out` holds anything but an earlier report, a dataset is damaged or incomplete, or a
    notebook cannot be shown without the network.

    Parameters
    ----------
    unjudged : claims that no section's data can judge, in the columns of a section's verdicts.
    findings, forest, tally : as for `index_page.write`.
    compared : the user's own comparisons.
    """
    sources, claims = publication.sources(), publication.claims()
    rows = claims_page.rows(sections, unjudged, claims, sources)
    with _replacing(out) as site:
        (site / "published").mkdir()
        tables = sorted(publication.FOLDER.glob("*.csv"))
        for file in tables:
            (site / "published" / file.name).write_bytes(file.read_bytes())
        places = notebook_page.places(sections, tables)
        for before, section, after in zip(
            [None, *sections[:-1]], sections, [*sections[1:], None], strict=True
        ):
            files = [] if section.dataset is None else dataset_page.write(site, section)
            notebook_page.write(site, section, places, files, before, after)
        claims_page.write(site, rows)
        comparisons.write_in_report(site, compared)
        index_page.write(site, sections, findings, forest, tally, bool(compared))
        index_page.write_data(site, sections, sources, [file.name for file in tables])
        (site / "report.css").write_text(page.text("report.css"))
        (site / "report.js").write_text(page.text("report.js"))
    return out / "index.html"


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
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
