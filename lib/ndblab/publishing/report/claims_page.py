"""The page of claims: all in one table, which a reader may search and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndblab.error import LabError
from ndblab.judging import judge
from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.judging.publication import Claim, Source

PLACE = "claims.html"
_COLUMNS = ["statement", *(name for name in judge.COLUMNS if name != "dataset")]


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
    """Return the verdicts of recorded data, and last the claims that no data can judge.

    LabError if a table of verdicts lacks a column, or has a word that is not a verdict.
    """
    titles = {source.key: source.title for source in sources}
    theirs = {claim.id: titles[claim.source] for claim in claims}
    tables = [(s.verdicts, s, s.name) for s in sections if not s.own]
    tables.append((unjudged, None, "the claims not judged"))
    return [
        Row(row, theirs.get(row.id, ""), section)
        for table, section, where in tables
        for row in _checked(table, where)
    ]


def write(site: Path, shown: Sequence[Row]) -> None:
    """Write claims.html into the site."""
    page.write(
        site, PLACE, "claims.html.j2",
        rows=shown,
        counts=counts(shown),
        sources=sorted({row.source for row in shown if row.source}),
        sections=list(dict.fromkeys(row.section for row in shown if row.section)),
    )  # fmt: skip


def counts(shown: Sequence[Row]) -> dict[str, int]:
    """Count rows by verdict, in the order of the verdicts."""
    words = [row.verdict.verdict for row in shown]
    return {name: words.count(name) for name in page.VERDICTS if name in words}


def _checked(table: pd.DataFrame | None, where: str) -> list:
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
