"""The tables of TPC-C, and the statements that fill them."""

from __future__ import annotations

import re

from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import rows


def test_only_one_database_is_partitioned_by_warehouse() -> None:
    """All tables but item, whose rows belong to no warehouse; both have the same columns."""
    mine, other = (tables.statements(name, "COMMENT='x'") for name in tables.DATABASES)
    assert len(mine) == len(other) == 9
    partitioned = [text for text in mine if "PARTITION BY KEY" in text]
    assert len(partitioned) == 8
    assert not any("PARTITION" in text for text in other)
    for text, plain in zip(mine, other, strict=True):
        assert re.sub(r" PARTITION BY KEY \((\w+_)?w_id\)", "", text) == plain
        assert plain.endswith("ENGINE=ndbcluster COMMENT='x'")


def test_the_rows_are_those_that_go_tpc_needs() -> None:
    """Its numbers of districts, customers and items; one order for each customer."""
    each = tables.per_warehouse()
    assert (each["district"], each["customer"], each["stock"]) == (10, 30_000, 100_000)
    assert each["orders"] == each["customer"]
    assert each["new_order"] == 10 * tables.UNDELIVERED
    undelivered = [tables.lines(n) for n in range(3000 - tables.UNDELIVERED + 1, 3001)]
    assert set(undelivered) == set(range(5, 16))
    assert each["order_line"] == 10 * (3000 - tables.UNDELIVERED + sum(undelivered))
    assert tables.counts(3)["item"] == 100_000
    assert tables.counts(3)["stock"] == 300_000


def test_every_table_has_statements_that_fit_a_transaction() -> None:
    """NDB limits the rows that one of them changes."""
    filled = [*rows.of_items(), *rows.of_warehouse(2)]
    names = [re.match(r"INSERT INTO (\w+) ", text)[1] for text in filled]
    assert set(names) == set(tables.counts(1)) - {"history"}
    for text in filled:
        span = re.search(r"SELECT (\d+) UNION ALL SELECT i \+ 1 FROM n WHERE i < (\d+)", text)
        first, last = span.groups()
        assert int(last) - int(first) < rows.ROWS_AT_ONCE
