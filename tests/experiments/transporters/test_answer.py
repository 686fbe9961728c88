"""What shared memory, spinning and TLS on NDB's own links did, in words."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from made_up import Double, contrasted, double, slices_use, verdict, with_plan
from ndblab.experiments.transporters.answer import gain
from ndblab.judging import answers
from ndblab.judging.verdict import NOT_TESTABLE
from ndblab.measuring import recorded
from ndblab.publishing import verdict_tables
from ndblab.statistics import ratio_tables


def of_shared_memory() -> Double:
    sides = {"a": (1, 8, {"qps": 1250.0}), "b": (1, 8, {"qps": 1000.0})}
    return contrasted(double(servers=(1,)), "reads-best", sides, claims=("T-shm-gain",))


def under_quotas(data: Double) -> list[str]:
    """Give what the answer says of the gain, without clauses on verdicts."""
    table = pd.DataFrame([verdict(with_plan(data, 0.25), "T-shm-gain")])
    return [str(words) for words in gain(data, table) if isinstance(words, str)]


def test_where_quotas_rule_a_claim_out_the_measured_change_is_still_told() -> None:
    """As a change under quotas, which is no finding on the transporters."""
    said = under_quotas(of_shared_memory())
    assert said[0].endswith("the gain of shared memory is not measurable")
    assert said[1].startswith("under CPU quotas, the change against TCP was +25 %")


def test_a_gain_of_open_size_is_still_a_gain() -> None:
    """The interval excludes no gain and not the published one; one start says nothing of others."""
    sides = {"a": (1, 8, {"qps": 1250.0}), "b": (1, 8, {"qps": 1000.0})}
    data = contrasted(double(servers=(1,)), "reads-best", sides, claims=("T-shm-gain",))
    ends = {"measured": 1.09, "low": 1.01, "high": 1.19, "published": "1.2"}
    row = {"id": "T-shm-gain", "verdict": "inconclusive", **ends}
    told = "shared memory gains over TCP; by how much is open: +9 % (+1 to +19 %, together)"
    for reason, is_told in (("all recordings together: 1.09", 1), ("one cluster start only", 0)):
        said = gain(data, pd.DataFrame([{**row, "reason": reason}]))
        assert any(str(words).endswith(told) for words in said) == is_told


def test_what_spinning_does_is_told_only_where_it_is_clear() -> None:
    """Around no change, a cause would be given for nothing."""
    data = recorded.obtain("shm-vs-tcp")
    answer = answers.answer(data.experiment, verdict_tables.of(data), data)
    assert answer
    assert "no certain effect" not in str(answer)


@pytest.mark.parametrize(("ratio", "causes"), [(0.8, 1), (1.2, 0)])
def test_only_a_loss_is_put_down_to_the_cpu_of_spinning(
    ratio: float, causes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes CPU from queries makes none of them faster."""
    ends = {"ratio": ratio, "low": ratio - 0.1, "high": ratio + 0.1}
    spun = pd.DataFrame([{"variant": "shm-spin", "clients": 1, **ends}])
    monkeypatch.setattr(ratio_tables, "variants", lambda *_: spun)
    row = {"id": "T-spin-low", "verdict": NOT_TESTABLE, "low": 1.0, "published": "", "reason": ""}
    said = map(str, gain(of_shared_memory(), pd.DataFrame([row])))
    [changed] = [words for words in said if "throughput of OLTP read-write by 20 %" in words]
    assert changed.count("by construction") == causes


def test_the_cpu_time_per_query_tells_where_a_gain_comes_from() -> None:
    """It is told by role where it differs, and where the claim itself is ruled out, too."""
    data = slices_use(of_shared_memory(), lambda row: {"mysqld": 30.0, "ndbmtd": 0.01 * row["qps"]})
    [cost] = [words for words in under_quotas(data) if " took " in words]
    begin = "with 8 clients, a point select over shared memory took 20 % less CPU in mysqld"
    assert cost.startswith(begin)
    assert "ndbmtd" not in cost


def with_costs(ratio: float, other: int = 8, earlier: tuple[Double, ...] = ()) -> Double:
    """Give a recording whose servers take this ratio of CPU a query; TCP has `other` clients."""
    sides = {"a": (1, 8, {"qps": 1000.0 / ratio}), "b": (1, other, {"qps": 1000.0})}
    data = contrasted(double(servers=(1,)), "reads-best", sides, claims=("T-shm-gain",))
    return replace(slices_use(data, lambda _: {"mysqld": 30.0}), earlier=earlier)


def test_the_cpu_time_per_query_is_compared_at_equal_clients_only() -> None:
    """It changes with the clients over any transporter: a recording whose sides differ in them
    says nothing, and does not count as an earlier one.
    """
    unequal, both = with_costs(1.6, other=32), (with_costs(0.9), with_costs(0.8))
    for newest in (unequal, replace(unequal, earlier=both)):
        assert not [words for words in under_quotas(newest) if " took " in words]
    [cost] = [w for w in under_quotas(with_costs(0.8, earlier=(unequal,))) if " took " in w]
    assert "took 20 % less CPU in mysqld" in cost
    assert "recordings" not in cost
    [cost] = [w for w in under_quotas(with_costs(0.8, earlier=(unequal, both[0]))) if "took" in w]
    assert cost.endswith("in each of 2 recordings (-10 and -20 %)")


def with_tls(ratio: float, **more: object) -> str:
    """Say what TLS costs where throughput with it is so many times that without."""
    sides = {"a": (2, 32, {"qps": 1000 * ratio}), "b": (2, 32, {"qps": 1000.0})}
    data = contrasted(double(lambda n, c: 100.0), "tls-best", sides, **more)
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
    text = with_tls(ratio)
    assert words in text
    assert "what TLS does to the throughput with one client per server" in text


def test_an_interval_around_equality_decides_nothing() -> None:
    """Nor do so few blocks that there is none."""
    equal = with_tls(1.0, spread=0.05)
    assert "no cost is certain here" in equal
    assert "whether TLS changes the best throughput (+1.1 %" in equal
    few = with_tls(0.5, blocks=1)
    assert "no cost is certain here" in few
    assert "what TLS does to the best throughput (-49 %)" in few
