"""Conditions on CPUs: what limits, and what quotas force. All worlds are made up."""

from __future__ import annotations

import pytest

from made_up import BY_ID, Double, contrasted, double, slices_use, with_plan
from ndblab.judging import conditions
from ndblab.judging.evidence import Evidence

CLAIM = BY_ID["P-servers-1-2"]


def doubled(server_pct: float, nodes_pct: float, design: str = "alternation") -> Double:
    """Two servers against one, each of which uses this percentage of a CPU."""
    sides = {"a": (2, 16, {"qps": 2000.0}), "b": (1, 8, {"qps": 1000.0})}
    data = contrasted(double(), "servers-1-2", sides, claims=(CLAIM.id,), blocks=4)
    data.manifest["contrasts"][0]["design"] = design
    if design == "duet":
        three = {f"mysqld{n}": server_pct for n in (1, 2, 3)}
        return slices_use(data, lambda row: {**three, "ndbmtd": nodes_pct})

    def used(row) -> dict[str, float]:
        two = {f"mysqld{n}": server_pct for n in range(1, int(row["servers"]) + 1)}
        return {**two, "mysqld9": 1.0, "ndbmtd": nodes_pct}

    return slices_use(data, used)


def state(name: str, data: Double, claim=CLAIM) -> conditions.State:
    return conditions.CONDITIONS[name](claim, Evidence(data))


@pytest.mark.parametrize("design", ["alternation", "duet"])
def test_quotas_that_are_used_up_force_their_ratio(design: str) -> None:
    """Idle servers do not count; in a duet those of both sides work at once."""
    forced = state("servers-free", with_plan(doubled(24.5, 20.0, design), 0.25, 0.25, 1.5))
    assert not forced.holds
    assert "the MySQL servers use 98 % of their quota" in forced.words
    assert ("the quotas alone give 2.00" in forced.forced) == (design == "alternation")
    assert ("(below 90 % wanted)" in forced.words) == (design == "duet")


def test_servers_below_their_quota_force_nothing() -> None:
    """The fullest part is named with its number, whether the condition holds or not."""
    free = state("servers-free", with_plan(doubled(12.5, 20.0), 0.25, 0.25, 1.5))
    assert (free.holds, free.words) == (True, "the MySQL servers use 50 % of their quota at most")
    nodes = state("servers-free", with_plan(doubled(12.5, 47.0), 0.25, 0.25, 1.5))
    assert (nodes.holds, nodes.forced) == (False, "")
    assert "the data nodes use 94 % of their quota (below 80 % wanted)" in nodes.words


def test_a_variant_replaces_the_quotas_of_the_plan() -> None:
    """Those of one server by its number, as in shares of the host's 2 CPUs."""
    data = doubled(24.5, 20.0)
    for name in "ab":
        data.manifest["contrasts"][0][name]["point"]["variant"] = "slower"
    slower = with_plan(data, 0.25, 0.25, 1.5, slower={"mysqld.2": 0.1})
    assert "1.80" in state("servers-free", slower).forced
    free = with_plan(data, 0.25, 0.25, 1.5, slower={"mysqld": None, "ndbmtd": None, "sql": None})
    assert state("undivided", free).holds
    assert not state("undivided", with_plan(data, 0.25, 0.25, 1.5)).holds


def test_p95_of_a_closed_loop_is_forced_by_clients_and_quotas() -> None:
    """Twice the clients of twice the quota wait as long."""
    claim = BY_ID["F7-doubling"]
    data = with_plan(doubled(24.5, 20.0), 0.25, 0.25, 1.5)
    data.manifest["contrasts"][0]["claims"] = (claim.id,)
    assert state("servers-free", data, claim).forced == "the quotas alone give 1.00"


@pytest.mark.parametrize(
    ("sql", "busy_pct", "words"),
    [
        (1.5, 99.0, "a quota runs out first"),
        (None, 99.0, "saturated: "),
        (4.0, 50.0, "wanted)"),
        (None, 92.0, "the host's CPUs are 92 % busy (95 % or more wanted)"),
    ],
)
def test_what_a_quota_ends_is_not_a_saturated_system(
    sql: float | None, busy_pct: float, words: str
) -> None:
    """Its processes are stopped by being throttled; CPUs that are used up are what sources mean."""
    sides = {"a": (16, 512, {"qps": 900.0}), "b": (16, 256, {"qps": 1000.0})}
    claim = BY_ID["F6-overload"]
    data = contrasted(double(), "overload", sides, claims=(claim.id,), blocks=4)
    data = slices_use(data, lambda row: {f"mysqld{n}": 9.0 for n in range(1, 17)} | {"ndbmtd": 5.0})
    data.slices["host_busy_pct"] = busy_pct
    saturated = state("saturated", with_plan(data, sql and 1.0, sql and 0.5, sql), claim)
    assert words in saturated.words
    assert saturated.holds == words.startswith("saturated")


@pytest.mark.parametrize("missing", ["plan", "blocks"])
def test_what_cannot_be_known_is_not_taken_to_hold(missing: str) -> None:
    """Neither without a plan nor before the first look."""
    data = doubled(12.5, 20.0)
    if missing == "blocks":
        data = with_plan(data, 0.25, 0.25, 1.5)
        data.slices = data.slices[data.slices["block"] < 3]
    unknown = conditions.of(CLAIM, lambda: Evidence(data))
    assert unknown.holds is None
    assert unknown.words


def test_what_one_contrast_uses_up_is_known_before_another_is_measured() -> None:
    """Nothing measured later could let the condition hold."""
    claim = BY_ID["F6-peak"]
    data = doubled(24.5, 20.0)
    data.manifest["contrasts"][0]["claims"] = (claim.id,)
    sides = {"a": (16, 128, {"qps": 1840.0}), "b": (8, 64, {"qps": 1000.0})}
    data = contrasted(data, "servers-8-16", sides, claims=(claim.id,), blocks=1)
    known = conditions.of(claim, lambda: Evidence(with_plan(data, 0.25, 0.25, 1.5)))
    assert known.holds is False
    assert "98 % of their quota" in known.words
