"""Checks on transporters and spinning. The datasets are made up, never a measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from made_up import Double, decided, double, verdict

RW, READS = "oltp_read_write", "oltp_point_select"
Gain = Callable[[int], float]


def curve(servers: int, clients: int) -> float:
    """Throughput that is best at 32 clients."""
    return min(1000.0 * clients, 32_000.0) * (0.6 if clients > 32 else 1)


def transporters(
    gain: Gain = lambda clients: 1.0,
    *,
    noise: float = 0.003,
    workload: str = RW,
    spinning: dict[str, Gain] | None = None,
    clients: tuple[int, ...] = (1, 2, 8, 32, 128),
    **host: object,
) -> Double:
    """Alternate TCP, SHM and spinning runs: each is TCP's throughput times its gain."""
    dataset = double(curve, servers=(1,), clients=clients, repeats=3, spread=0.002, **host)
    tcp = dataset.runs.assign(transporter="tcp", workload=workload, variant="default")
    kinds = {("shm", "default"): gain}
    kinds |= {("shm", name): of_kind for name, of_kind in (spinning or {}).items()}
    tables = [tcp.assign(run_id=tcp["run_id"] + "_tcp")]
    for number, ((transporter, variant), of_kind) in enumerate(kinds.items(), start=2):
        factor = tcp["clients"].map(of_kind) * [
            1 + noise * ((at * number) % 3 - 1) for at in range(len(tcp))
        ]
        named = tcp["run_id"] + f"_{variant}"
        tables.append(
            tcp.assign(
                run_id=named, transporter=transporter, variant=variant, qps=tcp["qps"] * factor
            )
        )
    return replace(dataset, runs=pd.concat(tables, ignore_index=True))


def by_load(low: float, top: float, high: float) -> Gain:
    """Gain by load: up to 2 clients, to 32, and above."""
    return lambda clients: low if clients <= 2 else top if clients <= 32 else high


@pytest.mark.parametrize(
    ("name", "gain", "expected"),
    [
        ("T-low", by_load(1.0, 1.1, 1.5), "reproduced"),
        ("T-low", by_load(1.2, 1.1, 1.5), "contradicted"),
        ("T-top", by_load(1.0, 1.1, 1.5), "reproduced"),
        ("T-top", by_load(1.0, 1.3, 1.5), "contradicted"),
        ("T-high", by_load(1.0, 1.1, 1.5), "reproduced"),
        ("T-high", by_load(1.0, 1.1, 1.1), "contradicted"),
    ],
)
def test_each_load_is_judged_by_its_own_runs(name: str, gain: Gain, expected: str) -> None:
    """Low, top and very high concurrency are three claims on three parts of the curve."""
    assert decided(transporters(gain, cpus=64), name).verdict == expected


@pytest.mark.parametrize("name", ["T-low", "T-top", "T-high"])
def test_pairs_that_vary_decide_nothing(name: str) -> None:
    """Pairs that differ by a quarter among themselves decide no claim on a few percent."""
    gain = by_load(1.0, 1.1, 1.4)
    assert decided(transporters(gain, noise=0.25, cpus=64), name).verdict == "inconclusive"


def test_a_drift_that_both_sides_share_falls_out() -> None:
    """A host that halves its speed from one repeat to the next changes no ratio of pairs."""
    dataset = transporters(by_load(1.0, 1.1, 1.5))
    slow = dataset.runs.assign(qps=dataset.runs["qps"] / 2.0 ** dataset.runs["repeat"])
    drifted = verdict(replace(dataset, runs=slow), "T-low")
    steady = verdict(dataset, "T-low")
    assert (drifted.low, drifted.high) == pytest.approx((steady.low, steady.high))


def test_the_gain_of_the_brief_is_judged_on_its_own_workload() -> None:
    """Point selects decide on the brief's 20 %, and OLTP RW is shown with them."""
    reads = transporters(lambda c: 1.2, workload=READS)
    both = replace(
        reads,
        runs=pd.concat(
            [reads.runs, transporters(lambda c: 1.0).runs.assign(run_id=lambda t: t.run_id + "_w")],
            ignore_index=True,
        ),
    )
    row = verdict(both, "T-shm-gain")
    assert row.verdict == "reproduced"
    assert row.measured == pytest.approx(1.2, rel=0.01)
    assert "with oltp_read_write (not judged)" in row.reason
    assert verdict(transporters(lambda c: 1.2), "T-shm-gain").verdict == "unknown"


def test_about_20_percent_has_a_tolerance() -> None:
    """A gain within a quarter of the published one is equal to it, and the reason says so."""
    for gain, expected in ((1.17, "reproduced"), (1.05, "contradicted"), (1.4, "contradicted")):
        row = decided(transporters(lambda c, g=gain: g, workload=READS), "T-shm-gain")
        assert row.verdict == expected
        assert "1.15 to 1.25 counts as equal" in row.reason


def test_very_high_concurrency_lies_past_the_peak() -> None:
    """If nothing was measured past the peak, nothing is said about overload."""
    few = transporters(by_load(1.0, 1.5, 1.5), clients=(1, 2, 8, 32), cpus=64)
    row = verdict(few, "T-high")
    assert row.verdict == "unknown"
    assert "past the peak" in row.reason


def test_less_than_a_cpu_for_a_server_says_nothing_of_very_many_clients() -> None:
    """Threads that never run at once do not contend, whatever the transporter."""
    row = verdict(transporters(by_load(1.0, 1.1, 1.1)), "T-high")
    assert row.verdict == "not testable here"
    assert "1.10" in row.reason


SPIN = {"shm-spin": by_load(1.3, 1.0, 1.0), "all-spin": by_load(1.45, 1.0, 1.0)}
HARM = {"shm-spin": by_load(0.8, 0.8, 0.8), "all-spin": by_load(0.7, 1.0, 1.0)}


@pytest.mark.parametrize("name", ["T-spin-low", "T-spin-top", "T-allspin-low"])
def test_spinning_is_judged_where_it_has_cpus_of_its_own(name: str) -> None:
    """With spare CPUs spinning decides; under quotas and on 2 CPUs it takes CPU from work."""
    large: dict[str, object] = {"budget": "shared", "cpus": 32}
    assert decided(transporters(spinning=SPIN, **large), name).verdict == "reproduced"
    assert decided(transporters(spinning=HARM, **large), name).verdict == "contradicted"
    for small in ({"budget": "scaled", "cpus": 32}, {"budget": "shared", "cpus": 2}):
        row = verdict(transporters(spinning=SPIN, **small), name)
        assert row.verdict == "not testable here"
        assert row.measured > 0.9


def test_another_version_of_ndb_is_needed_for_one_claim() -> None:
    """What compares NDB 7.6 with 7.5.9 is never testable, whatever the data."""
    row = verdict(transporters(), "T-all-1536")
    assert row.verdict == "not testable here"
    assert "7.5.9" in row.reason
