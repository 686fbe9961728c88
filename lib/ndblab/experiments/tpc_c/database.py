"""The tables of TPC-C: their statements, for either partitioning, and their rows; a program that
fills them.

The specification (clause 4.3.3) has rows that no transaction reads, or that stand for work done
long ago. The lab leaves out what go-tpc does not need, to load a warehouse in seconds: no payments
were made yet (history is empty; balances and year-to-date sums are 0), 60 instead of 900 orders of
a district are not yet delivered, and each delivered order has one line instead of 5 to 15.

The MySQL server makes the rows itself: a client that makes and sends them takes several times as
long, since most of a row is random text. They are the same in both databases, and in every load but
for the time of day. The last line that the program prints is an error that a user can read, or the
number of rows.

It computes no index statistics. NDB takes them from one partition of a table, and tables of few
warehouses leave some partitions empty: the two databases would have different plans for the same
statements.
"""

from __future__ import annotations

import argparse
import itertools
import queue
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.workloads.session import connected

if TYPE_CHECKING:
    from ndblab.planning.profile import Profile

TPCC, TPCC_BY_KEY = DATABASES = ("tpcc", "tpcc_by_key")
"""Databases with the same rows: their tables are partitioned by warehouse, or by primary key."""
ITEMS = 100_000
DISTRICTS, CUSTOMERS = 10, 3_000
"""Districts of a warehouse; customers of a district, and its orders. go-tpc has the specification's
numbers built in."""
UNDELIVERED = 60
LINES, MOST_LINES = 5, 15
"""Fewest and most lines of an order that is not delivered."""
_SCHEMA = Path(__file__).with_name("schema.sql")
ROWS_AT_ONCE = 5_000
"""A transaction has at most 32768 operations (MaxNoOfConcurrentOperations)."""
_DELIVERED = CUSTOMERS - UNDELIVERED
_SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
_NUMBERS = "n (i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM n WHERE i < {1})"
_CODE = "'CA', '123411111'"
# From the text h of a row: 26 to 50 characters, in every tenth row with "ORIGINAL" in them.
_DATA = "IF(i % 10, LEFT(h, 26 + i % 25), INSERT(LEFT(h, 26 + i % 25), 9, 8, 'ORIGINAL'))"
_STEP = MOST_LINES - LINES + 1
_LINES = f"IF(i <= {_DELIVERED}, 1, {LINES} + i * 7 % {_STEP})"
CONNECTIONS = 3
"""A connection uses at most one CPU of the MySQL server, and waits equally long for data nodes."""


def lines(order: int) -> int:
    """Return how many lines an order of the initial rows has; the same as `_LINES`."""
    return 1 if order <= _DELIVERED else LINES + order * 7 % _STEP


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

    Raises LabError if it asks for another number of rows in each.
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
    """Return the statements that create a database's tables with these `options` of each."""
    text = re.sub(r"^--.*$", "", _SCHEMA.read_text(), flags=re.MULTILINE)
    created = []
    for statement in filter(None, (part.strip() for part in text.split(";"))):
        columns, _, key = statement.partition(") BY ")
        partition = f"PARTITION BY KEY ({key})" if key and database == TPCC else ""
        table = f"{columns.removesuffix(')')}) ENGINE=ndbcluster"
        created.append(" ".join(filter(None, (table, options, partition))))
    return created


def main(arguments: Sequence[str]) -> None:
    """Create the tables, fill them, and count their rows."""
    parser = argparse.ArgumentParser(prog="database")
    parser.add_argument("--warehouses", type=int, required=True)
    parser.add_argument("--table-options", default="")
    parser.add_argument("socket")
    options = parser.parse_args(arguments)
    try:
        for database in DATABASES:
            _create(options.socket, database, options.table_options)
        _fill(options.socket, options.warehouses)
        print(sum(_checked(options.socket, name, options.warehouses) for name in DATABASES))
    except (LabError, pymysql.Error, OSError) as error:
        detail = f": {error.found}" if isinstance(error, LabError) and error.found else ""
        sys.exit(f"{getattr(error, 'what', error)}{detail}")


def _create(socket: str, database: str, options: str) -> None:
    with connected(socket) as cursor:
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET latin1 COLLATE latin1_bin")
        cursor.execute(f"USE {database}")
        for statement in statements(database, options):
            cursor.execute(statement)


def _fill(socket: str, warehouses: int) -> None:
    todo: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    inserts = [*of_items()]
    for warehouse in range(1, warehouses + 1):
        inserts += of_warehouse(warehouse)
    for job in itertools.product(DATABASES, inserts):
        todo.put(job)

    def work(_: int) -> None:
        with connected(socket) as cursor:
            cursor.execute(f"SET SESSION cte_max_recursion_depth = {ITEMS}")
            while True:
                try:
                    database, statement = todo.get_nowait()
                except queue.Empty:
                    return
                cursor.execute(f"USE {database}")
                cursor.execute(statement)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        # An error of any of them is raised here, once the others have emptied the queue.
        list(pool.map(work, range(CONNECTIONS)))


def _checked(socket: str, database: str, warehouses: int) -> int:
    """Return the rows of all tables; LabError if the count of one is not as wanted."""
    wanted = counts(warehouses)
    with connected(socket, database=database) as cursor:
        for name, rows_wanted in wanted.items():
            cursor.execute(f"SELECT COUNT(*) FROM {name}")
            [(there,)] = cursor.fetchall()
            if there != rows_wanted:
                raise LabError(f"Table {database}.{name} was not filled",
                               found=f"{there} of {rows_wanted} rows")  # fmt: skip
    return sum(wanted.values())


def of_items() -> Iterator[str]:
    """Return the statements for table item."""
    for first, last in _spans(ITEMS):
        yield _insert(
            "item (i_id, i_im_id, i_name, i_price, i_data)",
            "i, 1 + CRC32(h) % 10000, LEFT(h, 14 + i % 11), (100 + CRC32(h) % 9901) / 100,"
            f" {_DATA}",
            first, last, "item",
        )  # fmt: skip


def of_warehouse(w: int) -> Iterator[str]:
    """Return the statements for all rows of a warehouse."""
    address = f"LEFT(h, 8), LEFT(h, 16), RIGHT(h, 16), LEFT(h, 12), {_CODE}"
    tax = "CRC32(h) % 2001 / 10000"
    yield _insert(
        "warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd)",
        f"i, {address}, {tax}, 0", w, w, "warehouse",
    )  # fmt: skip
    yield _insert(
        "district (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax,"
        " d_ytd, d_next_o_id)",
        f"i, {w}, {address}, {tax}, 0, {CUSTOMERS + 1}", 1, DISTRICTS, f"district/{w}",
    )  # fmt: skip
    dists = ", ".join(f"s_dist_{n:02d}" for n in range(1, 11))
    texts = ", ".join(f"SUBSTR(h, {n}, 24)" for n in range(1, 11))
    for first, last in _spans(ITEMS):
        yield _insert(
            f"stock (s_i_id, s_w_id, s_quantity, {dists}, s_ytd, s_order_cnt, s_remote_cnt,"
            " s_data)",
            f"i, {w}, 10 + CRC32(h) % 91, {texts}, 0, 0, 0, {_DATA}", first, last, f"stock/{w}",
        )  # fmt: skip
    for d in range(1, DISTRICTS + 1):
        yield from _of_district(w, d)


def _of_district(w: int, d: int) -> Iterator[str]:
    # NURand(255, 0, 999) of clause 2.1.6, after each of the 1000 names once.
    name = "IF(i <= 1000, i - 1, (CRC32(h) & 255 | CRC32(REVERSE(h)) % 1000) % 1000)"
    syllables = ", ".join(f"'{word}'" for word in _SYLLABLES)
    last_name = ", ".join(
        f"ELT({name} DIV {power} % 10 + 1, {syllables})" for power in (100, 10, 1)
    )
    yield _insert(
        "customer (c_id, c_d_id, c_w_id, c_last, c_middle, c_first, c_street_1, c_street_2, c_city,"
        " c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,"
        " c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data)",
        f"i, {d}, {w}, CONCAT({last_name}), 'OE', LEFT(h, 8 + i % 9), LEFT(h, 16), RIGHT(h, 16),"
        f" LEFT(h, 12), {_CODE}, LEFT(h, 16), NOW(), IF(CRC32(h) % 10, 'GC', 'BC'), 50000,"
        " CRC32(h) % 5001 / 10000, 0, 0, 0, 0, LEFT(REPEAT(h, 8), 300 + CRC32(h) % 201)",
        1, CUSTOMERS, f"customer/{w}/{d}",
    )  # fmt: skip
    # 1009 and the number of customers have no common divisor, so each customer has one order.
    yield _insert(
        "orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)",
        f"i, {d}, {w}, (i * 1009 + 7 * {d}) % {CUSTOMERS} + 1, NOW(),"
        f" IF(i <= {_DELIVERED}, 1 + i % 10, NULL), {_LINES}, 1",
        1, CUSTOMERS, f"orders/{w}/{d}",
    )  # fmt: skip
    yield _insert(
        "new_order (no_o_id, no_d_id, no_w_id)", f"i, {d}, {w}", _DELIVERED + 1, CUSTOMERS, ""
    )
    yield _insert(
        "order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,"
        " ol_quantity, ol_amount, ol_dist_info)",
        f"i, {d}, {w}, k, 1 + CRC32(CONCAT(h, k)) % {ITEMS}, {w},"
        f" IF(i <= {_DELIVERED}, NOW(), NULL), 5,"
        f" IF(i <= {_DELIVERED}, 0, (1 + CRC32(CONCAT(k, h)) % 999999) / 100), SUBSTR(h, k, 24)",
        1, CUSTOMERS, f"line/{w}/{d}", f"JOIN l ON k <= {_LINES}",
    )  # fmt: skip


def _insert(into: str, select: str, first: int, last: int, name: str, join: str = "") -> str:
    """Return the INSERT of a row for each number i, with a text h of 64 digits from name and i."""
    numbers = _NUMBERS.format(first, last)
    lines = f"l (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM l WHERE k < {MOST_LINES})"
    named = f"(SELECT i, SHA2(CONCAT('{name}/', i), 256) AS h FROM n) AS named"
    made = f"WITH RECURSIVE {numbers}, {lines} SELECT {select} FROM {named} {join}"
    return f"INSERT INTO {into} {made}".rstrip()


def _spans(rows: int) -> Iterator[tuple[int, int]]:
    for first in range(1, rows + 1, ROWS_AT_ONCE):
        yield first, min(rows, first + ROWS_AT_ONCE - 1)


if __name__ == "__main__":
    main(sys.argv[1:])
