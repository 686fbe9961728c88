"""The consistency conditions of single orders, without a database."""

from __future__ import annotations

import pytest

from ndblab.experiments.tpc_c import consistency
from ndblab.experiments.tpc_c.consistency import Order, Stand

DISTRICT = (2, 7)
GOOD = Order(DISTRICT, 40, customer=9, carrier=3, line_count=6, lines=6, undelivered_lines=0)
OPEN = GOOD._replace(number=60, carrier=None, undelivered_lines=6)
STAND = Stand(next_order=101, oldest=51, newest=100)


@pytest.mark.parametrize(
    ("order", "violated"),
    [
        (GOOD, []),
        (OPEN, []),
        (GOOD._replace(carrier=None, undelivered_lines=6), ["5"]),
        (OPEN._replace(carrier=3, undelivered_lines=0), ["5"]),
        (GOOD._replace(lines=5), ["6"]),
        (GOOD._replace(undelivered_lines=1), ["7"]),
        (OPEN._replace(lines=0, undelivered_lines=0), ["6"]),
    ],
)
def test_an_order_keeps_conditions_5_6_and_7(order: Order, violated: list[str]) -> None:
    """What is violated is named with its number, order and district."""
    found = list(consistency.of_order(order, STAND))
    assert [text.partition(":")[0] for text in found] == violated
    assert all("district (2, 7)" in text for text in found)


def test_orders_to_check_are_those_delivered_and_those_entered() -> None:
    """Nothing, if nothing happened."""
    assert consistency.spans(STAND, STAND._replace(next_order=104, oldest=53)) == [
        (51, 52),
        (101, 103),
    ]
    assert consistency.spans(STAND, STAND) == []


def test_customers_to_check_are_those_of_delivered_orders() -> None:
    """Each once."""
    orders = [GOOD._replace(number=51), GOOD._replace(number=52), OPEN]
    after = {DISTRICT: STAND._replace(oldest=53)}
    assert consistency.delivered(orders, {DISTRICT: STAND}, after) == [(2, 7, 9)]
