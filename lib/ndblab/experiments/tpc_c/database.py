"""The tables of TPC-C: their statements, partitioned in either way, and how many rows they have.

The specification (clause 4.3.3) has rows that no transaction reads, or that stand for work done
long ago. The lab leaves out what go-tpc does not need, to load a warehouse in seconds: no payments
were made yet (history is empty; balances and year-to-date sums are 0), 60 instead of 900 orders of
a district are not yet delivered, and each delivered order has one line instead of 5 to 15.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError

if TYPE_CHECKING:
    from ndblab.planning.profile import Profile

BY_WAREHOUSE, BY_KEY = DATABASES = ("tpcc", "tpcc_by_key")
"""Databases with the same rows: their tables are partitioned by warehouse, or by primary key."""
ITEMS = 100_000
DISTRICTS, CUSTOMERS = 10, 3_000
"""Districts of a warehouse; customers of a district, and its orders. go-tpc has the specification's
numbers built in."""
UNDELIVERED = 60
LINES, MOST_LINES = 5, 15
"""Fewest and most lines of an order that is not delivered."""
_STEP = MOST_LINES - LINES + 1
_SCHEMA = Path(__file__).with_name("schema.sql")


def lines(order: int) -> int:
    """Return how many lines an order of the initial rows has."""
    return 1 if order <= CUSTOMERS - UNDELIVERED else LINES + order * 7 % _STEP


def per_warehouse() -> dict[str, int]:
    """Return the rows that a warehouse has in each table but `item`."""
    of_district = {
        "district": 1,
        "customer": CUSTOMERS,
        "history": 0,
        "new_order": UNDELIVERED,
        "orders": CUSTOMERS,
        "order_line": sum(map(lines, range(1, CUSTOMERS + 1))),
    }
    scaled = {name: DISTRICTS * rows for name, rows in of_district.items()}
    return {"warehouse": 1, **scaled, "stock": ITEMS}


ROWS_PER_WAREHOUSE = len(DATABASES) * sum(per_warehouse().values())
"""Rows of a warehouse in both databases, without items."""


def counts(warehouses: int) -> dict[str, int]:
    """Return the rows of each table in one database."""
    return {**{n: warehouses * rows for n, rows in per_warehouse().items()}, "item": ITEMS}


def warehouses(size: Profile) -> int:
    """Return the number of warehouses of a profile: its tables.

    Raises
    ------
    LabError
        If it asks for another number of rows in each.
    """
    if size.table_size != ROWS_PER_WAREHOUSE:
        raise LabError(
            "A warehouse of TPC-C has a fixed number of rows",
            found=f"--table-size {size.table_size}",
            expected=f"{ROWS_PER_WAREHOUSE}, in both databases together",
            next_step="Drop --table-size; --tables is the number of warehouses.",
        )
    return size.tables


def statements(database: str, options: str = "") -> list[str]:
    """Return the statements that create the tables of a database.

    Parameters
    ----------
    options : end each of them.
    """
    text = re.sub(r"^--.*$", "", _SCHEMA.read_text(), flags=re.MULTILINE)
    found = []
    for statement in filter(None, (part.strip() for part in text.split(";"))):
        columns, _, key = statement.partition(") BY ")
        partition = f"PARTITION BY KEY ({key})" if key and database == BY_WAREHOUSE else ""
        table = f"{columns.removesuffix(')')}) ENGINE=ndbcluster"
        found.append(" ".join(filter(None, (table, options, partition))))
    return found
