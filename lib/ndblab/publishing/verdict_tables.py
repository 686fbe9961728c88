"""Verdicts on claims, by dataset, in the order of the published claims."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pandas as pd

from ndblab import dataset
from ndblab.design.catalogue import find
from ndblab.judging import judge, publication, verdict
from ndblab.measuring import recorded

_FIRST = (verdict.CONTRADICTED, verdict.DIFFERS, verdict.INCONCLUSIVE, *verdict.WORDS)
"""Of several verdicts that rest on one measurement, the first in this order counts."""
_NUMBERS = ["measured", "low", "high"]


def of(data: dataset.Dataset, only: Sequence[str] | None = None) -> pd.DataFrame:
    """Judge the claims of a dataset's experiment, or only those in `only`.

    For a recorded dataset, all recordings of its experiment count. LabError as for `every`.
    """
    published, prefixes = publication.claims(), find(data.experiment).claims
    publication.check_known(only or (), published)
    chosen = [claim.id for claim in published if only is None or claim.id in only]
    return judge.judge(data, [name for name in chosen if name.startswith(prefixes)], published)


def every(only: Sequence[str] | None = None) -> pd.DataFrame:
    """Judge all claims, or only those in `only`, by the recorded datasets.

    LabError if there is no such claim.
    """
    published = publication.claims()
    publication.check_known(only or (), published)
    order = {claim.id: i for i, claim in enumerate(published)}
    tables = [of(data, only) for data in recorded.every()]
    judged = {name for table in tables for name in table["id"]}
    rest = [c for c in published if c.id not in judged and (only is None or c.id in only)]
    tables.append(judge.unmeasured(rest))
    together = pd.concat([t for t in tables if len(t)], ignore_index=True)
    return together.sort_values("id", key=lambda ids: ids.map(order), ignore_index=True)


def with_statements(table: pd.DataFrame) -> pd.DataFrame:
    """Add the statement of each claim, as its second column."""
    statements = pd.DataFrame(publication.claims())[["id", "statement"]]
    return statements.merge(table, on="id", how="right")


def tally(table: pd.DataFrame) -> str:
    """Count verdicts in words: one for each measurement, however many claims rest on it."""
    words = list(by_measurement(table))
    return ", ".join(f"{words.count(word)} {word}" for word in verdict.WORDS if word in words)


def counted(every: pd.DataFrame) -> str:
    """Write the tally of all claims, in Markdown: README, results, site and terminal have it.

    Parameters
    ----------
    every : verdicts with their statements.
    """
    claims = _without_readings(every)
    words, measured = tally(claims), len(by_measurement(claims))
    return (
        f"Of {len(every)} claims, {len(every) - len(claims)} are readings of `ndb_top`, shown and "
        f"not judged. The other {len(claims)} rest on {measured} measurements: {words}. "
        "Claims on one measurement count once, with their worst verdict. "
        f"These hosts decide {decided(every)} claims on the brief's figures."
    )


def decided(every: pd.DataFrame) -> str:
    """Say how many of the claims on the brief's figures are decided, such as "none of the 32".

    Parameters
    ----------
    every : as for `counted`.
    """
    claims = _without_readings(every)
    of_figures = claims[claims["id"].isin([c.id for c in publication.claims() if c.figure])]
    number = int(of_figures["verdict"].isin({*verdict.TESTED} - {verdict.INCONCLUSIVE}).sum())
    return f"{number or 'none'} of the {len(of_figures)}"


def _without_readings(every: pd.DataFrame) -> pd.DataFrame:
    """Leave out the claims that only repeat what `ndb_top` showed."""
    return every[~every["statement"].str.startswith(publication.READING)]


def by_measurement(table: pd.DataFrame) -> pd.Series:
    """Return one verdict for each measurement that claims rest on (`publication.measured_as`).

    If its claims have several verdicts, the first of them in `_FIRST` counts: no agreement hides a
    disagreement, nor that another claim could be tested and is open.
    """
    measured = table["id"].replace(publication.measured_as())
    groups = table["verdict"].groupby(measured, sort=False)
    return groups.agg(lambda words: min(words, key=_FIRST.index))


def from_csv(text: str) -> pd.DataFrame:
    """Read the verdicts that a notebook's page holds."""
    empty = dict.fromkeys(_NUMBERS, "")
    words = dict.fromkeys(set(judge.COLUMNS) - set(_NUMBERS), str)
    return pd.read_csv(
        io.StringIO(text), dtype=words, keep_default_na=False, na_values=empty, index_col=False
    )
