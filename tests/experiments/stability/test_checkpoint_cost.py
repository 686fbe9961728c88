"""What local checkpoints cost a run, by made-up runs whose checkpoints have a known cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.stability.made_up import CYCLE_S, LASTS_S, LEVEL, repeated, written
from made_up import EVENTS
from ndblab.error import MissingData
from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability import checkpoints
from ndblab.experiments.stability.checkpoints import Span
from ndblab.machine import interference as company


def runs_of(**given) -> cost.Repeats:
    dataset = written(**given)
    return cost.of_longest(dataset.runs, dataset.tables)


def test_what_a_checkpoint_takes_is_found() -> None:
    """7 of 20 s with a fifth less throughput: the whole has 93 % of what is outside."""
    kept = cost.kept(runs_of().throughput)
    truth = 1 - 0.2 * LASTS_S / CYCLE_S
    assert kept.low < truth < kept.high
    assert kept.high - kept.low < 0.01


def test_one_cycle_has_no_interval_to_print() -> None:
    """Of three checkpoints, only the middle one has a gap on both sides."""
    said = cost.describe_taken(runs_of(seconds=60))
    assert "of their CPU" in said
    assert "nan" not in said


def test_disturbed_runs_do_not_count_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the verdicts; alone they are still shown."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    dataset = repeated(3)
    cycles = len(cost.of_longest(dataset.runs, dataset.tables).throughput)
    some, every = (dataset.runs.assign(company_pct=pct) for pct in ([0.0, 90.0, 0.0], 90.0))
    assert len(cost.of_longest(some, dataset.tables).throughput) == cycles * 2 / 3
    assert len(cost.of_longest(every, dataset.tables).throughput) == cycles


def test_long_cycles_count_by_their_time() -> None:
    """Checkpoints that are joined make a long cycle, which loses more than a short one."""
    rows = {"begin_s": [0.0, 20.0], "end_s": [20.0, 120.0], "inside": 80.0, "outside": 100.0}
    cycles = pd.DataFrame({**rows, "whole": [95.0, 82.0]})
    assert cost.kept(cycles).value == pytest.approx((95 * 20 + 82 * 100) / 12_000)
    assert np.isnan(cost.kept(cycles.iloc[:1]).low)


def test_inside_and_outside_weigh_cycles_as_the_ratio_of_the_whole_does() -> None:
    """The whole is not below its lower part, also where one long checkpoint takes it all."""
    spans = [*((at, at + 4.0) for at in (10.0, 30.0, 50.0, 70.0, 90.0)), (110.0, 214.0), (260, 264)]
    events = pd.DataFrame(
        [
            ("run", at_s, 2, event, "")
            for span in spans
            for at_s, event in zip(span, (checkpoints.STARTED, checkpoints.COMPLETED), strict=True)
        ],
        columns=EVENTS,
    )
    dataset = replace(written(300, fall=0.0, spread=0.0), events=events)
    dataset.intervals.loc[dataset.intervals["t_s"].between(111, 214), "qps"] = 0.8 * LEVEL
    runs = cost.of_longest(dataset.runs, dataset.tables)
    row = cost.inside_and_outside(runs).set_index("quantity").loc["throughput, queries/s"]
    # Four cycles of 20 s lose nothing; one of 135 s has a fifth less inside.
    assert row["ratio"] == pytest.approx((80 + 0.8 * 135) / 215)
    assert row["ratio"] == pytest.approx(row["inside"] / row["outside"])
    assert row["ratio"] < cost.kept(runs.throughput).value


def test_repeats_count_together() -> None:
    """Four equal runs have four times the cycles, and half the width of the interval."""
    one, four = runs_of(spread=0.2), repeated(4, spread=0.2)
    runs = cost.of_longest(four.runs, four.tables)
    assert len(runs.throughput) == 4 * len(one.throughput)
    kept_of_one, kept = (cost.kept(repeats.throughput) for repeats in (one, runs))
    assert kept.high - kept.low == pytest.approx((kept_of_one.high - kept_of_one.low) / 2, rel=0.05)
    assert cost.taken(runs).value == pytest.approx(cost.taken(one).value)
    assert cost.threads(runs)["threads"].tolist() == [2]


def test_a_shorter_run_or_one_of_another_point_is_no_repeat() -> None:
    """A run of half the time, and one with other clients, stay out."""
    dataset = repeated(3)
    dataset.runs.loc[1, "duration_s"] = 300.0
    dataset.runs.loc[2, "clients"] = 32
    assert len(cost.of_longest(dataset.runs, dataset.tables).runs) == 1


def test_drift_is_not_taken_for_a_cost() -> None:
    """A run that loses half of its throughput evenly loses none of it to checkpoints."""
    kept = cost.kept(runs_of(fall=0.0, drift=0.5, spread=0.0).throughput)
    assert kept.value == pytest.approx(1, abs=0.002)


def test_cpu_beyond_that_of_queries_goes_to_checkpoints() -> None:
    """Each node uses 16 or 20 % of a CPU for queries, and 5 % more in 7 of 20 s."""
    taken = cost.taken(runs_of(checkpoint_cpu_pct=5.0, spread=0.005))
    extra = 5.0 * LASTS_S / CYCLE_S
    queries = 20.0 * (1 - 0.2 * LASTS_S / CYCLE_S)
    assert taken.low < extra / (extra + queries) < taken.high
    assert taken.high - taken.low < 0.02


def test_the_cpu_of_a_role_is_that_of_all_its_processes() -> None:
    """Two data nodes at 20 % are 40 % outside checkpoints."""
    table = cost.inside_and_outside(runs_of(spread=0.001)).set_index("quantity")
    cpu = table.loc["CPU of ndbmtd, percent"]
    assert cpu["outside"] == pytest.approx(40, rel=0.01)
    assert cpu["low"] <= cpu["ratio"] <= cpu["high"] < 1


def test_the_threads_that_write_checkpoints_are_seen() -> None:
    """Ldm threads use 10 % outside checkpoints, and up to 30 % inside."""
    [row] = cost.threads(runs_of()).to_dict("records")
    assert (row["thread"], row["threads"]) == ("ldm", 2)
    assert row["outside_pct"] == pytest.approx(10)
    assert 25 < row["inside_pct"] <= 30


def test_seconds_are_placed_by_the_start_of_their_checkpoint() -> None:
    """Throughput falls in second 0, half of which each second of 6.5 s is, and stays low."""
    table = cost.around_start(runs_of(spread=0.001)).set_index("second")
    assert table.loc[[-3, -2], "ratio"].to_numpy() == pytest.approx(1, abs=0.01)
    assert table.loc[[2, 3, 4], "ratio"].to_numpy() == pytest.approx(0.8, abs=0.01)
    assert table.loc[9, "ratio"] == pytest.approx(1, abs=0.01)


def test_a_cycle_needs_time_on_both_sides() -> None:
    """The first and the last checkpoint of a run have none; nor do those without a gap."""
    steady = pd.Series(1.0, index=np.arange(1.0, 61.0))
    assert len(checkpoints.cycles(steady, [Span(10, 15), Span(30, 35), Span(50, 55)])) == 1
    assert checkpoints.cycles(steady, [Span(10, 15)]).empty
    assert checkpoints.cycles(steady, [Span(0, 30), Span(31, 60)]).empty


@pytest.mark.parametrize("seconds", [10, 30])
def test_a_run_without_a_cycle_says_so(seconds: int) -> None:
    """A short run has no ratio, and its tables are empty or say so, without an error."""
    runs = runs_of(seconds=seconds)
    with pytest.raises(MissingData, match="no local checkpoint"):
        cost.kept(runs.throughput)
    assert cost.inside_and_outside(runs).empty
    assert cost.around_start(runs).empty
    assert "not known" in cost.describe_taken(runs)


def test_a_cycle_that_stands_still_is_no_ratio() -> None:
    """Nothing can be divided by a gap without throughput."""
    dataset = written()
    dataset.intervals.loc[100:140, "qps"] = 0.0
    runs = cost.of_longest(dataset.runs, dataset.tables)
    with pytest.raises(MissingData, match="stands still"):
        cost.kept(runs.throughput)
