"""Numbers and lists as text: `significant` in verdicts, `plain` in figures, tables and messages."""

from __future__ import annotations

import math
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


def _not_finite(value: float) -> str:
    return "-" if math.isnan(value) else str(float(value))


def _apart(text: str) -> str:
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")
