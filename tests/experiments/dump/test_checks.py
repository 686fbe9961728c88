"""Checks on locks of reads, on dumps and on bulk loads. The runs are made up, no measurement."""

from __future__ import annotations

import pytest

import made_up_actions as actions
from made_up import Double, contrasted, verdict
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
)
from ndblab.judging import answers, judge, publication

AS_PUBLISHED = {
    (SET_VARIABLE, READ_COMMITTED): "S,REC_NOT_GAP",
    (SET_VARIABLE, REPEATABLE_READ): "S",
    (CREATE_SELECT, REPEATABLE_READ): "S",
}


def dataset(*parts) -> Double:
    return Double(**actions.together(*parts), budget="shared")


def test_locks_as_published_reproduce_the_claim():
    """Numbers are exact: one run is enough."""
    row = verdict(dataset(actions.locks(AS_PUBLISHED)), "L-uservar")
    assert (row.verdict, row.measured, row.low) == ("reproduced", 200, 200)
    assert f"none by {CREATE_SELECT} in {READ_COMMITTED}" in row.reason


@pytest.mark.parametrize("changed", AS_PUBLISHED)
def test_a_statement_that_takes_no_shared_locks_contradicts_it(changed):
    """Each of the three is part of the claim; exclusive locks are not what it says."""
    row = verdict(dataset(actions.locks({**AS_PUBLISHED, changed: "X"})), "L-uservar")
    assert (row.verdict, row.measured) == ("contradicted", 0)


def test_locks_where_there_should_be_none_contradict_it():
    """The claim says "only in REPEATABLE READ"."""
    more = {**AS_PUBLISHED, (CREATE_SELECT, READ_COMMITTED): "S,REC_NOT_GAP"}
    row = verdict(dataset(actions.locks(AS_PUBLISHED), actions.locks(more, repeat=2)), "L-uservar")
    assert (row.verdict, row.measured) == ("contradicted", 200)
    assert "only in REPEATABLE READ" in row.reason


def test_without_locks_it_is_unknown():
    """A failed run has no locks, which is not none."""
    data = dataset(actions.locks(AS_PUBLISHED))
    data.locks = data.locks.iloc[:0]
    assert verdict(data, "L-uservar").verdict == "unknown"


def test_a_dump_is_shown_beside_the_published_one_and_not_judged():
    """Another machine's seconds: the measured ones of all kinds are in the reason."""
    data = dataset(
        *(actions.dump("zstd", r, seconds=4 + r / 100) for r in (1, 2, 3)),
        actions.dump("gzip", seconds=9, written_bytes=250_000),
    )
    row = verdict(data, "M-zstd")
    assert row.verdict == "not testable here"
    assert row.measured == pytest.approx(4.02)
    assert "with mysqldump and compression zstd (ratio 2.00)" in row.reason
    assert "with mysqldump and compression gzip (ratio 4.00)" in row.reason


def test_answers_say_what_was_found():
    """Sentences with the numbers of the dataset."""
    every = publication.claims()
    data = dataset(actions.locks(AS_PUBLISHED))
    said = str(answers.answer("locking-reads", judge.judge(data, ["L-uservar"], every), data))
    assert f"without a record lock in {READ_COMMITTED}: {CREATE_SELECT}" in said
    data = dataset(actions.dump("none"), actions.dump("zstd"))
    said = str(answers.answer("dump", judge.judge(data, ["M-zstd"], every), data))
    assert "for 50 % of that size" in said
    assert "Not testable here: the published times" in said


def loads(ratio: float, blocks: int = 9) -> Double:
    """Loads with the small redo log, this many times as fast as with the usual one."""
    data = dataset(*(actions.load(repeat=n, rows_per_s=19_000 + 1000 * n) for n in (1, 2)))
    sides = {"a": (1, 4, {"qps": 20_000 * ratio}), "b": (1, 4, {"qps": 20_000.0})}
    return contrasted(data, "redo", sides, blocks=blocks)


@pytest.mark.parametrize(
    ("ratio", "blocks", "expected"),
    [(0.8, 9, "reproduced"), (1.0, 9, "contradicted"), (0.8, 3, "inconclusive")],
)
def test_a_small_redo_log_slows_loading_or_does_not(ratio: float, blocks: int, expected: str):
    """Three per cent are nothing; before four pairs of starts there is no interval."""
    row = verdict(loads(ratio, blocks), "B-load-redo")
    assert row.verdict == expected
    assert "by INSERTs over 4 connections" in row.reason


def test_the_answer_about_loads_says_rates_and_what_the_redo_log_does():
    """The best number of connections of each way."""
    data = loads(0.8)
    table = judge.judge(data, ["B-load-redo"], publication.claims())
    said = str(answers.answer("bulk-load", table, data))
    assert "Rows loaded per second: LOAD DATA 20" in said
    assert "a small redo log slows loading: 0." in said
