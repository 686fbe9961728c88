"""What is said of another split of NDB threads, and advised. Made up, never a measurement."""

from __future__ import annotations

import pandas as pd
import pytest

from made_up import contrasted, double, with_plan
from ndblab.experiments.scaling.answer import balance, one_server
from ndblab.judging.clauses import Answer, compose

NOTHING_JUDGED = pd.DataFrame(columns=["id", "verdict"])


def answered(spread: float, gain: float = 1.0) -> Answer:
    """Answer by blocks in which both sides vary, and the split gains so many times."""
    sides = {"a": (16, 64, {"qps": 1000.0 * gain}), "b": (16, 64, {"qps": 1000.0})}
    data = contrasted(double(), "balance", sides, claims=("F9-next-step",), spread=spread)
    return compose(balance(data, NOTHING_JUDGED), NOTHING_JUDGED)


def test_no_pool_is_advised_while_more_clients_still_gain() -> None:
    """More clients than the best were never tried."""
    table = pd.DataFrame(columns=["id", "verdict", "measured"])
    rising = double(lambda n, c: 10.0 * c, servers=(1,), clients=(1, 2, 4), budget="shared")
    assert not compose(one_server(with_plan(rising), table), table).advice


def test_the_clients_of_a_load_are_those_that_were_measured() -> None:
    """A user may ask for fewer than the brief's 32."""
    sides = {"a": (1, 16, {"qps": 3000.0}), "b": (1, 1, {"qps": 1000.0})}
    data = contrasted(double(servers=(1,)), "load-1-k", sides, claims=("F4-cpu-with-load",))
    row = ("F4-cpu-with-load", "reproduced", 0.5, 0.4, 0.6)
    table = pd.DataFrame([row], columns=["id", "verdict", "measured", "low", "high"])
    said = compose(one_server(with_plan(data), table), table).certain
    assert any(part.startswith("from 1 to 16 clients without quotas, the data") for part in said)


def test_the_automatic_split_is_advised_where_another_is_known_to_gain_little() -> None:
    """The interval ends below 5 %."""
    answer = answered(0.005)
    [advice] = answer.advice
    assert advice.endswith("leave the split of threads to the data node: another split gained "
                           "less than 5 %")  # fmt: skip
    assert "open" not in answer.certain[0]


@pytest.mark.parametrize("gain", [0.9, 1.0, 1.2])
def test_where_another_split_may_gain_much_nothing_is_advised(gain: float) -> None:
    """Between a loss of half and twice as much, nothing is known."""
    answer = answered(0.3, gain)
    assert answer.certain[0].endswith("so whether another split gains is open")
    assert not answer.advice
    assert len(answer.certain[0].split()) <= 30


def test_a_split_that_gains_is_told_and_the_automatic_one_is_not_advised() -> None:
    """A clear gain of a tenth."""
    answer = answered(0.005, 1.1)
    assert "a split with more tc threads raised throughput by 10 %" in answer.certain[0]
    assert not answer.advice
