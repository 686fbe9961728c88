"""What a small redo log does to bulk loads. The runs are made up."""

from __future__ import annotations

import pytest

import small_runs
from experiments.bulk_load import made_up
from made_up import CLAIMS, Double, contrasted, decided
from ndblab.judging import answers, judge


def loads(ratio: float, blocks: int = 9) -> Double:
    """Loads with the small redo log, this many times as fast as with the usual one."""
    parts = (made_up.load(repeat=n, rows_per_s=19_000 + 1000 * n) for n in (1, 2))
    data = Double(**small_runs.together(*parts), budget="shared")
    sides = {"a": (1, 4, {"qps": 20_000 * ratio}), "b": (1, 4, {"qps": 20_000.0})}
    return contrasted(data, "redo", sides, blocks=blocks)


@pytest.mark.parametrize(
    ("ratio", "blocks", "expected"),
    [(0.8, 9, "reproduced"), (1.0, 9, "contradicted"), (0.8, 3, "inconclusive")],
)
def test_a_small_redo_log_slows_loading_or_does_not(ratio: float, blocks: int, expected: str):
    """Three per cent are nothing; before four pairs of starts there is no interval."""
    row = decided(loads(ratio, blocks), "B-load-redo")
    assert row.verdict == expected
    assert "by INSERTs over 4 connections" in row.reason


def test_the_answer_about_loads_says_rates_and_what_the_redo_log_does():
    """The best number of connections of each way."""
    data = loads(0.8)
    table = judge.judge(data, ["B-load-redo"], CLAIMS)
    said = str(answers.answer("bulk-load", table, data))
    assert "A load has 100\N{NARROW NO-BREAK SPACE}000 rows" in said
    assert "LOAD DATA 20" in said
    assert "By construction, so no finding: whether a small redo log slows loading" in said
