"""The page of claims: all in one table, which a reader may search and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.judging.publication import Claim, Source

PLACE = "claims.html"


@dataclass(frozen=True)
class Row:
    """A verdict, the title of its source, and the section whose data it is from."""

    verdict: Any
    source: str
    section: Section | None


def rows(
    sections: Sequence[Section],
    unjudged: pd.DataFrame | None,
    claims: Sequence[Claim],
    sources: Sequence[Source],
) -> list[Row]:
    """Return the verdicts of recorded data, and last the claims that no data can judge."""
    titles = {source.key: source.title for source in sources}
    theirs = {claim.id: titles[claim.source] for claim in claims}
    tables = [*((s.verdicts, s) for s in sections if not s.own), (unjudged, None)]
    return [
        Row(row, theirs.get(row.id, ""), section)
        for table, section in tables
        if table is not None
        for row in table.itertuples(index=False)
    ]


def write(site: Path, shown: Sequence[Row]) -> None:
    """Write claims.html into the site, with the verdicts counted in their order."""
    words = [row.verdict.verdict for row in shown]
    page.write(
        site, PLACE, "claims.html.j2",
        rows=shown,
        counts={word: words.count(word) for word in page.VERDICTS if word in words},
        sources=sorted({row.source for row in shown if row.source}),
        sections=list(dict.fromkeys(row.section for row in shown if row.section)),
    )  # fmt: skip
