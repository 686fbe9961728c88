"""Checks on threads of data nodes. The datasets are made up, never a measurement."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from made_up import BRIEF_MODEL, CLAIMS, THREADS, Double, decided, double, verdict
from ndblab.experiments.scaling.checks.data_nodes import published_shares

# Kind and utilisation by thread number, on a small data node.
USUAL = {2: ("ldm", 20.0), 3: ("ldm", 22.0), 4: ("recv", 60.0), 5: ("tc", 40.0), 6: ("send", 9.0)}


def with_threads(threads: dict[int, tuple[str, float]], noise: float = 0.5, **more: Any) -> Double:
    """Make a sweep in which every run shows these threads, on both data nodes."""
    dataset = double(**more)
    rows = [
        (run.run_id, 1, node, number, kind, pct + noise * (-1) ** (run.repeat + number), 0.0)
        for run in dataset.runs.itertuples()
        for node in (2, 3)
        for number, (kind, pct) in threads.items()
    ]
    dataset.ndb_threads = pd.DataFrame(rows, columns=THREADS).astype({"thread": "category"})
    return dataset


@pytest.mark.parametrize(
    ("recv", "noise", "expected"),
    [(60.0, 0.5, "reproduced"), (25.0, 0.5, "contradicted"), (40.5, 5.0, "inconclusive")],
)
def test_the_busiest_thread_under_one_server(recv: float, noise: float, expected: str) -> None:
    """A recv thread above all others reproduces, one below a tc thread contradicts."""
    dataset = with_threads({**USUAL, 4: ("recv", recv)}, noise)
    row = decided(dataset, "F5-recv-busiest")
    assert row.verdict == expected
    # One server saturates at 4 clients, and 128 are 32 times those.
    assert "1 server and 128 clients" in row.reason


@pytest.mark.parametrize("name", ["F9-tc-bottleneck", "P-tc"])
@pytest.mark.parametrize(("tc", "expected"), [(80.0, "reproduced"), (50.0, "contradicted")])
def test_tc_threads_are_the_busiest_at_the_peak_or_not(name: str, tc: float, expected: str) -> None:
    """Every other kind must be below tc; the one above it is the number that is shown."""
    row = decided(with_threads({**USUAL, 5: ("tc", tc)}), name)
    assert row.verdict == expected
    assert row.measured == pytest.approx(tc - 60, abs=1.1)


def test_saturation_is_judged_where_no_quota_rules_it_out() -> None:
    """On dedicated CPUs a thread near its limit contradicts; quotas impose that."""
    full = {**USUAL, 4: ("recv", 95.0)}
    assert decided(with_threads(full, budget="pinned"), "F5-no-saturation").verdict == (
        "contradicted"
    )
    assert decided(with_threads(USUAL, budget="pinned"), "F5-no-saturation").verdict == "reproduced"
    assert verdict(with_threads(USUAL), "F5-no-saturation").verdict == "by construction"


def test_a_published_thread_is_judged_by_the_share_of_its_kind() -> None:
    """Numbers and CPU of threads differ from host to host: the shares of kinds carry over."""
    published, _ = published_shares("9")
    number = {"ldm": 2, "query": 3, "tc": 4, "send": 5, "recv": 6}
    same = {number[kind]: (kind, 100 * share) for kind, share in published.items()}
    row = decided(with_threads(same), "F9-ldm-5")
    assert row.verdict == "reproduced"
    assert row.measured == pytest.approx(published["ldm"], abs=0.01)
    assert "all ldm threads" in row.reason
    assert decided(with_threads({**same, 2: ("ldm", 60.0)}), "F9-ldm-5").verdict == "contradicted"


def test_rows_have_the_share_of_their_kind_within_a_quarter() -> None:
    """The bounds in the table of claims are those of the published screens."""
    for claim in CLAIMS:
        if claim.statement.startswith("ndb_top:"):
            share = published_shares(claim.figure)[0][claim.id.split("-")[1]]
            assert (claim.low, claim.high) == pytest.approx((0.75 * share, 1.25 * share), abs=1e-3)


def test_on_the_briefs_host_the_thread_itself_is_judged() -> None:
    """With NumCPUs=32 the number names the same thread, and its own share is judged."""
    _, shares = published_shares("9")
    rest = 100 * (1 - shares["F9-tc-26"])
    threads = {26: ("tc", 100 * shares["F9-tc-26"]), 27: ("tc", rest / 2), 30: ("recv", rest / 2)}
    dataset = with_threads(threads, budget="pinned", cpus=256, model=BRIEF_MODEL, noise=0.01)
    dataset.manifest = {"plan": {"threads": {"automatic_cpus": 32}}}
    row = verdict(dataset, "F9-tc-26")
    assert row.verdict == "reproduced"
    assert "tc thread 26" in row.reason
    assert verdict(dataset, "F9-tc-27").verdict == "contradicted"


def test_a_kind_that_a_small_data_node_lacks_is_not_made_up() -> None:
    """Data nodes without query threads show none."""
    row = verdict(with_threads(USUAL), "F9-query-11")
    assert row.verdict == "not comparable"
    assert pd.isna(row.measured)


def test_the_threads_of_32_cpus_are_counted() -> None:
    """With NumCPUs=32 the listed kinds must be 27 threads; with fewer CPUs they are shown."""
    kinds = {"main": 1, "ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3, "rep": 1}
    names = [kind for kind, many in kinds.items() for _ in range(many)]
    dataset = with_threads(
        {number: (kind, 1.0) for number, kind in enumerate(names)},
        servers=(1,), clients=(8,), budget="pinned", cpus=256,
    )  # fmt: skip
    dataset.manifest = {"plan": {"threads": {"automatic_cpus": 32}}}
    assert verdict(dataset, "F9-threads").verdict == "reproduced"
    dataset.manifest = {"plan": {"threads": {"automatic_cpus": 64}}}
    assert verdict(dataset, "F9-threads").verdict == "not testable here"
    small = verdict(with_threads(USUAL), "F9-threads")
    assert small.verdict == "not testable here"
    assert "2 ldm, 0 query, 1 tc" in small.reason


def test_a_dataset_without_threads_is_unknown() -> None:
    """Without recorded threads no claim about them is decided."""
    assert decided(double(), "F9-tc-bottleneck").verdict == "unknown"
