"""Numbers, lists and sentences as text.

Of numbers, `significant` is for verdicts, `plain` for figures, tables and messages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable


def significant(value: float) -> str:
    """Format with three significant digits or all integer digits, and no exponent."""
    if not math.isfinite(value):
        return _not_finite(value)
    if value == 0:
        return str(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".replace(",", " ")


def plain(value: float) -> str:
    """Format with three significant digits, thousands separated, and no exponent."""
    if not math.isfinite(value):
        return _not_finite(value)
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return _apart(text)


def exact(value: float) -> str:
    """Format with all digits, thousands separated, and no exponent."""
    return _apart(f"{value:,.12g}") if math.isfinite(value) else _not_finite(value)


def percent(value: float) -> str:
    """Write percent as a sentence does: whole from ten on, else two digits, at most hundredths."""
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{round(value, 2):.2g}"


def change(ratio: float, low: float = math.nan, high: float = math.nan) -> str:
    """Write a ratio and its interval as a signed percentage; as so many times from two on.

    >>> change(0.69, 0.642, 0.743), change(5.77, 4.77, 6.99)
    ('-31 % (-36 to -26 %)', '5.77 times (4.77 to 6.99)')
    """
    bounded = _bounded(low, high)
    if ratio >= 2:
        return f"{plain(ratio)} times" + (f" ({plain(low)} to {plain(high)})" if bounded else "")
    between = f" ({signed(low)} to {signed(high)} %)" if bounded else ""
    return f"{signed(ratio)} %{between}"


def less_or_more(
    ratio: float, low: float, high: float, less: str = "less", more: str = "more"
) -> str:
    """Write by how much a ratio is less or more than one, with the words for either.

    An interval around one does not show that both are alike: it shows no direction.

    >>> less_or_more(0.69, 0.642, 0.743), less_or_more(1.7, 1.66, 1.73, more="faster")
    ('31 % less (26 to 36 %)', '70 % faster (66 to 73 %)')
    >>> less_or_more(0.977, 0.875, 1.09, "fewer queries", "more queries")
    'neither clearly fewer nor more queries (-12 to +9 %)'
    """
    if not _bounded(low, high):
        return f"{percent(100 * abs(ratio - 1))} % {less if ratio < 1 else more}"
    if low <= 1 <= high:
        neither = f"neither clearly {less.partition(' ')[0]} nor {more}"
        return f"{neither} ({signed(low)} to {signed(high)} %)"
    least, most = sorted(100 * abs(x - 1) for x in (low, high))
    change_pct = percent(100 * abs(ratio - 1))
    return f"{change_pct} % {less if ratio < 1 else more} ({percent(least)} to {percent(most)} %)"


OPEN = 1.3
"""Factor between the ends of an interval around 1 from which on nothing is said of the change."""


def moved(ratio: float, low: float, high: float, what: str) -> str:
    """Write what a ratio did to something, as the end of a sentence.

    >>> moved(1.53, 1.14, 2.07, "speed"), moved(0.95, 0.82, 1.1, "speed")
    ('raised speed by 53 % (14 to 107 %)', 'showed no certain effect on speed (-18 to +10 %)')
    """
    if not _bounded(low, high):
        return f"changed {what} by {change(ratio)}"
    if low <= 1 <= high:
        words = (
            "did not clearly change {}" if high / low < OPEN else "showed no certain effect on {}"
        )
        return f"{words.format(what)} ({signed(low)} to {signed(high)} %)"
    verb = "raised" if ratio > 1 else "lowered"
    return f"{verb} {what} by {less_or_more(ratio, low, high, '', '').replace(' %  (', ' % (')}"


def _bounded(low: float, high: float) -> bool:
    return math.isfinite(low) and math.isfinite(high) and low < high


def signed(ratio: float) -> str:
    """Write a ratio as a signed percentage, without its unit."""
    return f"{'+' if ratio > 1 else ''}{percent(100 * (ratio - 1))}"


def count(number: int, noun: str) -> str:
    """Format a number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Format a duration in the unit that people use for it."""
    for limit_s, unit_s, unit in ((90, 1, "s"), (5400, 60, "min")):
        if seconds < limit_s:
            return f"{seconds / unit_s:.0f} {unit}"
    return f"{seconds / 3600:.1f} h"


def listed(parts: Iterable[str]) -> str:
    """Join words as in a sentence: a, b and c."""
    *rest, last = tuple(parts) or ("none",)
    return f"{', '.join(rest)} and {last}" if rest else last


MOST_WORDS = 30
"""The longest sentence, in words, that a reader takes in at once."""
_PROGRAMS = {"mysqld", "ndbmtd", "sysbench"}


def sentence(text: str) -> str:
    """Write a text as a sentence; a name such as ndb_join_pushdown stays in lower case."""
    first = text.partition(" ")[0].rstrip(",:")
    begins = first.isalpha() and first not in _PROGRAMS
    return f"{text[0].upper() if begins else text[0]}{text[1:]}."


def sentences(notes: str) -> str:
    """Turn notes separated by semicolons, such as reasons and conditions, into sentences.

    >>> sentences("shown, not judged; measured: 3 (2 of 5; 1 more)")
    'Shown, not judged. Measured: 3 (2 of 5; 1 more).'
    """
    parts: list[str] = []
    for note in notes.split("; "):
        if parts and parts[-1].count("(") > parts[-1].count(")"):
            parts[-1] += f"; {note}"
        else:
            parts.append(note)
    return " ".join(sentence(part.rstrip(".")) for part in parts if part)


_WORD = re.compile(r"[\w%]\S*")
_ALSO = "Also"


def in_sentences(lead: str, parts: Iterable[str]) -> list[str]:
    """Write a list as short sentences, for those who hear it; an empty list gives none.

    >>> in_sentences("Read", ["a 1", "b 2"]), in_sentences("Read", ["a " * 20, "b " * 20])[1][:9]
    (['Read: a 1; b 2.'], 'Also: b b')
    """
    said: list[str] = []
    for part in map(str.strip, parts):
        longer = f"{said[-1]}; {part}" if said else ""
        if said and len(_WORD.findall(longer)) <= MOST_WORDS:
            said[-1] = longer
        else:
            said.append(f"{_ALSO if said else lead}: {part}")
    return [f"{words}." for words in said]


def in_one(words: str) -> str:
    """Rejoin each list of `in_sentences` into one sentence, for those who see it as a list."""
    return words.replace(f". {_ALSO}: ", "; ")


def _not_finite(value: float) -> str:
    return "-" if math.isnan(value) else str(float(value))


def _apart(text: str) -> str:
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")
