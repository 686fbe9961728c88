"""Record locks by statement and isolation level. The locks are made up."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.locking_reads import made_up
from ndblab.error import MissingData
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    HELD,
    READ_COMMITTED,
    REPEATABLE_READ,
    RUNNING,
    SET_VARIABLE,
)
from ndblab.experiments.locking_reads import analysis as locks

ONE = {
    (SET_VARIABLE, READ_COMMITTED): "S,REC_NOT_GAP",
    (SET_VARIABLE, REPEATABLE_READ): "X",
    (CREATE_SELECT, REPEATABLE_READ): "S",
}


def test_only_shared_record_locks_count():
    """Neither those of the whole table nor exclusive ones."""
    table = made_up.locks(ONE)["locks"]
    assert list(locks.shared(table, SET_VARIABLE, READ_COMMITTED)) == [made_up.ROWS]
    assert list(locks.shared(table, SET_VARIABLE, REPEATABLE_READ)) == [0]
    assert list(locks.shared(table, CREATE_SELECT, READ_COMMITTED)) == [0]


def test_a_statement_that_was_not_read_is_missing():
    """It is not one without locks."""
    with pytest.raises(MissingData, match="no locks of SELECT"):
        locks.shared(made_up.locks(ONE)["locks"], "SELECT ...", READ_COMMITTED)


def test_a_cell_names_number_mode_and_index():
    """A dataset that was written and read has no value where MySQL has none."""
    table = made_up.locks(ONE)["locks"].replace("", float("nan"))
    cells = locks.table(table, RUNNING).set_index("statement")
    assert cells.loc[SET_VARIABLE, READ_COMMITTED] == "200 S,REC_NOT_GAP on k_1"
    assert cells.loc[CREATE_SELECT, READ_COMMITTED] == "none"
    assert locks.without(table, READ_COMMITTED) == [CREATE_SELECT]


def test_runs_that_differ_give_a_range():
    """Also where a kind of lock is missing in one of them."""
    first = made_up.locks(ONE)["locks"]
    second = made_up.locks(ONE, repeat=2, rows=201)["locks"]
    second = second[second["lock_mode"] != "X"]
    kinds = locks.kinds(pd.concat([first, second]))
    assert locks.in_words(kinds, CREATE_SELECT, REPEATABLE_READ, HELD) == ["200 to 201 S on k_1"]
    assert locks.in_words(kinds, SET_VARIABLE, REPEATABLE_READ, HELD) == ["0 to 200 X on k_1"]
