"""The first page: what this is, what was found and what to do, and where each answer is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.publishing.report import dataset_page, page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    from ndblab.judging.publication import Source

_PUBLISHED = {
    "claims.csv": "claims",
    "anchors.csv": "plotted numbers",
    "corrections.csv": "corrections",
    "table1.csv": "hardware",
    "table2.csv": "software",
    "sources.csv": "sources",
}


def write(
    site: Path,
    sections: Sequence[Section],
    findings: Sequence[Path],
    forest: str,
    tally: str,
    compared: bool = False,
) -> None:
    """Write index.html into the site.

    Parameters
    ----------
    findings : the notebooks whose answers come first, in this order.
    forest : the picture of the effects, as SVG.
    tally : how many claims have which verdict.
    compared : whether there is a page of the user's own comparisons.
    """
    of_notebook = {section.notebook: section for section in sections}
    told = [of_notebook[name] for name in findings if name in of_notebook]
    page.write(
        site, "index.html", "index.html.j2",
        findings=[section for section in told if section.answer and section.answer.certain],
        forest=forest,
        recorded=[section for section in sections if not section.own],
        own=[section for section in sections if section.own],
        tally=tally,
        compared=compared,
    )  # fmt: skip


def write_data(
    site: Path, sections: Sequence[Section], sources: Sequence[Source], published: Sequence[str]
) -> None:
    """Write data.html: where all was measured, and what was published.

    Parameters
    ----------
    published : names of the published tables in the site.
    """
    measured = [(s, dataset_page.facts(s.dataset)) for s in sections if s.dataset is not None]
    page.write(
        site, "data.html", "data.html.j2",
        measured=measured,
        sources=sources,
        published=[(name, _PUBLISHED.get(name, name)) for name in published],
    )  # fmt: skip
