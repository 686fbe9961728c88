"""Checks on threads of data nodes. The datasets are made up, never a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from made_up import (
    BRIEF_MODEL,
    CLAIMS,
    THREADS_OF_32,
    Double,
    contrasted,
    decided,
    double,
    slices_use,
    threads_use,
    verdict,
    with_plan,
)
from ndblab.experiments.scaling.checks.data_nodes import published_shares

KINDS = "ldm recv tc send"
USUAL = {"ldm": 22.0, "recv": 60.0, "tc": 40.0, "send": 9.0}
CLAIMED = ("F9-tc-bottleneck", "P-tc")


def far(pct: Mapping[str, float], kinds: str = KINDS, **more: Any) -> Double:
    """One server far past its peak, whose data nodes have these kinds of threads."""
    claims = ("F5-recv-busiest", "F5-no-saturation")
    data = contrasted(double(**more), "recv", {"a": (1, 128, {})}, claims=claims)
    return with_plan(threads_use(data, lambda _, kind: pct[kind], kinds))


def loads(tc: float, other: float, **quotas: float) -> Double:
    """Give the peak of 16 servers and fewer clients, where all threads are nearly idle."""
    sides = {"a": (16, 256, {"qps": 4000.0}), "b": (16, 16, {"qps": 1000.0})}
    data = contrasted(double(), "loads", sides, claims=CLAIMED)

    def pct(row: pd.Series, kind: str) -> float:
        return (tc if kind == "tc" else other) if row["side"] == "a" else 2.0

    return with_plan(threads_use(data, pct, THREADS_OF_32), **quotas)


@pytest.mark.parametrize("recv", [60.0, 25.0])
def test_fewer_threads_than_the_briefs_say_nothing_of_the_busiest(recv: float) -> None:
    """With one recv thread where the brief has three, either outcome means nothing."""
    row = verdict(far({**USUAL, "recv": recv}), "F5-recv-busiest")
    assert row.verdict == "not testable here"
    assert "a data node has 4 threads (27 wanted)" in row.reason


@pytest.mark.parametrize("name", ["F5-recv-busiest", "F5-no-saturation"])
@pytest.mark.parametrize(("busy_pct", "word"), [(50.0, "reproduced"), (99.0, "not testable here")])
def test_threads_under_one_server_say_nothing_where_the_host_is_full(
    name: str, busy_pct: float, word: str
) -> None:
    """Their common cause, a server that limits, is not at work where the CPUs of all run out."""
    pct = {**dict.fromkeys(THREADS_OF_32.split(), 5.0), "recv": 60.0}
    used = {"mysqld1": 80.0, "ndbmtd": 20.0}
    data = slices_use(far(pct, THREADS_OF_32, budget="shared"), lambda _: used)
    row = verdict(replace(data, slices=data.slices.assign(host_busy_pct=busy_pct)), name)
    assert row.verdict == word
    assert f"the host's CPUs are {busy_pct:.0f} % busy" in row.reason


@pytest.mark.parametrize("name", CLAIMED)
@pytest.mark.parametrize(
    ("tc", "other", "expected"), [(90.0, 20.0, "reproduced"), (20.0, 90.0, "differs here")]
)
def test_tc_threads_are_the_busiest_at_the_peak_or_not(
    name: str, tc: float, other: float, expected: str
) -> None:
    """Without quotas; the peak is the side where throughput is best."""
    row = verdict(loads(tc, other), name)
    assert row.verdict == expected
    assert row.measured == pytest.approx(tc - other, abs=0.2)
    assert "16 servers and 256 clients" in row.reason


@pytest.mark.parametrize(("tc", "word"), [(8.1, "reproduced"), (6.1, "differs here")])
def test_the_order_of_threads_is_judged_where_no_quota_divides_the_cpus(
    tc: float, word: str
) -> None:
    """By the undivided contrast, in older datasets too, whose manifests name the other one."""
    data = loads(5.0, 50.0, nodes=0.25)
    data = contrasted(data, "undivided", {"a": (16, 256, {})}, variant="undivided")
    free = {"mysqld": None, "ndbmtd": None, "sql": None}
    data.manifest["variants"] = {"undivided": {"quotas": free}}
    data = threads_use(data, lambda _, kind: tc if kind == "tc" else 7.3, THREADS_OF_32)
    row = verdict(data, "P-tc")
    assert row.verdict == word
    assert "no quota divides" in row.reason


@pytest.mark.parametrize(("tc", "other"), [(30.0, 20.0), (20.0, 30.0)])
def test_the_bottleneck_is_asked_for_where_a_thread_is_near_saturation(
    tc: float, other: float
) -> None:
    """Where none is, the brief's sentence on the peak of NDB is not tested; the order may be.

    The reason has what tc reached.
    """
    row = verdict(loads(tc, other), "F9-tc-bottleneck")
    assert row.verdict == "not testable here"
    reached = f"the busiest tc thread {tc + 0.1:g} % (80 % or more wanted)"
    assert f"the busiest NDB thread uses 30.1 % of a CPU, {reached}" in row.reason
    assert verdict(loads(tc, other), "P-tc").verdict != "not testable here"


@pytest.mark.parametrize("name", CLAIMED)
@pytest.mark.parametrize("tc", [90.0, 10.0])
def test_where_quotas_order_threads_nothing_is_judged(name: str, tc: float) -> None:
    """Whether tc is the busiest or not; a peak without a saturated thread is told before them."""
    held = verdict(loads(tc, 50.0, nodes=0.25), name)
    assert held.verdict == "not testable here"
    idle = name == "F9-tc-bottleneck" and tc < 80
    why = "the busiest tc thread 10.1 %" if idle else "quotas limit the data nodes to 0.500 CPUs"
    assert why in held.reason


@pytest.mark.parametrize("name", ["balance"])
@pytest.mark.parametrize(("tc", "free"), [(6.0, False), (90.0, True)])
@pytest.mark.parametrize("ratio", [0.8, 1.2])
def test_more_tc_threads_relieve_those_near_saturation(
    name: str, tc: float, free: bool, ratio: float
) -> None:
    """Where tc is far from it, neither a gain nor a loss says anything of the claim."""
    sides = {"a": (8, 64, {"qps": 1000 * ratio}), "b": (8, 64, {"qps": 1000.0})}
    data = contrasted(double(budget="shared"), name, sides, claims=("F9-next-step",))
    data = threads_use(data, lambda _, kind: tc if kind == "tc" else 3.0, KINDS)
    row = verdict(with_plan(data), "F9-next-step")
    assert (row.verdict != "not testable here") == free
    assert ("80 % or more wanted" in row.reason) != free


def screen(threads: Mapping[str, float], **more: Any) -> Double:
    """The peak of 16 servers, with the summed CPU of each kind in one thread."""
    sides = {"a": (16, 512, {"qps": 900.0}), "b": (16, 256, {"qps": 1000.0})}
    data = contrasted(double(**more), "overload", sides)
    return threads_use(data, lambda _, kind: threads[kind], " ".join(threads))


def test_a_published_thread_is_judged_by_the_share_of_its_kind() -> None:
    """Numbers and CPU of threads differ from host to host: the shares of kinds carry over."""
    published, _ = published_shares("9")
    same = {kind: 1000 * share for kind, share in published.items()}
    row = decided(screen(same), "F9-ldm-5")
    assert row.verdict == "reproduced"
    assert row.measured == pytest.approx(published["ldm"], abs=0.01)
    assert "all ldm threads" in row.reason
    assert decided(screen({**same, "ldm": 600.0}), "F9-ldm-5").verdict == "contradicted"


def test_rows_have_the_share_of_their_kind_within_a_quarter() -> None:
    """The bounds in the table of claims are those of the published screens."""
    for claim in CLAIMS:
        if claim.statement.startswith("ndb_top:"):
            share = published_shares(claim.figure)[0][claim.id.split("-")[1]]
            assert (claim.low, claim.high) == pytest.approx((0.75 * share, 1.25 * share), abs=1e-3)


BRIEF_HOST: dict[str, Any] = {"budget": "pinned", "cpus": 256, "model": BRIEF_MODEL}


def thread_26(contrast: str, share: float, **host: Any) -> Double:
    """Data nodes with the brief's NumCPUs, whose only tc thread is number 26, with this share."""
    data = contrasted(double(**host), contrast, {"a": (16, 512, {}), "b": (16, 256, {})})
    pct = {"tc": 1000 * share, "recv": 1000 * (1 - share) / 26}
    data = threads_use(data, lambda _, kind: pct[kind], "recv " * 26 + "tc")
    data.manifest["plan"] = {"threads": {"automatic_cpus": 32}}
    return data


@pytest.mark.parametrize(("factor", "word"), [(1.0, "reproduced"), (2.0, "contradicted")])
def test_on_the_briefs_host_the_thread_itself_is_judged(factor: float, word: str) -> None:
    """With NumCPUs=32 the number names the same thread, and its own share is judged."""
    share = factor * published_shares("9")[1]["F9-tc-26"]
    row = verdict(thread_26("overload", share, **BRIEF_HOST), "F9-tc-26")
    assert row.verdict == word
    assert "tc thread 26" in row.reason


def test_two_recordings_of_a_thread_are_judged_by_its_own_share() -> None:
    """Pooled, they are not compared with the share of the whole kind."""
    share = published_shares("9")[1]["F9-tc-26"]
    one, two = (thread_26("overload", share * x, **BRIEF_HOST) for x in (1.0, 1.01))
    row = verdict(replace(two, earlier=(one,)), "F9-tc-26")
    assert row.verdict == "reproduced"
    assert "all recordings together" in row.reason


@pytest.mark.parametrize("budget", ["scaled", "shared", "pinned"])
def test_the_range_beside_a_thread_is_that_of_the_thread(budget: str) -> None:
    """Figure 5 shows tc thread 26 at 21 of 247 %; the four tc threads have 0.234 to 0.39.

    The reason says nothing of threads that the data nodes do not have.
    """
    row = verdict(thread_26("recv", 21 / 247, budget=budget), "F5-tc-26")
    assert row.verdict == "not comparable"
    least, most = map(float, row.published.split(" to "))
    assert 0.75 * 21 / 247 <= least < least + 1e-4 < row.measured < most <= 1.25 * 21 / 247
    assert (least, most) == pytest.approx((0.75 * 21 / 247, 1.25 * 21 / 247), abs=1e-4)
    assert "tc thread 26 of a data node uses" in row.reason
    assert "other threads" not in row.reason
    assert "another thread layout" not in row.reason


def test_the_range_beside_a_kind_of_threads_is_that_of_the_kind() -> None:
    """Where data nodes have other threads than the brief's, kinds are compared."""
    data = thread_26("recv", 0.3)
    data.manifest["plan"] = {"threads": {"automatic_cpus": 2}}
    row = verdict(data, "F5-tc-26")
    assert row.published == "0.234 to 0.39"
    assert "all tc threads of a data node use" in row.reason


def test_a_kind_that_a_small_data_node_lacks_is_not_made_up() -> None:
    """Data nodes without query threads show none."""
    row = verdict(screen({"tc": 10.0, "recv": 5.0}), "F9-query-11")
    assert row.verdict == "not comparable"
    assert pd.isna(row.measured)


def test_the_threads_of_32_cpus_are_counted() -> None:
    """With NumCPUs=32 there must be as many of each kind; with other numbers they are shown."""
    sides = {"a": (1, 1, {})}
    data = contrasted(double(), "threads-of-32", sides, claims=("F9-threads",), blocks=1)
    few = threads_use(data, lambda *_: 1.0, "ldm ldm tc send recv rep")
    all_threads = threads_use(data, lambda *_: 1.0, f"{THREADS_OF_32} rep")
    as_many = threads_use(data, lambda *_: 1.0, THREADS_OF_32.replace("query", "ldm", 1))
    for cpus, dataset, word in (
        (32, all_threads, "reproduced"),
        (32, few, "differs here"),
        (32, as_many, "differs here"),
        (64, all_threads, "not testable here"),
        (64, few, "not testable here"),
    ):
        dataset.manifest["variants"] = {"default": {"shape": {"num_cpus": cpus}}}
        assert verdict(dataset, "F9-threads").verdict == word
    assert "2 ldm, 0 query, 1 tc" in verdict(few, "F9-threads").reason


def test_a_dataset_without_threads_is_unknown() -> None:
    """Without recorded threads no claim about them is decided."""
    data = contrasted(double(), "level", {"a": (16, 256, {})}, claims=CLAIMED)
    assert decided(data, "F9-tc-bottleneck").verdict == "unknown"
