"""Clauses of an answer, and how they become sentences: what is certain, open or ruled out."""

from __future__ import annotations

import contextlib
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndblab.error import MissingData
from ndblab.formatting import MOST_WORDS, change, count, listed, percent, plain, sentence
from ndblab.judging import verdict
from ndblab.statistics import contrasts

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset
    from ndblab.statistics.estimate import Estimate


@dataclass(frozen=True)
class Clause:
    """The texts for a claim that is reproduced, contradicted, or open.

    A claim that "differs here" gets the text for contradicted ones, so that text may say no more
    than that it is so here. A claim that is ruled out gets the text for open ones.

    In these texts `{value}`, `{low}` and `{high}` are the measured value and its bounds, and
    `{interval}` is the interval in brackets, with "together" if it is that of all recordings. The
    suffix `_pct` gives percent; `_fall_pct` and `_gain_pct` give the percentage by which a ratio is
    below or above one. `{change}` is that percentage with its sign and interval.
    """

    id: str
    reproduced: str
    contradicted: str
    open: str


class Advice(str):
    """A sentence of an answer that advises what to do on one's own cluster."""

    __slots__ = ()


class Untestable(str):
    """What was measured but answers no question about the software, and why."""

    __slots__ = ()


class Disagreement(str):
    """What the newest recording clearly shows and another turns round, with the others' values."""

    __slots__ = ()


def under_quotas(changes: Iterable[str]) -> Untestable:
    """Write what more servers did where each brings a quota: the quotas decide that."""
    return Untestable(
        f"what more servers gain ({', then '.join(changes)}): quotas of servers or of data nodes "
        "decide it"
    )


def quotas(data: Dataset) -> str:
    """Write "under CPU quotas, " before what was measured under them; else nothing."""
    return "under CPU quotas, " if data.budget == "scaled" else ""


def within_one_start(slices: pd.DataFrame, *compared: str) -> str:
    """Write ", in one cluster start" after a comparison that rests on one; else nothing.

    A verdict needs two starts, so a statement without a verdict must name its single start.

    Parameters
    ----------
    compared : contrasts; none for a sweep, which ends before the first slice is measured.
    """
    mine = slices[slices["contrast"].isin(compared)] if compared else slices
    starts = mine["start"].dropna()
    one = starts.nunique() == 1 if compared else starts.min() == 1
    return ", in one cluster start" if one else ""


def held(
    finding: str,
    data: Dataset,
    *compared: str,
    ratio_of: Callable[[Dataset], Estimate] | None = None,
) -> str:
    """Add to a finding of the newest recording in how many it clearly holds.

    For a single recording, or without a clear difference, add what `within_one_start` writes.
    Where another recording's value lies on the other side of 1, the result is a `Disagreement`:
    a question, and no finding.

    Parameters
    ----------
    compared : the contrast that the finding is about; none for a sweep.
    ratio_of : returns a recording's ratio, or raises MissingData; by default that of the
        contrast's throughput.
    """
    ratios = []
    for recording in (*data.earlier, data):
        with contextlib.suppress(MissingData):
            ratios.append(
                ratio_of(recording)
                if ratio_of
                else contrasts.ratio(contrasts.log_ratios(recording.slices, *compared))
            )
    clear = [_side(ratio) for ratio in ratios if _side(ratio)]
    if len(ratios) < 2 or not clear:
        return finding + within_one_start(data.slices, *compared)
    # Each recording counts by itself. Where the newest decides nothing, the last that does counts.
    agree, every = clear.count(clear[-1]), len(ratios)
    which = "in each" if agree == every else f"clear in {agree}"
    counted = f"{which} of {every} recordings ({_values(ratios)})"
    if not _side(ratios[-1]):
        return f"{finding}. A difference is {counted}"
    if min(ratio.value for ratio in ratios) < 1 < max(ratio.value for ratio in ratios):
        return Disagreement(f"{finding}, earlier {_values(ratios[:-1])}")
    return f"{finding}, {counted}"


def _values(ratios: Sequence[Estimate]) -> str:
    """List changes, the unit named once."""
    # Without "and", so that a sentence on three recordings is no longer than 30 words.
    joined = " and " if len(ratios) == 2 else ", "
    values = joined.join(change(ratio.value) for ratio in ratios)
    for unit in (" %", " times"):
        values = values.replace(f"{unit}{joined}", joined)
    return values


def _side(ratio: Estimate) -> int:
    """Return 1 or -1 where an interval lies above or below one; else 0."""
    return int(ratio.low > 1) - int(ratio.high < 1)


@dataclass(frozen=True)
class Answer:
    """The sentences of an answer, the most important first, without their full stops."""

    certain: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    untestable: tuple[str, ...] = ()
    constructed: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    incomparable: tuple[str, ...] = ()
    disagreed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        ruled_out = self.untestable or self.constructed or self.incomparable
        return bool(self.certain or self.open or self.disagreed or ruled_out)

    def __str__(self) -> str:
        return " ".join(_sentences(self))

    @property
    def headline(self) -> str:
        """Return the first finding, and the first advice."""
        return " ".join(map(sentence, (*self.certain[:1], *self.advice[:1])))

    def split(self, first: int) -> tuple[str, str]:
        """Return the first findings and the remaining sentences.

        Without any finding, the first part has all sentences. Advice is in neither part.
        """
        said = [*_sentences(replace(self, advice=()))]
        at = min(first, len(self.certain)) or len(said)
        return " ".join(said[:at]), " ".join(said[at:])

    def brief(self, lines: int = 2, columns: int = 100) -> str:
        """Return the answer in at most `lines` lines, if its first clauses fit.

        What does not fit is left out: first what recordings disagree on, what is ruled out and
        the advice, then the last open clauses, then the last certain ones. The omitted open and
        certain clauses are counted.
        """
        shown, left_out = self, [0, 0]
        if self.certain or self.open:
            shorter = Answer(self.certain, self.open)
            shown = self if _lines(self, left_out, columns) <= lines else shorter
        while _lines(shown, left_out, columns) > lines:
            if shown.open:
                shown, left_out[1] = replace(shown, open=shown.open[:-1]), left_out[1] + 1
            elif len(shown.certain) > 1:
                shown, left_out[0] = replace(shown, certain=shown.certain[:-1]), left_out[0] + 1
            else:
                break
        return " ".join(_sentences(shown, *left_out))


def compose(clauses: Iterable[Clause | str], table: pd.DataFrame) -> Answer:
    """Choose the text of each clause by the verdict of its claim; plain texts are certain."""
    rows = {row.id: row for row in table.itertuples()} if "id" in table else {}
    certain, unsure, untestable, constructed, advice, incomparable = [], [], [], [], [], []
    disagreed: list[str] = []
    for clause in clauses:
        if isinstance(clause, str):
            kinds = {Advice: advice, Untestable: untestable, Disagreement: disagreed}
            kinds.get(type(clause), certain).append(str(clause))
            continue
        row = rows.get(clause.id)
        word = getattr(row, "verdict", "")
        group, text = {
            verdict.REPRODUCED: (certain, clause.reproduced),
            verdict.CONTRADICTED: (certain, clause.contradicted),
            verdict.DIFFERS: (certain, clause.contradicted),
            verdict.INCONCLUSIVE: (unsure, clause.open),
            verdict.NOT_TESTABLE: (untestable, clause.open),
            verdict.NOT_COMPARABLE: (incomparable, clause.open),
            verdict.BY_CONSTRUCTION: (constructed, clause.open),
        }.get(word, (None, ""))
        if group is not None:
            group.append(text.format_map(_numbers(row)))
    kept = certain, unsure, untestable, constructed, advice, incomparable, disagreed
    return Answer(*map(tuple, kept))


def _numbers(row: Any) -> dict[str, str]:
    ends = row.measured, row.low, row.high
    falls = 100 * (1 - row.measured), 100 * (1 - row.high), 100 * (1 - row.low)
    gains = tuple(100 * (x - 1) for x in ends)
    kinds = {
        "": tuple(map(plain, ends)),
        "_pct": tuple(percent(100 * x) for x in ends),
        "_fall_pct": tuple(map(percent, falls)),
        "_gain_pct": tuple(map(percent, gains)),
    }
    pooled = ", together" if str(getattr(row, "reason", "")).startswith(verdict.TOGETHER) else ""
    text = change(*ends)
    texts = {"change": f"{text[:-1]}{pooled})" if text.endswith(")") else text}
    for kind, (value, low, high) in kinds.items():
        bounded = math.isfinite(row.low) and math.isfinite(row.high) and row.low < row.high
        unit = " %" if kind else ""
        texts |= {f"value{kind}": f"{value}{unit}", f"low{kind}": low, f"high{kind}": high}
        texts[f"interval{kind}"] = f"({low} to {high}{unit}{pooled})" if bounded else ""
    return texts


def _lines(answer: Answer, left_out: Iterable[int], columns: int) -> int:
    return len(textwrap.wrap(" ".join(_sentences(answer, *left_out)), columns))


def _sentences(answer: Answer, more_certain: int = 0, more_open: int = 0) -> Iterable[str]:
    more = [count(more_certain, "more finding")] * (more_certain > 0)
    yield from map(sentence, [*answer.certain, *more])
    if not answer.certain and (answer.open or answer.disagreed or more_open):
        yield "Nothing is decided yet."
    yield from _lists("Open", "Also open", answer.open, listed)
    if more_open:
        yield f"{'Also open' if answer.open else 'Open'}: {count(more_open, 'question')}."
    yield from _lists("Recordings disagree", "They also disagree", answer.disagreed, "; ".join)
    yield from _lists("Not testable here", "Also not testable", answer.untestable, "; ".join)
    yield from _lists("Not comparable", "Also not comparable", answer.incomparable, "; ".join)
    constructed = "By construction, so no finding"
    yield from _lists(constructed, "Likewise", answer.constructed, listed)
    yield from map(sentence, answer.advice)


def _lists(
    lead: str, again: str, parts: Iterable[str], joined: Callable[[list[str]], str]
) -> Iterable[str]:
    """List parts in sentences of at most `MOST_WORDS` words, unless a single part is longer."""
    fitting: list[str] = []
    for part in parts:
        if fitting and len(f"{lead}: {joined([*fitting, part])}".split()) > MOST_WORDS:
            yield f"{lead}: {joined(fitting)}."
            fitting, lead = [], again
        fitting.append(part)
    if fitting:
        yield f"{lead}: {joined(fitting)}."
