"""Claims that contrasts decide. The datasets are made up, never a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from made_up import (
    BY_ID,
    CLAIMS,
    INTERVALS,
    Double,
    contrasted,
    decided,
    double,
    slices_use,
)
from ndblab.design import catalogue
from ndblab.judging import judge
from ndblab.judging import verdict as verdicts
from ndblab.statistics import sequential

QPS, P95 = "qps", "latency_p95_ms"
FREE = replace(BY_ID["F6-overload"], condition="")
"""A claim whose check alone is looked at."""


def against(name: str, top: tuple[int, int], base: tuple[int, int], **more: Any) -> Double:
    """Add one contrast of throughput or p95 to a sweep that says nothing."""
    metric, ratio = more.pop("metric", QPS), more.pop("ratio", 1.0)
    dataset = more.pop("dataset", None) or double(lambda n, c: 100.0)
    sides = {"a": (*top, {metric: 1000 * ratio}), "b": (*base, {metric: 1000.0})}
    return contrasted(dataset, name, sides, **more)


@pytest.mark.parametrize(
    "name",
    ["F6-peak", "F6-double-servers", "F6-8-to-16", "P-servers-1-2", "B-redo", "P-pool-8",
     "R-rw-servers", "R-filter-gain", "R-filter-servers"],
)  # fmt: skip
def test_a_sweep_stands_for_no_contrast(name: str) -> None:
    """Whatever its peaks: the contrast that is missing is named."""
    row = decided(double(lambda n, c: min(250 * c, 1000 * n)), name)
    assert row.verdict == "unknown"
    assert "it has no contrast " in row.reason


def test_too_few_blocks_give_no_interval_and_a_few_more_a_forecast() -> None:
    """An undecided claim says which contrast it waits for, and what its later looks may decide."""
    first = sequential.LOOKS[0]
    early = against("overload", (16, 512), (16, 256), ratio=0.9, blocks=first - 1)
    finding = judge.findings(early, ["F6-overload"], [FREE])["F6-overload"]
    assert (finding.verdict, dict(finding.waits)) == ("inconclusive", {"overload": None})
    assert f"no interval before {first} blocks" in finding.why
    wide = against("overload", (16, 512), (16, 256), ratio=0.97, blocks=first, spread=0.03)
    waits = judge.findings(wide, ["F6-overload"], [FREE])["F6-overload"].waits
    assert min(waits["overload"]) == sequential.LOOKS[1]
    known = against("overload", (16, 512), (16, 256), ratio=0.85)
    assert not judge.findings(known, ["F6-overload"], [FREE])["F6-overload"].waits


def test_a_contrast_that_is_to_be_measured_is_waited_for() -> None:
    """Before its first block nothing is decided, neither by the sweep nor as unknown."""
    dataset = against("overload", (16, 512), (16, 256), claims=("F6-overload", "B-mgmd-idle"))
    dataset = replace(dataset, slices=dataset.slices.iloc[:0])
    findings = judge.findings(dataset, ["F6-overload", "B-mgmd-idle"], CLAIMS)
    assert {finding.verdict for finding in findings.values()} == {"inconclusive"}
    assert all(dict(finding.waits) == {"overload": None} for finding in findings.values())


def doublings(first: float, second: float, metric: str = QPS) -> Double:
    """Both doublings of servers as contrasts."""
    once = against("servers-1-2", (2, 16), (1, 8), metric=metric, ratio=first)
    return against("servers-2-4", (4, 32), (2, 16), metric=metric, ratio=second, dataset=once)


def test_every_doubling_must_hold() -> None:
    """Both doublings reproduce together, and one of them contradicts alone."""
    assert decided(doublings(1.9, 1.9), "F6-double-servers").verdict == "reproduced"
    assert decided(doublings(1.9, 1.3), "F6-double-servers").verdict == "contradicted"
    assert decided(doublings(1.0, 1.1, P95), "F7-doubling").verdict == "reproduced"
    row = decided(doublings(1.0, 1.5, P95), "F7-doubling")
    assert row.verdict == "contradicted"
    assert row.measured == pytest.approx(1.5, rel=0.02)


def test_the_peak_is_climbed_step_by_step() -> None:
    """16 servers must beat 8 and 4, 4 must beat 2, and 2 one."""
    dataset = doublings(1.9, 1.9)
    dataset = against("servers-4-16", (16, 256), (4, 64), ratio=1.2, dataset=dataset)
    best = against("servers-8-16", (16, 256), (8, 128), ratio=1.5, dataset=dataset)
    assert decided(best, "F6-peak").verdict == "reproduced"
    worse = against("servers-8-16", (16, 256), (8, 128), ratio=0.9, dataset=dataset)
    row = decided(worse, "F6-peak")
    assert row.verdict == "contradicted"
    assert row.measured == pytest.approx(0.9, rel=0.02)


def level(name: str, point: tuple[int, int] = (16, 256), **more: Any) -> Double:
    """Add a level to a sweep that says nothing."""
    return contrasted(double(lambda n, c: 100.0), name, {"a": (*point, {})}, **more)


def test_growth_of_cpu_is_that_from_one_side_to_the_other() -> None:
    """The data nodes' CPU doubles while mysqld's grows fivefold."""
    sides = {"a": (1, 32, {QPS: 5000.0}), "b": (1, 1, {QPS: 1000.0})}
    dataset = contrasted(double(servers=(1,)), "load-1-k", sides)

    def used(row: pd.Series) -> Mapping[str, float]:
        many = row["side"] == "a"
        return {"ndbmtd": 20.0 if many else 10.0, "mysqld": 50.0 if many else 10.0}

    row = decided(slices_use(dataset, used), "F4-cpu-with-load")
    assert row.verdict == "reproduced"
    assert row.measured == pytest.approx(0.4)


@pytest.mark.parametrize(("varies", "expected"), [(0.01, "reproduced"), (0.2, "contradicted")])
def test_seconds_at_half_the_load_are_steady_or_not(varies: float, expected: str) -> None:
    """The variation within slices decides, corrected for how few seconds a slice has."""
    dataset = level("half-load", options={"rate": 2500})
    rows = [
        (run_id, second, 256, 2500 * (1 + varies * step), 5 * (1 + varies * step))
        for run_id in dataset.slices["run_id"]
        for second, step in enumerate((1.0, -1.0, 0.5, -0.5), 1)
    ]
    # A sample of milliseconds at the end of a slice is not a second.
    rows += [(run_id, 4.0, 256, 90_000.0, 5.0) for run_id in dataset.slices["run_id"]]
    slices = dataset.slices.assign(queries=10_000.0)
    intervals = pd.DataFrame(rows, columns=INTERVALS).sort_values("run_id", kind="stable")
    dataset = replace(dataset, intervals=intervals, slices=slices)
    row = decided(dataset, "F8-steady")
    assert row.verdict == expected
    assert "at 2500 queries/s" in row.reason


def test_what_a_budget_rules_out_waits_for_nothing() -> None:
    """A value of another machine, a question of a larger host, and what shares force unmeasured."""
    claims = ("F6-peak-qps", "F6-peak-clients", "F7-growth")
    dataset = against("overload", (16, 512), (16, 256), claims=claims)
    dataset = replace(dataset, slices=dataset.slices.iloc[:0])
    findings = judge.findings(dataset, claims, CLAIMS)
    assert tuple(finding.verdict for finding in findings.values()) == (
        verdicts.NOT_COMPARABLE, verdicts.NOT_TESTABLE, verdicts.NOT_TESTABLE,
    )  # fmt: skip
    assert not any(finding.waits for finding in findings.values())


def test_what_shares_force_is_called_so_beside_a_measured_value_only() -> None:
    """A contrast of which too few blocks were measured has no value yet."""
    dataset = against("growth", (1, 64), (1, 32), claims=("F7-growth",))
    dataset = replace(dataset, slices=dataset.slices[dataset.slices["block"] == 1])
    row = judge.judge(dataset, ("F7-growth",), CLAIMS).iloc[0]
    assert row.verdict == verdicts.NOT_TESTABLE
    assert pd.isna(row.measured)
    assert "measured" not in row.reason


def test_every_contrast_names_claims_that_its_experiment_judges() -> None:
    """A contrast that no claim of its experiment waits for would waste its time."""
    for experiment in catalogue.every().values():
        if experiment.contrasts is None or experiment.name not in (
            "single-server-scaling", "multi-server-scaling", "shm-vs-tcp", "thread-balance",
        ):  # fmt: skip
            continue
        for contrast in experiment.contrasts(experiment, experiment.size("quick"), pd.DataFrame()):
            assert contrast.claims
            assert set(contrast.claims) <= set(BY_ID)
            assert all(name.startswith(experiment.claims) for name in contrast.claims)
