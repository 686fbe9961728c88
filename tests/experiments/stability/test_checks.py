"""Checks on one long run. The runs are drawn from known laws, never a measurement."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.stability.made_up import repeated, with_control, written
from made_up import BRIEF_MODEL, INTERVALS, PROCESSES, Double, decided, double, verdict
from ndblab.judging import answers


def long_run(
    seconds: int = 3600,
    *,
    level: float = 1000.0,
    spread: float = 0.01,
    loss: float = 0.0,
    warmup_s: float = 120,
    cold_s: int = 0,
    **host: Any,
) -> Double:
    """Make one run of 16 servers: throughput around a level, a loss over the run, a cold start.

    The control beside it is steady.
    """
    dataset = double(lambda n, c: level, servers=(16,), clients=(256,), repeats=1, **host)
    dataset.runs = dataset.runs.assign(
        duration_s=float(seconds), warmup_s=float(warmup_s), host_busy_pct=0.0
    )
    noise = np.random.default_rng(1).normal(0, spread, seconds)
    qps = level * (1 + noise - loss * np.arange(seconds) / seconds)
    qps[:cold_s] *= 0.6
    name = dataset.runs["run_id"].iloc[0]
    rows = [(name, at + 1, 256, value, 1.35) for at, value in enumerate(qps)]
    dataset.intervals = pd.DataFrame(rows, columns=INTERVALS)
    return with_control(dataset, 0.005)


@pytest.mark.parametrize(
    ("spread", "expected"),
    [(0.008, "reproduced"), (0.03, "contradicted"), (0.0155, "inconclusive")],
)
def test_a_narrow_band_reproduces_a_steady_hour(spread: float, expected: str) -> None:
    """The central 95 % of seconds must lie within 3 % of their middle."""
    row = decided(long_run(level=5000.0, spread=spread), "F1-stable")
    assert row.verdict == expected
    assert row.measured == pytest.approx(1.96 * spread, rel=0.1)
    # 18 million queries in the hour, 1.65 in a second of the source.
    assert re.search(r"\d for 95 % of 10 windows with as many queries as the source's", row.reason)


@pytest.mark.parametrize("spread", [0.008, 0.03])
def test_without_a_control_neither_a_steady_nor_an_unsteady_hour_is_judged(spread: float) -> None:
    """Nothing tells the host's unsteadiness from NDB's, in either direction."""
    data = long_run(level=5000.0, spread=spread)
    data.control = data.control.iloc[:0]
    row = verdict(data, "F1-stable")
    assert row.verdict == "not testable here"
    assert "no control was recorded beside the run" in row.reason


def test_three_minutes_are_no_steady_hour() -> None:
    """A short run says nothing of an hour, whatever it shows."""
    for spread in (0.005, 0.05):
        row = verdict(long_run(180, spread=spread), "F1-stable")
        assert row.verdict == "not testable here"
        assert "the longest run lasted 180 s (3600 s wanted)" in row.reason


@pytest.mark.parametrize(("loss", "expected"), [(0.0, "reproduced"), (0.1, "contradicted")])
def test_a_slow_loss_contradicts_a_constant_mean(loss: float, expected: str) -> None:
    """An hour without a trend reproduces, one that loses a tenth contradicts."""
    assert decided(long_run(loss=loss), "F1-drift").verdict == expected


@pytest.mark.parametrize(
    ("cluster_pct", "loss", "expected"),
    [
        (196, 0.1, "differs here"),
        (196, 0.0, "reproduced"),
        (170, 0.1, "not testable here"),
        (170, 0.0, "not testable here"),
    ],
)
def test_other_work_beside_an_hour_leaves_its_cause_open(
    cluster_pct: int, loss: float, expected: str
) -> None:
    """On a host that is 99 % busy, CPU that the cluster did not use went to other processes."""
    dataset = long_run(loss=loss)
    dataset.runs = dataset.runs.assign(host_busy_pct=99.0)
    name = dataset.runs["run_id"].iloc[0]
    rows = [(name, at, "mysqld", 11, float(cluster_pct), 1) for at in range(1, 5)]
    dataset.processes = pd.DataFrame(rows, columns=PROCESSES)
    row = verdict(dataset, "F1-drift")
    assert row.verdict == expected
    assert ("unrelated processes used 14." in row.reason) == (cluster_pct == 170)


def test_a_host_of_which_nothing_is_known_is_not_called_quiet() -> None:
    """Without the CPU of the processes, or of the hypervisor, what varies may be other work."""
    unseen, stolen = long_run(loss=0.1), long_run(loss=0.1)
    unseen.processes = unseen.processes.assign(run_id="another")
    stolen.runs = stolen.runs.assign(host_steal_pct=math.nan)
    for dataset in (unseen, stolen):
        row = verdict(dataset, "F1-drift")
        assert row.verdict == "not testable here"
        assert "not known: what unrelated processes or the hypervisor took" in row.reason


@pytest.mark.parametrize(("swing", "expected"), [(0.0, "reproduced"), (0.1, "contradicted")])
def test_windows_stand_for_the_run_or_not(swing: float, expected: str) -> None:
    """In a steady run any two minutes are like the whole; in one that swings they are not."""
    dataset = long_run()
    dataset.intervals["qps"] *= 1 + swing * np.sin(dataset.intervals["t_s"] / 50)
    row = decided(dataset, "W-warmup")
    assert row.verdict == expected
    assert 0 <= row.low <= row.measured <= row.high <= 1
    assert "windows of 60 s (not judged)" in row.reason


def test_a_shorter_warm_up_says_nothing_of_two_minutes() -> None:
    """After 10 s of warm-up the claim on 120 s is not tested."""
    row = verdict(long_run(600, warmup_s=10), "W-warmup")
    assert row.verdict == "not testable here"
    assert "a warm-up of 10.0 s" in row.reason


def test_samples_after_clients_had_ended_do_not_count() -> None:
    """A last sample in which only some clients still ran is no low throughput."""
    dataset = long_run()
    dataset.intervals.loc[3599, ["clients", "qps"]] = [3, 5.0]
    assert verdict(dataset, "F1-floor").measured > 0.9


def test_throughput_of_another_machine_is_shown_beside_that_of_a_cpu() -> None:
    """An absolute value is not judged; both are shown, in total and per logical CPU."""
    row = verdict(long_run(level=2700, spread=0.001), "F1-sustained")
    assert row.verdict == "not comparable"
    assert "published 1 600 000 to 1 700 000 queries/s, 6 250 to 6 641 per" in row.reason
    assert "per logical CPU (2)" in row.reason
    assert "per logical CPU" not in verdict(long_run(), "F1-p95-mean").reason


@pytest.mark.parametrize(
    ("name", "level", "expected"),
    [
        ("F1-sustained", 1_650_000, "reproduced"),
        ("F1-sustained", 1_400_000, "contradicted"),
        ("F1-p95-mean", 1_650_000, "reproduced"),
    ],
)
def test_the_hour_is_judged_on_the_briefs_own_host(name: str, level: float, expected: str) -> None:
    """On two EPYC 7742 the published range and latency are judged."""
    host: dict[str, Any] = {"budget": "pinned", "cpus": 256, "model": BRIEF_MODEL}
    assert verdict(long_run(level=level, spread=0.008, **host), name).verdict == expected


@pytest.mark.parametrize(
    ("name", "spread", "second", "expected"),
    [
        ("F1-max", 0.008, 1.0, "reproduced"),
        ("F1-max", 0.008, 1.06, "contradicted"),
        ("F1-floor", 0.008, 1.0, "reproduced"),
        ("F1-floor", 0.008, 0.9, "contradicted"),
        ("F1-p95-range", 0.008, 1.0, "reproduced"),
    ],
)
def test_extremes_are_judged_relative_to_the_middle_on_any_host(
    name: str, spread: float, second: float, expected: str
) -> None:
    """One second far from the middle of the band decides, whatever the level of throughput."""
    dataset = long_run(spread=spread)
    dataset.intervals.loc[1800, "qps"] = 1000 * second
    assert decided(dataset, name).verdict == expected


def test_a_p95_that_varies_too_much_contradicts() -> None:
    """Half of the seconds at twice the p95 of the others leave the published range."""
    dataset = long_run()
    dataset.intervals["latency_p95_ms"] = [1.0, 2.0] * 1800
    assert decided(dataset, "F1-p95-range").verdict == "contradicted"


@pytest.mark.parametrize(
    ("seconds", "fall", "expected"),
    [
        (3600, 0.29, "reproduced"),
        (3600, 0.05, "contradicted"),
        (600, 0.05, "not testable here"),
        (600, 0.29, "not testable here"),
    ],
)
def test_a_long_run_loses_what_its_checkpoints_take(
    seconds: int, fall: float, expected: str
) -> None:
    """An hour of which checkpoints take a tenth reproduces; ten minutes are no hour."""
    data = written(seconds, fall=fall)
    row = decided(data, "R-long") if seconds == 3600 else verdict(data, "R-long")
    assert row.verdict == expected
    assert row.measured == pytest.approx(1 - 0.35 * fall, abs=0.005)
    assert "times that of its first 30 s" in row.reason
    assert "of the data nodes' CPU goes to checkpoints (not judged)" in row.reason


def test_repeats_of_a_long_run_count_together() -> None:
    """The verdict names the runs, all of their checkpoints, and how many cycles it rests on."""
    row = verdict(repeated(3, fall=0.0), "R-long")
    assert "90 local checkpoints in 3 runs of 600 s, compared in 84 cycles" in row.reason
    assert "with those less than 4 s apart in one" in row.reason


@pytest.mark.parametrize("budget", ["scaled", "shared"])
def test_the_finding_says_on_how_many_checkpoints_it_rests_and_under_which_budget(
    budget: str,
) -> None:
    """The first and the last of each run have no time on both sides."""
    data = replace(repeated(3), budget=budget)
    table = pd.DataFrame([verdict(data, "R-long")])
    cost, said = answers.answer("long-run", table, data).certain
    assert "7 % lower (6.9 to 7 %) over whole checkpoint cycles than between checkpoints" in cost
    assert said.startswith("under CPU quotas, ") == (budget == "scaled")
    assert said.endswith("in 84 of 90, each after a gap of at least 4 s")
    assert len(said.split()) <= 30


@pytest.mark.parametrize(("checkpoint_cpu_pct", "is_said"), [(0.0, False), (2.0, True)])
def test_the_cpu_of_checkpoints_is_a_finding_where_some_is_certain(
    checkpoint_cpu_pct: float, is_said: bool
) -> None:
    """Of the same CPU per query inside and outside, nothing is said."""
    data = written(3600, fall=0.05, checkpoint_cpu_pct=checkpoint_cpu_pct)
    table = pd.DataFrame([decided(data, "R-long")])
    first, *others = answers.answer("long-run", table, data).certain
    assert first.startswith("under CPU quotas, checkpoints changed throughput by -1.7 %")
    assert first.endswith("over 60 min; published, for more than an hour: about -10 %")
    taken = [words for words in others if words.startswith("under CPU quotas, checkpoints took ")]
    assert len(taken) == is_said


def test_reads_say_nothing_of_checkpoints() -> None:
    """The claim is on reads and writes."""
    row = verdict(written(workload="oltp_point_select"), "R-long")
    assert row.verdict == "unknown"
    assert "oltp_read_write" in row.reason


def test_a_run_without_checkpoints_is_no_answer() -> None:
    """A run too short for one does not say that they cost nothing."""
    row = decided(written(10), "R-long")
    assert row.verdict == "unknown"
    assert "no local checkpoint" in row.reason


@pytest.mark.parametrize(
    ("experiment", "claim"), [("stability", "F1-drift"), ("long-run", "R-long")]
)
def test_a_run_that_failed_is_answered_by_the_verdicts(experiment: str, claim: str) -> None:
    """There is no run to describe: the verdicts are counted, and nothing crashes."""
    data = written(60)
    data.runs["status"] = "sysbench exited 1"
    table = pd.DataFrame([verdict(data, claim)])
    assert answers.answer(experiment, table, data).certain[0].startswith("of 1 claim: ")
