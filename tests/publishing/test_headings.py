"""Headings of tables: words with units."""

from __future__ import annotations

import pytest

from ndblab.publishing.notebook import headings


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("qps_mean", "queries/s"),
        ("qps_low", "queries/s, 95 % low"),
        ("latency_p95_ms_high", "p95 latency, ms, 95 % high"),
        ("mysqld_us", "mysqld, \N{MICRO SIGN}s"),
        ("lookup_us", "CPU per lookup, \N{MICRO SIGN}s"),
        ("row_us", "CPU per row, \N{MICRO SIGN}s"),
        ("longest_gap_s", "longest gap, s"),
        ("qps_cv_pct", "variation of queries/s, %"),
        ("gave_up_clients", "gave up clients"),
        (("ape_pct", "latency_p95_ms"), "error without sign, % (p95 latency)"),
        (("error_pct", "qps"), "error, % (queries/s)"),
        ("READ COMMITTED", "READ COMMITTED"),
        (16, 16),
    ],
)
def test_a_column_is_called_by_words_with_its_unit(column: object, words: object) -> None:
    """What is no identifier stays as it is."""
    assert headings.words(column) == words
