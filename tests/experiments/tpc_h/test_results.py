"""How two results are compared."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from ndblab.experiments.tpc_h import results
from ndblab.experiments.tpc_h.queries import Query

ORDERED = Query(5, "", ("n",), False)
LIMITED = Query(3, "", ("n",), True)
UNORDERED = Query(6, "", (), False)
COLUMNS = ["n", "name"]
EXPECTED = [["3", "a"], ["2", "b"], ["2", "c"], ["1", "d"], ["1", "e"]]


def test_values_become_text_that_json_can_hold() -> None:
    """Exact numbers keep their digits, and NULL stays apart from the word."""
    row = (Decimal("1.50"), datetime.date(1995, 3, 15), None, 7)
    assert results.as_text([row]) == [["1.50", "1995-03-15", None, "7"]]


def test_equal_results_differ_in_nothing() -> None:
    """Also if rows that are equal in the order have changed places."""
    swapped = [EXPECTED[i] for i in (0, 2, 1, 4, 3)]
    for rows in (EXPECTED, swapped):
        assert results.difference(ORDERED, COLUMNS, rows, EXPECTED) == ""


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (EXPECTED[:4], "4 rows instead of 5"),
        ([["3", "a"], ["1", "d"], *EXPECTED[3:], ["1", "d"]], "row 2 is (1, d), not (2, b)"),
        ([*EXPECTED[:4], ["1", "f"]], "row 5 is (1, f), which should not be there"),
        ([*EXPECTED[:4], ["1", "d"]], "row 5 is (1, d), which should not be there"),
        ([["3.1", "a"], *EXPECTED[1:]], "row 1 is (3.1, a), not (3, a)"),
        ([["3", None], *EXPECTED[1:]], "row 1 is (3, NULL), which should not be there"),
    ],
)
def test_every_difference_is_named(rows: list[list[str | None]], said: str) -> None:
    """A row that is missing, at the wrong place, wrong or there twice."""
    assert results.difference(ORDERED, COLUMNS, rows, EXPECTED) == said


def test_a_limit_may_cut_off_either_of_equal_rows() -> None:
    """Only those that are as low in the order as the last one."""
    last = [*EXPECTED[:4], ["1", "f"]]
    assert results.difference(LIMITED, COLUMNS, last, EXPECTED) == ""
    inside = [["3", "x"], *EXPECTED[1:]]
    assert "should not be there" in results.difference(LIMITED, COLUMNS, inside, EXPECTED)


def test_a_result_of_one_row_needs_no_order() -> None:
    """Its values count."""
    assert results.difference(UNORDERED, ["revenue"], [["1.23"]], [["1.23"]]) == ""
    assert "1.24" in results.difference(UNORDERED, ["revenue"], [["1.24"]], [["1.23"]])
