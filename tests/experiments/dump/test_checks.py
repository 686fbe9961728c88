"""The published dumps and the measured ones. The runs are made up."""

from __future__ import annotations

import pytest

import small_runs
from experiments.dump import made_up
from made_up import CLAIMS, Double, verdict
from ndblab.judging import answers, judge


def dataset(*parts) -> Double:
    return Double(**small_runs.together(*parts), budget="shared")


def test_a_dump_is_shown_beside_the_published_one_and_not_judged():
    """Another machine's seconds: the measured ones of all kinds are in the reason."""
    data = dataset(
        *(made_up.dump("zstd", r, seconds=4 + r / 100) for r in (1, 2, 3)),
        made_up.dump("gzip", seconds=9, written_bytes=250_000),
    )
    row = verdict(data, "M-zstd")
    assert row.verdict == "not comparable"
    assert row.measured == pytest.approx(4.02)
    assert "with mysqldump and compression zstd (ratio 2.00)" in row.reason
    assert "with mysqldump and compression gzip (ratio 4.00)" in row.reason


def test_the_answer_says_what_compression_saves():
    """With the numbers of the dataset."""
    data = dataset(made_up.dump("none"), made_up.dump("zstd"))
    said = str(answers.answer("dump", judge.judge(data, ["M-zstd"], CLAIMS), data))
    assert "and 50 % of the size" in said
    assert "Not comparable: the published times" in said
