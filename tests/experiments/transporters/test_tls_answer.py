"""What the lab says of the cost of TLS on NDB's own links. The datasets are made up."""

from __future__ import annotations

import pandas as pd
import pytest

from made_up import Double, contrasted, double
from ndblab.judging import answers


def measured(ratio: float, name: str = "tls-best", **more: object) -> Double:
    sides = {"a": (2, 32, {"qps": 1000 * ratio}), "b": (2, 32, {"qps": 1000.0})}
    return contrasted(double(lambda n, c: 100.0), name, sides, **more)


def said(data: Double) -> str:
    return str(answers.answer("tls", pd.DataFrame(columns=["verdict"]), data))


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.8, "cost 20 % of the best throughput (18 to 21 %)"),
        (1.2, "added 20 % to the best throughput (18 to 22 %)"),
    ],
)
def test_a_cost_is_certain_if_its_interval_leaves_out_equality(ratio: float, words: str) -> None:
    """It is told with its interval and the load; the other load is open."""
    text = said(measured(ratio))
    assert words in text
    assert "what TLS does to the throughput with one client per server" in text


def test_an_interval_around_equality_decides_nothing() -> None:
    """Nor do so few blocks that there is none."""
    equal = said(measured(1.0, spread=0.05))
    assert "no cost is certain here" in equal
    assert "whether TLS changes the best throughput (+1.1 %" in equal
    few = said(measured(0.5, blocks=1))
    assert "no cost is certain here" in few
    assert "what TLS does to the best throughput (-49 %)" in few
