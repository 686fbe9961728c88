"""The report: everything the lab has shown, as a site of plain files.

In: sections, each an experiment with its verdicts, figures, notebook and dataset. Out: a folder
with index.html that needs no server and no network. It computes no verdict and draws no figure,
has no clock (the same input gives the same bytes), and replaces only a folder that it wrote itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ndblab.claims import publication
from ndblab.publishing.report import dataset_page, index_page, notebook_page, page
from ndblab.publishing.report.folder import MARKER, replacing
from ndblab.publishing.report.section import Picture, Section

__all__ = ["MARKER", "Picture", "Section", "write"]


def write(
    out: Path,
    sections: Sequence[Section],
    unjudged: pd.DataFrame | None = None,
    published: Path = publication.FOLDER,
) -> Path:
    """Write the site and give its first page, `out`/index.html.

    Parameters
    ----------
    unjudged : claims that no section's data can judge, in the columns of a section's verdicts.
    published : the folder of what the sources published; its CSV files come with the site.

    Raises
    ------
    LabError
        If `out` holds anything but an earlier report, a dataset is damaged or incomplete, or a
        notebook cannot be shown without the network.
    """
    with replacing(out) as site:
        sources = publication.sources(published)
        tables = _copy(sorted(published.glob("*.csv")), site / "published")
        places = notebook_page.Places.of(sections, tables)
        for section in sections:
            if section.dataset is not None:
                dataset_page.write(site, section)
            if section.notebook is not None:
                notebook_page.write(site, section, places)
        index_page.write(site, sections, unjudged, sources, tables)
        (site / "report.css").write_bytes(page.stylesheet())
    return out / "index.html"


def _copy(files: Sequence[Path], folder: Path) -> list[str]:
    folder.mkdir()
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    return [file.name for file in files]
