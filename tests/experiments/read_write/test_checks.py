"""Checks on OLTP read/write. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.read_write import made_up
from made_up import Double, contrasted, decided, double, slices_use, verdict, with_plan

POINT = (4, 16)


def compared(name: str, ratio: float, **more: Any) -> Double:
    sides = {"a": (*POINT, {"qps": 1000 * ratio}), "b": (*POINT, {"qps": 1000.0})}
    return contrasted(double(servers=(1,)), name, sides, **more)


def nodes_use(ratio: float, a_pct: float, b_pct: float, **more: Any) -> Double:
    """Data nodes whose CPUs the two sides use up to this percentage; 50 and 25 are all of them."""
    used = {"a": a_pct, "b": b_pct}
    data = slices_use(
        compared("data-nodes", ratio, claims=("R-rw-servers",), **more),
        lambda row: {"ndbmtd": used[row["side"]], "mysqld": 80.0},
    )
    data = with_plan(data, 0.25, **{"half": {"ndbmtd": 0.0625}})
    data.manifest["contrasts"][-1]["b"]["point"]["variant"] = "half"
    return data


@pytest.mark.parametrize(("ratio", "expected"), [(2.0, "reproduced"), (1.4, "contradicted")])
def test_twice_the_cpus_of_the_data_nodes_carry_twice_the_load(ratio: float, expected: str):
    row = decided(nodes_use(ratio, 49.5, 24.8), "R-rw-servers")
    assert row.verdict == expected
    assert row.measured == pytest.approx(ratio, rel=0.02)


@pytest.mark.parametrize(
    ("ratio", "word", "why"),
    [
        (2.0, "by construction", "the quotas alone give 2.00; measured: "),
        (1.4, "not testable here", "excludes 2.00: the data nodes used "),
    ],
)
def test_twice_the_quota_is_no_finding(ratio: float, word: str, why: str):
    """A quota used up on both sides forces the ratio; what it does not force is said."""
    row = verdict(nodes_use(ratio, 49.5, 24.8), "R-rw-servers")
    assert row.verdict == word
    assert "use 99 % and 99 % of the CPU that they may use, limited by quotas" in row.reason
    assert why in row.reason


@pytest.mark.parametrize(("a_pct", "b_pct"), [(40.0, 24.8), (49.5, 20.0)])
@pytest.mark.parametrize("ratio", [2.0, 1.4])
def test_data_nodes_that_do_not_limit_say_nothing(ratio: float, a_pct: float, b_pct: float):
    """Neither for the claim nor against it."""
    row = verdict(nodes_use(ratio, a_pct, b_pct), "R-rw-servers")
    assert row.verdict == "not testable here"
    assert "90 % or more wanted" in row.reason


def test_what_data_nodes_use_without_load_is_told():
    """On 2 CPUs it is a third of half their share."""
    row = verdict(nodes_use(2.6, 49.5, 24.8), "R-rw-servers")
    assert "what they use without load by itself makes it 2.47" in row.reason


@pytest.mark.parametrize("budget", ["pinned", "shared"])
def test_only_quotas_halve_the_cpus_of_a_data_node(budget: str):
    dataset = replace(nodes_use(2.0, 49.5, 24.8), budget=budget)
    assert verdict(dataset, "R-rw-servers").verdict == "not testable here"


@pytest.mark.parametrize(("ratio", "expected"), [(1.3, "reproduced"), (1.8, "contradicted")])
def test_the_gain_of_a_filter_is_compared_with_the_sources_tops(ratio: float, expected: str):
    row = decided(compared("filter", ratio), "R-filter-gain")
    assert row.verdict == expected
    assert row.measured == pytest.approx(ratio, rel=0.02)


@pytest.mark.parametrize(("pct", "expected"), [(100.0, "reproduced"), (60.0, "contradicted")])
def test_cpus_of_servers_are_read_off_where_no_quota_divides_them(pct: float, expected: str):
    """sysbench does not count."""
    level = contrasted(double(servers=(1,)), "undivided", {"a": (*POINT, {})})
    used = {"mysqld": pct, "ndbmtd": 50.0, "sysbench": 45.0}
    row = decided(slices_use(level, lambda _: used), "R-filter-servers")
    assert row.verdict == expected
    assert row.measured == pytest.approx(pct / 50)


def swept(**more: Any) -> Double:
    return replace(double(), runs=made_up.runs(), **more)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("R-rw-top", "transactions/s with 4 servers and 32 clients"),
        ("R-rw-server", "transactions/s with 1 server and 32 clients"),
        ("R-base-latency", "ms with 1 server and 1 client"),
    ],
)
def test_another_machines_values_are_shown_and_not_judged(name: str, words: str):
    row = verdict(swept(), name)
    assert row.verdict == "not comparable"
    assert words in row.reason


def test_a_transaction_has_twenty_queries():
    row = verdict(swept(), "R-rw-server")
    best = made_up.runs()
    best = best[(best["servers"] == 1) & (best["workload"] == "oltp_read_write")]
    assert row.measured == pytest.approx(best.groupby("clients")["qps"].mean().max() / 20)


def interfaces(cost: float, at_once: float = 4.0) -> Double:
    """Lookups through SQL cost 100 us, those of the NDB API this many times less."""
    sql = {"mysqld": 50.0, "ndbmtd": 30.0, "sysbench": 20.0}
    data = double(servers=(1,))
    for name in ("api", "api-at-once"):
        sides = {side: (1, 64, {"qps": 1e4}) for side in "ab"}
        data = contrasted(data, name, sides, claims=("R-nosql",))
    by_api = data.slices["side"] == "a"
    data.slices["workload"] = by_api.map({True: "ndb_api", False: "oltp_point_select"})

    def used(row) -> dict[str, float]:
        if row["side"] == "b":
            return sql
        factor = at_once if row["contrast"] == "api-at-once" else cost
        return {"mysqld": 3.0, "ndbmtd": 60.0 / factor, "client": 40.0 / factor}

    return with_plan(slices_use(data, used))


@pytest.mark.parametrize(
    ("cost", "expected"), [(2.4, "reproduced"), (1.5, "differs here"), (2.0, "inconclusive")]
)
def test_lookups_per_cpu_time_are_compared_one_at_a_time(cost: float, expected: str):
    """Many at once are shown; an idle server is no cost of the NDB API."""
    row = verdict(interfaces(cost), "R-nosql")
    assert row.verdict == expected
    assert row.measured == pytest.approx(cost, rel=0.02)
    assert "many at once (not judged)" in row.reason


def test_before_the_first_block_nothing_is_known_of_either_interface():
    """The claim waits for its contrast."""
    data = interfaces(2.4)
    row = verdict(replace(data, slices=data.slices.iloc[:0]), "R-nosql")
    assert row.verdict == "inconclusive"
    assert "not measured yet" in row.reason
