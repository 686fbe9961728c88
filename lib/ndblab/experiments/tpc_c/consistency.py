"""The consistency conditions of TPC-C (specification, clause 3.3.2), checked after a load.

NDB sends the rows that SQL aggregates to the MySQL server. So conditions on whole tables are
checked where the tables are short (1, 2, 3, 8, 9), and conditions on orders (4 to 7) and customers
(12) only for orders that the load entered or delivered. Condition 10 follows from 12 and 8 for a
customer whose payments are right, and 11 holds before the first delivery only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from pymysql.cursors import Cursor

District = tuple[int, int]
"""A warehouse and the number of its district."""
MOST_CUSTOMERS = 10
"""Customers for whom condition 12 is checked: the specification asks for a few at random."""
# The plans are spelt out: see `database` on the statistics of indexes.
_CUSTOMER = """SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment, (
 SELECT STRAIGHT_JOIN COALESCE(SUM(ol_amount), 0) FROM orders FORCE INDEX (by_customer)
 JOIN order_line FORCE INDEX (PRIMARY)
 ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
 WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id AND ol_delivery_d IS NOT NULL)
 FROM customer FORCE INDEX (PRIMARY) WHERE (c_w_id, c_d_id, c_id) IN ({})"""
_ORDERS = """SELECT o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt
 FROM orders FORCE INDEX (PRIMARY) WHERE {}"""
_LINES = """SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*), SUM(ol_delivery_d IS NULL)
 FROM order_line FORCE INDEX (PRIMARY) WHERE {} GROUP BY 1, 2, 3"""


class Stand(NamedTuple):
    """Where the orders of a district stand: the next number, the oldest and newest undelivered."""

    next_order: int
    oldest: int
    newest: int


class Order(NamedTuple):
    """An order; `line_count` is what it states, `lines` is how many lines there are."""

    district: District
    number: int
    customer: int
    carrier: int | None
    line_count: int
    lines: int
    undelivered_lines: int


def stands(cursor: Cursor) -> dict[District, Stand]:
    """Return where each district's orders stand; if all are delivered, the open range is empty."""
    open_orders = _undelivered(cursor)
    by_district = {}
    for district, next_order, _ in _districts(cursor):
        oldest, newest, _ = open_orders.get(district, (next_order, next_order - 1, 0))
        by_district[district] = Stand(next_order, oldest, newest)
    return by_district


def violations(cursor: Cursor, before: Mapping[District, Stand]) -> list[str]:
    """Return each violation in one line; nothing if all conditions hold."""
    after = stands(cursor)
    orders = list(_orders(cursor, before, after))
    return [
        *_of_districts(cursor, after),
        *(text for order in orders for text in of_order(order, after[order.district])),
        *_of_customers(cursor, delivered(orders, before, after)),
    ]


def of_order(order: Order, stand: Stand) -> Iterator[str]:
    """Check conditions 5, 6 and 7; condition 4 is the sum of 6 over a district."""
    where = f"order {order.number} of district {order.district}"
    is_open = stand.oldest <= order.number <= stand.newest
    if (order.carrier is None) != is_open:
        carrier = "no carrier" if order.carrier is None else f"carrier {order.carrier}"
        yield f"5: {where} has {carrier} and is {'' if is_open else 'not '}in new_order"
    if order.lines != order.line_count:
        yield f"6: {where} has {order.lines} lines, not {order.line_count}"
    if order.undelivered_lines != (order.lines if order.carrier is None else 0):
        yield f"7: {where} has {order.undelivered_lines} undelivered lines of {order.lines}"


def spans(before: Stand, after: Stand) -> list[tuple[int, int]]:
    """Return the range of orders delivered in between, and the range of orders entered."""
    ranges = [(before.oldest, after.oldest - 1), (before.next_order, after.next_order - 1)]
    return [(first, last) for first, last in ranges if first <= last]


def delivered(
    orders: Iterable[Order], before: Mapping[District, Stand], after: Mapping[District, Stand]
) -> list[tuple[int, int, int]]:
    """Return customers whose orders were delivered in between, at most `MOST_CUSTOMERS`."""
    customers = {
        (*order.district, order.customer): None
        for order in orders
        if before[order.district].oldest <= order.number < after[order.district].oldest
    }
    return list(customers)[:MOST_CUSTOMERS]


def _of_districts(cursor: Cursor, after: Mapping[District, Stand]) -> Iterator[str]:
    """Check conditions 1, 2, 3, 8 and 9."""
    open_orders, newest, paid = _undelivered(cursor), _newest(cursor, after), _payments(cursor)
    sums: dict[int, Decimal] = defaultdict(Decimal)
    received: dict[int, Decimal] = defaultdict(Decimal)
    for district, next_order, ytd in _districts(cursor):
        payments = paid.get(district, Decimal(0))
        sums[district[0]] += ytd
        received[district[0]] += payments
        if newest[district] != next_order - 1:
            yield (f"2: the last order of district {district} is {newest[district]}, its next "
                   f"{next_order}")  # fmt: skip
        if ytd != payments:
            yield f"9: district {district} has received {ytd}, its history says {payments}"
        if district not in open_orders:
            continue
        low, high, count = open_orders[district]
        if high != next_order - 1:
            yield f"2: the newest of new_order in district {district} is {high}, not the last order"
        if high - low + 1 != count:
            yield f"3: new_order of district {district} has {count} rows from {low} to {high}"
    cursor.execute("SELECT w_id, w_ytd FROM warehouse")
    for warehouse, ytd in cursor.fetchall():
        if ytd != sums[warehouse]:
            yield f"1: warehouse {warehouse} has {ytd}, its districts {sums[warehouse]}"
        if ytd != received[warehouse]:
            yield f"8: warehouse {warehouse} has {ytd}, its history says {received[warehouse]}"


def _of_customers(cursor: Cursor, customers: list[tuple[int, int, int]]) -> Iterator[str]:
    """Check condition 12: what was delivered to a customer is what was paid or is owed."""
    if not customers:
        return
    cursor.execute(_CUSTOMER.format(", ".join(map(str, customers))))
    for *customer, balance, amount in cursor.fetchall():
        if balance != amount:
            yield f"12: customer {tuple(customer)} owes and paid {balance}, was delivered {amount}"


def _districts(cursor: Cursor) -> list[tuple[District, int, Decimal]]:
    cursor.execute("SELECT d_w_id, d_id, d_next_o_id, d_ytd FROM district")
    return [((w, d), next_order, ytd) for w, d, next_order, ytd in cursor.fetchall()]


def _undelivered(cursor: Cursor) -> dict[District, tuple[int, int, int]]:
    cursor.execute(
        "SELECT no_w_id, no_d_id, MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM new_order GROUP BY 1, 2"
    )
    return {(w, d): (low, high, count) for w, d, low, high, count in cursor.fetchall()}


def _newest(cursor: Cursor, districts: Iterable[District]) -> dict[District, int]:
    """Return the last order of each district; each is one lookup in the ordered index."""
    lookups = (
        f"(SELECT {w}, {d}, MAX(o_id) FROM orders WHERE o_w_id = {w} AND o_d_id = {d})"
        for w, d in districts
    )
    cursor.execute(" UNION ALL ".join(lookups))
    return {(w, d): last for w, d, last in cursor.fetchall()}


def _payments(cursor: Cursor) -> dict[District, Decimal]:
    cursor.execute("SELECT h_w_id, h_d_id, SUM(h_amount) FROM history GROUP BY 1, 2")
    return {(w, d): amount for w, d, amount in cursor.fetchall()}


def _orders(
    cursor: Cursor, before: Mapping[District, Stand], after: Mapping[District, Stand]
) -> Iterator[Order]:
    """Yield the orders that were entered or delivered in between."""
    ranges = {district: spans(before[district], after[district]) for district in after}
    if not any(ranges.values()):
        return
    cursor.execute(_LINES.format(_between("ol_w_id", "ol_d_id", "ol_o_id", ranges)))
    lines = {(w, d, o): (count, int(missing)) for w, d, o, count, missing in cursor.fetchall()}
    cursor.execute(_ORDERS.format(_between("o_w_id", "o_d_id", "o_id", ranges)))
    for w, d, number, customer, carrier, line_count in cursor.fetchall():
        there, undelivered = lines.get((w, d, number), (0, 0))
        yield Order((w, d), number, customer, carrier, line_count, there, undelivered)


def _between(
    warehouse: str, district: str, order: str, ranges: Mapping[District, list[tuple[int, int]]]
) -> str:
    return " OR ".join(
        f"{warehouse} = {w} AND {district} = {d} AND {order} BETWEEN {first} AND {last}"
        for (w, d), of_district in ranges.items()
        for first, last in of_district
    )
