"""Shared locks of reads as they were published, or not. The locks are made up."""

from __future__ import annotations

import pytest

import small_runs
from experiments.locking_reads.made_up import locks
from made_up import CLAIMS, Double, verdict
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
)
from ndblab.judging import answers, judge

AS_PUBLISHED = {
    (SET_VARIABLE, READ_COMMITTED): "S,REC_NOT_GAP",
    (SET_VARIABLE, REPEATABLE_READ): "S",
    (CREATE_SELECT, REPEATABLE_READ): "S",
}


def dataset(*parts) -> Double:
    return Double(**small_runs.together(*parts), budget="shared")


def test_locks_as_published_reproduce_the_claim():
    """Numbers are exact: one run is enough."""
    row = verdict(dataset(locks(AS_PUBLISHED)), "L-uservar")
    assert (row.verdict, row.measured, row.low) == ("reproduced", 200, 200)
    assert f"none by {CREATE_SELECT} in {READ_COMMITTED}" in row.reason


@pytest.mark.parametrize("changed", AS_PUBLISHED)
def test_a_statement_that_takes_no_shared_locks_contradicts_it(changed):
    """Each of the three is part of the claim; exclusive locks are not what it says."""
    row = verdict(dataset(locks({**AS_PUBLISHED, changed: "X"})), "L-uservar")
    assert (row.verdict, row.measured) == ("contradicted", 0)


def test_locks_where_there_should_be_none_contradict_it():
    """The claim says "not in READ COMMITTED"."""
    more = {**AS_PUBLISHED, (CREATE_SELECT, READ_COMMITTED): "S,REC_NOT_GAP"}
    row = verdict(dataset(locks(AS_PUBLISHED), locks(more, repeat=2)), "L-uservar")
    assert (row.verdict, row.measured) == ("contradicted", 200)
    assert "none in READ COMMITTED" in row.reason


def test_the_answer_names_statements_without_locks():
    """At the isolation level that releases them."""
    data = dataset(locks(AS_PUBLISHED))
    said = str(answers.answer("locking-reads", judge.judge(data, ["L-uservar"], CLAIMS), data))
    assert f"{READ_COMMITTED} these locked no record they read: {CREATE_SELECT}" in said
