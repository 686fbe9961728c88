"""The texts of the queries and of the tables."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from ndblab.experiments.tpc_h import database as tables
from ndblab.experiments.tpc_h import queries

COLUMNS = re.compile(r"^    ([a-z]+_[a-z]+) (\w+(?:\([\d, ]+\))?) NOT NULL", re.MULTILINE)


@pytest.mark.parametrize("number", queries.NUMBERS)
def test_every_query_is_there_whole(number: int) -> None:
    """It is one statement of SELECT, without a parameter left open."""
    query = queries.read(number, 0.01)
    assert query.sql.startswith(("SELECT", "WITH"))
    assert not set(query.sql) & set("{};?:")
    assert query.sql.count("(") == query.sql.count(")")


@pytest.mark.parametrize(
    ("number", "keys", "limited"),
    [
        (1, ("l_returnflag", "l_linestatus"), False),
        (3, ("revenue", "o_orderdate"), True),
        (6, (), False),
        (13, ("custdist", "c_count"), False),
        (21, ("numwait", "s_name"), True),
    ],
)
def test_the_order_of_a_result_is_known(number: int, keys: tuple[str, ...], limited: bool) -> None:
    """By the columns of the last ORDER BY; a query of one row has none."""
    query = queries.read(number, 1)
    assert (query.keys, query.limited) == (keys, limited)


@pytest.mark.parametrize(("scale", "fraction"), [(1, "0.0001"), (0.01, "0.01"), (0.001, "0.1")])
def test_the_fraction_of_query_11_follows_the_scale_factor(scale: float, fraction: str) -> None:
    """It is an exact number, as a float would make MySQL compute with floats."""
    [found] = re.findall(r"\* ([\d.]+)\n", queries.read(11, scale).sql)
    assert Decimal(found) == Decimal(fraction)


def test_columns_that_are_joined_have_one_type() -> None:
    """NDB pushes a join only of identical types: every key is the same kind of number."""
    text = "\n".join(tables.statements("ndbcluster"))
    types = dict(COLUMNS.findall(text))
    assert len(types) == 61
    keys = {name: kind for name, kind in types.items() if name.endswith("key")}
    assert len(keys) == 15
    assert set(keys.values()) == {"INT"}


def test_every_statement_names_the_engine_and_ends_with_the_options() -> None:
    """The tables of NDB and of InnoDB differ in that alone."""
    found = tables.statements("ndbcluster", "COMMENT='x'")
    assert [re.search(r"TABLE (\w+)", each)[1] for each in found] == list(tables.ROWS_AT_1)
    assert all(each.endswith("ENGINE=ndbcluster COMMENT='x'") for each in found)
    assert [each.replace("ndbcluster COMMENT='x'", "innodb") for each in found] == (
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
        ("lineitem", 60_175, 0.01, ""),
        ("lineitem", 30_000, 0.01, "60012 in lineitem"),
    ],
)
def test_too_few_rows_are_noticed(table: str, rows: int, scale: float, wrong: str) -> None:
    """All tables but the items of orders have an exact number, if there are suppliers enough."""
    assert tables.wrong_count(table, rows, scale) == wrong
