"""The queries of TPC-H, their results, and what the client says of them."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import pytest

from ndblab.experiments.tpc_h import client, queries
from ndblab.experiments.tpc_h import database as tables
from ndblab.experiments.tpc_h.queries import Query

DECLARED = re.compile(r"^    ([a-z]+_[a-z]+) (\w+(?:\([\d, ]+\))?) NOT NULL", re.MULTILINE)


@pytest.mark.parametrize("number", queries.NUMBERS)
def test_every_query_is_there_whole(number: int) -> None:
    """It is one statement of SELECT, without a parameter left open."""
    query = queries.read(number, 0.01)
    assert query.sql.startswith(("SELECT", "WITH"))
    assert not set(query.sql) & set("{};?:")
    assert query.sql.count("(") == query.sql.count(")")


@pytest.mark.parametrize(
    ("number", "keys"),
    [
        (1, ("l_returnflag", "l_linestatus")),
        (3, ("revenue", "o_orderdate")),
        (6, ()),
        (13, ("custdist", "c_count")),
        (21, ("numwait", "s_name")),
    ],
)
def test_the_order_of_a_result_is_known(number: int, keys: tuple[str, ...]) -> None:
    """By the columns of the last ORDER BY; a query of one row has none."""
    assert queries.read(number, 1).keys == keys


@pytest.mark.parametrize(("scale", "fraction"), [(1, "0.0001"), (0.01, "0.01"), (0.001, "0.1")])
def test_the_fraction_of_query_11_follows_the_scale_factor(scale: float, fraction: str) -> None:
    """It is an exact number, as a float would make MySQL compute with floats."""
    [written] = re.findall(r"\* ([\d.]+)\n", queries.read(11, scale).sql)
    assert Decimal(written) == Decimal(fraction)


def test_columns_that_are_joined_have_one_type() -> None:
    """NDB pushes a join only of identical types: every key is the same kind of number."""
    text = "\n".join(tables.statements("ndbcluster"))
    types = dict(DECLARED.findall(text))
    assert len(types) == 61
    keys = {name: kind for name, kind in types.items() if name.endswith("key")}
    assert len(keys) == 15
    assert set(keys.values()) == {"INT"}


def test_every_statement_names_the_engine_and_ends_with_the_options() -> None:
    """The tables of NDB and of InnoDB differ in that alone."""
    statements = tables.statements("ndbcluster", "COMMENT='x'")
    names = [re.search(r"TABLE (\w+)", statement)[1] for statement in statements]
    assert names == list(tables.ROWS_AT_1)
    assert all(statement.endswith("ENGINE=ndbcluster COMMENT='x'") for statement in statements)
    assert [statement.replace("ndbcluster COMMENT='x'", "innodb") for statement in statements] == (
        tables.statements("innodb")
    )


@pytest.mark.parametrize(
    ("table", "rows", "scale", "wrong"),
    [
        ("nation", 25, 0.01, ""),
        ("orders", 15_000, 0.01, ""),
        ("orders", 14_999, 0.01, "15000 in orders"),
        ("partsupp", 700, 0.001, ""),
        ("partsupp", 7_900, 0.01, "8000 in partsupp"),
        ("part", 57_999, 0.29, ""),
        ("partsupp", 231_996, 0.29, ""),
        ("lineitem", 60_175, 0.01, ""),
        ("lineitem", 30_000, 0.01, "60012 in lineitem"),
    ],
)
def test_too_few_rows_are_noticed(table: str, rows: int, scale: float, wrong: str) -> None:
    """All tables but the items of orders have an exact number, if there are suppliers enough."""
    assert tables.wrong_count(table, rows, scale) == wrong


ORDERED = Query(5, "", ("n",))
LIMITED = Query(3, "LIMIT 5", ("n",))
UNORDERED = Query(6, "", ())
COLUMNS = ["n", "name"]
EXPECTED = [["3", "a"], ["2", "b"], ["2", "c"], ["1", "d"], ["1", "e"]]


def test_values_become_text_that_json_can_hold() -> None:
    """Exact numbers keep their digits, and NULL stays apart from the word."""
    row = (Decimal("1.50"), datetime.date(1995, 3, 15), None, 7)
    assert queries.as_text([row]) == [["1.50", "1995-03-15", None, "7"]]


def test_equal_results_differ_in_nothing() -> None:
    """Also if rows that are equal in the order have changed places."""
    swapped = [EXPECTED[i] for i in (0, 2, 1, 4, 3)]
    for rows in (EXPECTED, swapped):
        assert queries.difference(ORDERED, COLUMNS, rows, EXPECTED) == ""


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
    assert queries.difference(ORDERED, COLUMNS, rows, EXPECTED) == said


def test_a_limit_may_cut_off_either_of_equal_rows() -> None:
    """Only those that are as low in the order as the last one."""
    last = [*EXPECTED[:4], ["1", "f"]]
    assert queries.difference(LIMITED, COLUMNS, last, EXPECTED) == ""
    inside = [["3", "x"], *EXPECTED[1:]]
    assert "should not be there" in queries.difference(LIMITED, COLUMNS, inside, EXPECTED)


def test_a_result_below_its_limit_is_compared_whole() -> None:
    """Nothing was cut off, so no other row may be the last."""
    short = Query(18, "LIMIT 100", ("n",))
    last = [*EXPECTED[:4], ["1", "f"]]
    assert "should not be there" in queries.difference(short, COLUMNS, last, EXPECTED)


def test_a_result_of_one_row_needs_no_order() -> None:
    """Its values count."""
    assert queries.difference(UNORDERED, ["revenue"], [["1.23"]], [["1.23"]]) == ""
    assert "1.24" in queries.difference(UNORDERED, ["revenue"], [["1.24"]], [["1.23"]])


EXPLAINED = [
    ("region", "Parent of 3 pushed join@1; Using where with pushed condition"),
    ("nation", "Child of 'region' in pushed join@1; Using where"),
    ("customer", "Child of 'nation' in pushed join@1"),
    ("<derived2>", None),
    ("orders", "Parent of 2 pushed join@2"),
    ("lineitem", "Child of 'orders' in pushed join@2"),
    ("part", "Using where with pushed condition"),
    (None, "no matching row in const table"),
]


def test_pushed_joins_are_counted_with_their_tables() -> None:
    """Temporary tables are not read from NDB, and rows without a table are not read at all."""
    assert client.joins(EXPLAINED) == {"tables": 6, "joins": 2, "joined": 5}
    assert client.joins([("lineitem", "Using where")]) == {"tables": 1, "joins": 0, "joined": 0}


def test_times_are_summed_up() -> None:
    """A client that never finished the query has no times."""
    times_s = client._summary([0.3, 0.1, 0.2])
    assert times_s["executions"] == 3
    assert (times_s["min"], times_s["p95"], times_s["max"]) == (0.1, 0.3, 0.3)
    assert client._summary([]) == {"executions": 0}
