"""What a dataset says of two sides, of slices made up with known truths."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import made_up_slices
from ndblab.comparing import judged, made
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.judging.verdict import INCONCLUSIVE
from ndblab.planning.point import Point
from ndblab.statistics.estimate import Estimate
from ndblab.statistics.sequential import LOOKS

CONTRAST = Contrast(
    made.CONTRAST, ALTERNATION, Side(Point(1, 16)), Side(Point(1, 16, variant="b")), ()
)


def dataset(blocks: int, faster: float = 1.0, sd: float = 0.02, seed: int = 1, **more):
    """Return slices in which B has `faster` times A's throughput, and what else `more` gives."""
    slices = made_up_slices.of(CONTRAST, blocks, ratio=1 / faster, sd=(sd, 0, 0), seed=seed)
    slices["latency_p95_ms"] = slices["side"].map(more.get("p95", {"a": 1.0, "b": 1.0}))
    costs = more.get("cpu_us", {"a": 60.0, "b": 60.0})
    processes = made_up_slices.processes(slices, costs)
    return SimpleNamespace(slices=slices, tables={"processes": processes}, manifest={"starts": 1})


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.01, 1.05, "faster"),
        (0.95, 0.99, "slower"),
        (0.981, 1.019, "equivalent"),
        (1.002, 1.018, "equivalent"),
        (0.97, 1.01, "undecided"),
        (float("nan"), float("nan"), "undecided"),
    ],
)
def test_a_whole_interval_decides(low: float, high: float, outcome: str) -> None:
    """On one side of equal, or close to it; what is close is not called faster."""
    assert judged.outcome(Estimate((low + high) / 2, low, high)) == outcome


@pytest.mark.parametrize(("faster", "outcome"), [(1.05, "faster"), (0.95, "slower")])
def test_a_planted_difference_is_found_with_its_sign(faster: float, outcome: str) -> None:
    """B over A, so more than 1 is faster."""
    result = judged.judge(dataset(20, faster))
    assert result.outcome == outcome
    assert result.throughput.low < faster < result.throughput.high
    assert result.status == (1 if outcome == "slower" else 0)
    assert result.blocks == 20


def test_equal_sides_are_rarely_called_different() -> None:
    """At most 5 % are, over all looks, since measuring ends at the first look that decides."""
    wrong = 0
    for seed in range(30):
        data = dataset(20, sd=0.03, seed=seed)
        for look in (n for n in LOOKS if n <= 20):
            part = SimpleNamespace(**vars(data))
            part.slices = data.slices[data.slices["block"] <= look]
            verdict = judged.findings(part)[made.THROUGHPUT].verdict
            if verdict != INCONCLUSIVE:
                wrong += verdict != "equivalent"
                break
    assert wrong <= 4


def test_more_blocks_are_asked_for_until_it_is_decided() -> None:
    """With the chance of each later look; nothing is known before the first."""
    few = judged.findings(dataset(2))[made.THROUGHPUT]
    assert (few.verdict, few.waits) == (INCONCLUSIVE, {made.CONTRAST: None})
    some = judged.findings(dataset(4, 1.02, sd=0.04))[made.THROUGHPUT]
    assert some.waits[made.CONTRAST][100] > some.waits[made.CONTRAST][6]
    none = SimpleNamespace(slices=dataset(1).slices.iloc[:0], manifest={}, tables={})
    assert judged.findings(none)[made.THROUGHPUT].waits == {made.CONTRAST: None}


def test_the_minutes_that_go_on_are_those_of_its_noise() -> None:
    """Not a multiple of what it took: a noisy comparison needs longer, up to an hour a command."""
    exact, noisy, hopeless = (
        judged.more_minutes(dataset(6, 1.02, sd=sd), judged.WITHIN, 30) for sd in (0.02, 0.05, 0.5)
    )
    assert 5 <= exact < noisy <= hopeless <= 60


def test_before_the_first_block_the_expected_seconds_of_blocks_count() -> None:
    """Four of them are the first look."""
    none = dataset(1)
    none.slices = none.slices.iloc[:0]
    assert judged.more_minutes(none, judged.WITHIN, 30) == 5
    assert judged.more_minutes(none, judged.WITHIN, 300) == 20


@pytest.mark.parametrize(
    ("more", "worse"),
    [
        ({"p95": {"a": 1.0, "b": 1.2}}, ("p95",)),
        ({"cpu_us": {"a": 60.0, "b": 66.0}}, ("CPU per query",)),
        ({}, ()),
    ],
)
def test_a_guard_that_is_worse_fails_the_gate(more, worse: tuple[str, ...]) -> None:
    """Even if B is faster."""
    result = judged.judge(dataset(20, 1.05, **more))
    assert (result.outcome, result.worse) == ("faster", worse)
    assert result.status == (1 if worse else 0)


def test_errors_of_one_side_are_told() -> None:
    """A slice with errors is left out, and so is its block; many more on B make it worse."""
    data = dataset(20, 1.05)
    # One of both slices of B in each of eight blocks.
    on_b = data.slices.index[data.slices["side"] == "b"][:16:2]
    data.slices.loc[on_b, "status"] = "errors: 12"
    result = judged.judge(data)
    assert result.errors == {"a": 0, "b": 8}
    assert result.worse == ("errors",)
    data.slices.loc[on_b[2:], "status"] = "ok"
    assert judged.judge(data).worse == ()


@pytest.mark.parametrize("status", ["no transaction ended, each has errors: 9 a second",
                                    "sysbench exited 1: unknown table"])  # fmt: skip
def test_a_side_that_only_fails_is_worse(status: str) -> None:
    """So a gate does not pass it as undecided."""
    data = dataset(8)
    data.slices["status"] = data.slices["status"].astype(str)
    data.slices.loc[data.slices["side"] == "b", "status"] = status
    result = judged.judge(data)
    assert result.worse == ("errors",)
    assert result.status == 1


def test_errors_of_blocks_that_were_repeated_count() -> None:
    """Their rows are gone; the manifest has how many loads ended so."""
    data = dataset(20, 1.05)
    data.manifest["failed_loads"] = {f"{made.CONTRAST} b": 6}
    assert judged.judge(data).errors == {"a": 0, "b": 6}
    assert judged.judge(data).worse == ("errors",)


def test_why_there_is_no_whole_block_is_told() -> None:
    """Void slices not explained by others or errors say why; nothing does once a block is whole."""
    data = dataset(1)
    data.slices["status"] = data.slices["status"].astype(str)
    data.slices.loc[data.slices.index[:2], "status"] = ["switched too late", "company: x"]
    assert judged.judge(data).void == "switched too late"
    assert judged.judge(dataset(1)).void == ""


def test_no_start_is_counted_of_a_cluster_that_the_lab_is_attached_to() -> None:
    """Its manifest counts how often the lab began to use it."""
    data = dataset(4)
    assert judged.judge(data).starts == 1
    data.manifest["attached"] = {"connectstring": "mgm1:1186"}
    assert judged.judge(data).starts == 0
