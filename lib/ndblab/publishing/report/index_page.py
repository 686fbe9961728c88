"""The first page: verdicts, figures and where they come from, at one glance.

In: sections. Out: index.html and the figures' files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.claims import verdict
from ndblab.error import LabError
from ndblab.publishing.report import dataset_page, page
from ndblab.publishing.report.section import VERDICT_COLUMNS, Picture, Section

if TYPE_CHECKING:
    from ndblab.claims.publication import Source

_TESTED = (verdict.REPRODUCED, verdict.CONTRADICTED, verdict.INCONCLUSIVE)


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
    """A picture in the site: its names there, and its size in pixels."""

    picture: Picture
    png: str
    svg: str | None
    width: int
    height: int


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
    published : names of the published tables that the site has.
    """
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
        tested=sum(row.verdict in _TESTED for row in judged),
        drawn={section.name: [_place(site, p) for p in section.pictures] for section in sections},
        measured=[(s, dataset_page.facts(s.dataset)) for s in sections if s.dataset is not None],
    )


def counts(rows: Sequence) -> dict[str, int]:
    """Count rows by verdict, in the order of the verdicts."""
    found = [row.verdict for row in rows]
    return {name: found.count(name) for name in page.VERDICTS if name in found}


def _rows(table: pd.DataFrame | None, where: str) -> list:
    if table is None:
        return []
    lacking = [name for name in VERDICT_COLUMNS if name not in table.columns]
    strange = sorted(set(table.get("verdict", ())) - set(page.VERDICTS))
    if lacking or strange:
        raise LabError(
            f"The verdicts of {where} cannot be shown",
            found=f"no column {', '.join(lacking)}" if lacking else ", ".join(strange),
            expected=", ".join(VERDICT_COLUMNS if lacking else page.VERDICTS),
            next_step="Give what `claims.judge` gives, with each claim's statement.",
        )
    return list(table.itertuples(index=False))


def _place(site: Path, picture: Picture) -> Drawn:
    folder = site / "figures"
    folder.mkdir(exist_ok=True)
    places = {}
    for file in picture.files():
        places[file.suffix] = f"figures/{picture.anchor}{file.suffix}"
        (site / places[file.suffix]).write_bytes(file.read_bytes())
    width, height = _size_of(picture.png)
    return Drawn(picture, places[picture.png.suffix], places.get(".svg"), width, height)


def _size_of(png: Path) -> tuple[int, int]:
    """Read width and height in pixels; the header of a PNG has them at byte 16 (its clause 11)."""
    head = png.read_bytes()[:24]
    if len(head) < 24 or not head.startswith(b"\x89PNG"):
        raise LabError(
            f"{png} is not a picture that the report can show",
            found=repr(head[:8]),
            expected="a PNG file",
            next_step="Draw the figure again: ./lab render",
        )
    width, height = struct.unpack(">II", head[16:24])
    return width, height
