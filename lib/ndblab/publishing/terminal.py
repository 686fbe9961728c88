"""Results on a terminal: verdicts one per line, an answer in words, one claim in full."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.formatting import count, plain, sentences
from ndblab.judging import publication, verdict
from ndblab.judging.publication import READING
from ndblab.publishing import verdict_tables

if TYPE_CHECKING:
    from ndblab.dataset import Dataset
    from ndblab.design.experiment import Experiment
    from ndblab.judging.answers import Answer

COLUMNS = 100
MOST_LINES = 25
"""Lines that the end of one reproduction may have: it fits on a screen."""
MOST_OF_ALL = 40
"""Lines of all reproductions together, the last one for their pages."""
_SIGNS = {"less than": "<", "greater than": ">", "at least": ">=", "at most": "<="}
_LAST = (verdict.UNKNOWN, verdict.INCONCLUSIVE)


def screen(
    experiment: Experiment, answer: Answer | None, table: pd.DataFrame | None, places: Sequence[str]
) -> str:
    """Write the end of a reproduction: question, answer, verdicts, and where everything is.

    Decided claims come first, open ones last. Readings of ndb_top and absolute values of another
    machine are only counted, as are claims that this host cannot test if they would not fit.
    """
    verdicts = [] if table is None else _verdicts(table, MOST_LINES - len(places) - 4)
    lines = [experiment.question]
    if answer is not None:
        room = max(2, MOST_LINES - len(verdicts) - len(places) - 2)
        lines += textwrap.wrap(answer.brief(room, COLUMNS), COLUMNS)
    return "\n".join([*lines, "", *verdicts, *places])


def _verdicts(table: pd.DataFrame, room: int) -> list[str]:
    claims = verdict_tables.with_statements(table)
    top = claims["statement"].str.startswith(READING)
    theirs = ~top & (claims["verdict"] == verdict.NOT_COMPARABLE)
    counted = []
    if top.any():
        words = verdict_tables.tally(claims[top])
        counted.append(f"{count(int(top.sum()), 'reading')} of ndb_top: {words}")
    if theirs.any():
        values = count(int(theirs.sum()), "absolute value")
        counted.append(f"{values} of another machine: shown on the page, not judged")
    shown = claims[~top & ~theirs]
    ruled_out = shown["verdict"].isin(verdict.RULED_OUT)
    if len(shown) + len(counted) > room and ruled_out.any():
        words = verdict_tables.tally(shown[ruled_out])
        counted.insert(0, f"{words}: ./lab claims ID says why")
        shown = shown[~ruled_out]
    last = shown["verdict"].isin(_LAST)
    lines = one_line_each(pd.concat([shown[~last], shown[last]]))
    if len(lines) + len(counted) > room:
        fit = room - len(counted) - 1
        counted.insert(0, f"{count(len(lines) - fit, 'more claim')}: ./lab claims lists them")
        lines = lines[:fit]
    return [*lines, *counted]


def rooms(experiments: int) -> list[int | None]:
    """Return how many lines each experiment's answer gets when all share one screen.

    Lines left over go to the first experiments. A single experiment has no limit: None.
    """
    if experiments == 1:
        return [None]
    lines, more = divmod(max(0, MOST_OF_ALL - 1 - experiments), experiments)
    return [lines + (place < more) for place in range(experiments)]


def few_lines(
    experiment: Experiment, answer: Answer | None, table: pd.DataFrame | None, room: int
) -> str:
    """Write a reproduction as one of many: name and tally, and as much of the answer as fits.

    Both share a line if they fit. Readings of ndb_top and absolute values of another machine are
    not counted.

    Parameters
    ----------
    room : lines for the answer.
    """
    head = experiment.question
    if table is not None:
        claims = verdict_tables.with_statements(table)
        readings = claims["statement"].str.startswith(READING)
        claims = claims[~readings & (claims["verdict"] != verdict.NOT_COMPARABLE)]
        head = verdict_tables.tally(claims) if len(claims) else head
    said = "" if answer is None else answer.brief(room, COLUMNS)
    lines = textwrap.wrap(said, COLUMNS, max_lines=room, placeholder=" ...") if room else []
    head = f"{experiment.name}: {head}"
    one_line = f"{head}{'' if head.endswith('?') else '.'} {said}"
    return one_line if said and len(one_line) <= COLUMNS else "\n".join([head, *lines])


def by_dataset(table: pd.DataFrame, datasets: Sequence[Dataset]) -> str:
    """Write verdicts dataset by dataset, each below its name, time and host."""
    parts = []
    for data in datasets:
        rows = table[table["dataset"] == data.id]
        machine = data.describe_host()
        if len(rows):
            head = f"{data.id}, {data.manifest['started_utc']}"
            parts.append("\n".join([head, machine, *one_line_each(rows)]))
    rest = table[table["dataset"] == ""]
    parts += ["\n".join(["Without a dataset", *one_line_each(rest)])] if len(rest) else []
    return "\n\n".join(parts)


def every(table: pd.DataFrame, datasets: Sequence[Dataset]) -> str:
    """Write all verdicts dataset by dataset, and last their tally in the words of the README."""
    tally = verdict_tables.counted(verdict_tables.with_statements(table)).replace("`", "")
    return "\n\n".join([by_dataset(table, datasets), textwrap.fill(tally, COLUMNS)])


def one_line_each(table: pd.DataFrame) -> list[str]:
    """Write a line for each verdict: verdict, id, published, measured with its interval, unit."""
    rows = [
        (row.verdict, row.id, short(row.published), interval(row), _unit(row.unit))
        for row in table.itertuples()
    ]
    if not rows:
        return []
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in rows
    ]


def in_full(table: pd.DataFrame, datasets: Mapping[str, Dataset]) -> str:
    """Write everything about claims: statement, source, conditions, verdict, reason, dataset."""
    claims = {claim.id: claim for claim in publication.claims()}
    sources = {source.key: source for source in publication.sources()}
    parts = []
    for row in table.itertuples():
        claim = claims[row.id]
        source = sources[claim.source]
        data = datasets.get(row.dataset)
        facts = {
            "source": f"{source.title}, {source.publisher}, {source.year}: {claim.locator}",
            "compared": claim.metric,
            "conditions": sentences(claim.conditions),
            "limited to": claim.scope.replace(publication.ANY, ""),
            "cause": claim.cause,
            "wanted" if claim.is_threshold_ours else "published": (
                f"{short(row.published)} {_unit(row.unit)}"
            ),
            "measured": measured(row),
            "verdict": row.verdict,
            "why": sentences(row.reason),
            "dataset": row.dataset,
            "host": data and data.describe_host(),
        }
        lines = [*textwrap.wrap(f"{row.id}: {claim.statement}", COLUMNS)]
        for name, text in facts.items():
            if text:
                start = f"  {name:<10}  "
                after = " " * len(start)
                lines += textwrap.wrap(text, COLUMNS, initial_indent=start, subsequent_indent=after)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def short(published: str) -> str:
    """Write what was published with signs instead of words."""
    for words, sign in _SIGNS.items():
        published = published.replace(words, sign)
    return published


def interval(row) -> str:
    """Write what was measured, its interval beside it; a dash where nothing was."""
    if row.measured != row.measured:
        return "-"
    value, low, high = map(plain, (row.measured, row.low, row.high))
    return value if low == high else f"{value} ({low} to {high})"


def measured(row) -> str:
    """Write what was measured with its interval and unit."""
    return f"{interval(row)} {_unit(row.unit)}".rstrip()


def _unit(unit: str) -> str:
    return "" if unit == "ratio" else unit
