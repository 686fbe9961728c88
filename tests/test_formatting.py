"""Numbers and lists as text."""

from __future__ import annotations

import math

import pytest

from ndblab import formatting


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (0.12345, "0.123"), (2.5, "2.5"), (99.96, "100"), (547.4, "547"),
     (10934, "10 900"), (1_600_000, "1 600 000")],
)  # fmt: skip
def test_numbers_have_three_digits(value: float, text: str) -> None:
    """A plain number has three significant digits, no exponent and no trailing zeros."""
    assert formatting.plain(value).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize("write", [formatting.plain, formatting.significant, formatting.exact])
def test_a_missing_number_is_a_dash(write) -> None:
    """A point without a good run has NaN for a mean; its text never fails."""
    assert write(math.nan) == "-"
    assert write(math.inf) == "inf"
