"""The first page: answers, verdicts, figures and their origin at a glance."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.judging import judge, verdict
from ndblab.publishing import exhibit, notebook
from ndblab.publishing.report import dataset_page, page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    import pandas as pd
    from nbformat import NotebookNode

    from ndblab.judging.publication import Source

_COLUMNS = ["statement", *(name for name in judge.COLUMNS if name != "dataset")]
_PUBLISHED = {
    "claims.csv": "claims",
    "anchors.csv": "plotted numbers",
    "corrections.csv": "corrections",
    "table1.csv": "hardware",
    "table2.csv": "software",
    "sources.csv": "sources",
}


@dataclass(frozen=True)
class Drawn:
    """A figure in the site: its place there, and its size in pixels."""

    picture: exhibit.Picture
    place: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """The figure as a reader calls it."""
        return self.picture.number or self.picture.question

    @property
    def anchor(self) -> str:
        return f"figure-{self.picture.key}"


def write(
    site: Path,
    sections: Sequence[Section],
    unjudged: pd.DataFrame | None,
    sources: Sequence[Source],
    published: Sequence[str],
) -> None:
    """Write index.html and the figures into the site.

    Parameters
    ----------
    published : names of the published tables in the site.
    """
    contents = {section.name: notebook.read(section.notebook) for section in sections}
    rows = {section.name: _rows(section.verdicts, section.name) for section in sections}
    rest = _rows(unjudged, "the claims not judged")
    judged = [row for some in rows.values() for row in some]
    page.write(
        site,
        "index.html",
        "index.html.j2",
        sources=sources,
        published=[(name, _PUBLISHED.get(name, name)) for name in published],
        sections=sections,
        rows=rows,
        unjudged=rest,
        counts=counts([*judged, *rest]),
        section_counts={name: counts(some) for name, some in rows.items()},
        tested=sum(row.verdict in verdict.TESTED for row in judged),
        answers={name: exhibit.answer(content) for name, content in contents.items()},
        drawn={name: list(_place(site, content)) for name, content in contents.items()},
        measured=[(s, dataset_page.facts(s.dataset)) for s in sections if s.dataset is not None],
    )


def counts(rows: Sequence) -> dict[str, int]:
    """Count rows by verdict, in the order of the verdicts."""
    found = [row.verdict for row in rows]
    return {name: found.count(name) for name in page.VERDICTS if name in found}


def _rows(table: pd.DataFrame | None, where: str) -> list:
    if table is None:
        return []
    lacking = [name for name in _COLUMNS if name not in table.columns]
    strange = sorted(set(table.get("verdict", ())) - set(page.VERDICTS))
    if lacking or strange:
        raise LabError(
            f"The verdicts of {where} cannot be shown",
            found=f"no column {', '.join(lacking)}" if lacking else ", ".join(strange),
            expected=", ".join(_COLUMNS if lacking else page.VERDICTS),
            next_step="Give what `judging.judge` gives, with each claim's statement.",
        )
    return list(table.itertuples(index=False))


def _place(site: Path, content: NotebookNode) -> Iterator[Drawn]:
    """Write the figures of a notebook into the site."""
    (site / "figures").mkdir(exist_ok=True)
    for picture, data in exhibit.pictures(content):
        png = base64.b64decode(data[exhibit.PNG])
        place = f"figures/{picture.file}.png"
        (site / place).write_bytes(png)
        # The header of a PNG has width and height at byte 16 (its clause 11).
        yield Drawn(picture, place, *struct.unpack(">II", png[16:24]))
