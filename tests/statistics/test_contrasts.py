"""Contrasts: what counts as one value, and why. All slices are drawn from known laws."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from ndblab.benchmarks import simulations
from ndblab.design.contrast import ALTERNATION, DUET, STARTS, TWINS, Contrast, Side
from ndblab.error import MissingData
from ndblab.planning.point import Point
from ndblab.statistics import contrasts, estimate, sequential

SIDE = Side(Point(1, 8))
GAIN = 1.1


def measured(design: str, qps, blocks: int = 4) -> pd.DataFrame:
    """Lay out the slices of a contrast; `qps` gives the throughput of each."""
    contrast = Contrast("c", design, SIDE, SIDE, ())
    slices = [
        one for number in range(1, blocks + 1) for slot in contrast.block(number, 1) for one in slot
    ]
    rows = [
        {**one.columns(), "start": _start(design, one), "status": "ok", "qps": qps(one)}
        for one in slices
    ]
    return pd.DataFrame(rows)


def _start(design: str, one) -> int:
    """Number the cluster start of a slice: one for all, or one for each side of each block."""
    return 2 * one.block + (one.side == "b") if design in (STARTS, TWINS) else 1


def by_side(one) -> float:
    """Return a throughput without any noise: side A has `GAIN` times that of B."""
    return 1000.0 * (GAIN if one.side == "a" else 1.0)


@pytest.mark.parametrize("design", [ALTERNATION, DUET, STARTS, TWINS])
def test_each_block_gives_one_ratio(design: str) -> None:
    """The unit of analysis is the block, in each design."""
    logs = contrasts.log_ratios(measured(design, by_side), "c")
    assert np.exp(logs) == pytest.approx(np.full((4, 2 if design == ALTERNATION else 1), GAIN))
    assert contrasts.ratio(logs).value == pytest.approx(GAIN)


@pytest.mark.parametrize("change", [{"status": "failed"}, {"qps": 0.0}, None])
def test_a_block_with_one_bad_slice_is_left_out_whole(change: dict | None) -> None:
    """A slice that failed, served nothing or was never measured takes its block with it."""
    slices = measured(ALTERNATION, by_side)
    bad = slices.index[slices["block"] == 2][1]
    if change is None:
        slices = slices.drop(bad)
    else:
        slices.loc[bad, list(change)] = list(change.values())
    assert set(contrasts.whole(slices, "c")["block"]) == {1, 3, 4}
    assert len(contrasts.log_ratios(slices, "c")) == 3


def test_blocks_keep_the_order_of_measuring() -> None:
    """Looks count units in the order in which they were measured."""
    slices = measured(
        ALTERNATION, lambda one: by_side(one) ** (one.block if one.side == "a" else 1)
    )
    logs = contrasts.log_ratios(slices.sample(frac=1, random_state=1), "c")
    assert list(logs[:, 0]) == sorted(logs[:, 0])


def test_without_a_whole_block_or_a_second_side_there_is_nothing_to_compare() -> None:
    """Both say what is missing."""
    slices = measured(ALTERNATION, by_side, blocks=1)
    with pytest.raises(MissingData, match="no whole block"):
        contrasts.whole(slices.iloc[:3], "c")
    one_sided = slices[slices["side"] == "a"].assign(of=2)
    with pytest.raises(MissingData, match="one side"):
        contrasts.log_ratios(one_sided, "c")
    assert contrasts.levels(one_sided, "c", "qps") == pytest.approx([math.log(1000 * GAIN)])
    assert contrasts.levels(one_sided, "c", "qps", log=False) == pytest.approx([1000 * GAIN])


def test_another_quantity_counts_only_in_blocks_that_have_it_everywhere() -> None:
    """CPU of a slice, by its run id; a block in which one slice lacks it gives no value."""
    slices = measured(ALTERNATION, by_side)
    cpu = pd.Series(np.where(slices["side"] == "a", 30.0, 20.0), index=slices["run_id"])
    assert np.exp(contrasts.log_ratios(slices, "c", cpu)) == pytest.approx(np.full((4, 2), 1.5))
    missing = cpu.drop(slices["run_id"].iloc[0])
    assert len(contrasts.log_ratios(slices, "c", missing)) == 3


def test_unequal_servers_do_not_bias_a_duet() -> None:
    """Servers that differ by 15 % change roles within a block, and their difference cancels out."""

    def qps(one) -> float:
        on_second = (one.side == "b") != one.swapped
        return by_side(one) * (1.15 if on_second else 1.0)

    logs = contrasts.log_ratios(measured(DUET, qps), "c")
    assert np.exp(logs) == pytest.approx(np.full((4, 1), GAIN))


def test_twins_of_unequal_places_are_compared_fairly_over_two_starts() -> None:
    """The second place is 3 % better; sides exchange their places with each start."""

    def qps(one) -> float:
        return by_side(one) * (1.03 if (one.side == "b") != one.swapped else 1.0)

    logs = contrasts.log_ratios(measured(TWINS, qps, blocks=2), "c")
    assert np.exp(logs.ravel()) == pytest.approx([GAIN / 1.03, GAIN * 1.03])
    assert np.exp(logs.mean()) == pytest.approx(GAIN)


def test_a_start_of_twins_is_one_unit_however_long_it_is_loaded() -> None:
    """A start affects all slices of its twin, so counting halves would promise too much."""
    rng, draws, blocks, held = np.random.default_rng(5), 1000, 4, 0
    slices = measured(TWINS, by_side, blocks)
    for _ in range(draws):
        of_starts = slices["start"].map(dict(enumerate(rng.normal(0, 0.02, 2 * blocks + 2))))
        drawn = slices.assign(qps=slices["qps"] * np.exp(of_starts))
        ratio = contrasts.ratio(contrasts.log_ratios(drawn, "c"))
        held += ratio.low <= GAIN <= ratio.high
    assert held / draws >= 0.95


def test_halves_of_a_block_hold_the_truth_on_a_host_that_drifts() -> None:
    """Each half of A B B A counts as a comparison, and 95 % intervals still cover 95 %.

    The host drifts linearly within a block, more or less from block to block, and one side's second
    half is on a server 15 % faster.
    """
    rng, draws, blocks, held = np.random.default_rng(6), 3000, 6, 0
    for _ in range(draws):
        ahead = rng.choice((1, -1), (blocks, 1))
        drift = ahead * rng.normal(0, 0.02, (blocks, 1)) * [1.0, -1.0]
        halves = math.log(GAIN) + drift + rng.normal(0, 0.05, (blocks, 2)) + [0.0, math.log(1.15)]
        interval = sequential.interval(halves)
        held += interval.low <= math.log(GAIN) + math.log(1.15) / 2 <= interval.high
    assert held / draws >= 0.95


@pytest.mark.parametrize("slice_s", [3, 10, 30])
def test_halves_of_a_block_do_not_understate_its_deviation(slice_s: int) -> None:
    """On a host with the autocorrelation of the recorded hour, halves are a little alike."""
    number, every_s = 8000, slice_s + 1
    drawn = simulations.seconds(np.random.default_rng(8), number * 4 * every_s)
    slices = drawn.reshape(number, 4, every_s)[..., :slice_s].mean(axis=2)
    halves = np.stack((slices[:, 0] - slices[:, 1], slices[:, 3] - slices[:, 2]), axis=1)
    true = halves.mean(axis=1).std()
    assert 0.99 * true < sequential.deviation(halves) < 1.06 * true


def test_blocks_hold_the_truth_and_single_slices_do_not() -> None:
    """On a drifting host, 95 % intervals of blocks cover 95 %; of slices as if independent, less.

    Slices of a block share an effect on each side (as within a cluster start), and the host is a
    random walk from slice to slice.
    """
    rng, draws, blocks = np.random.default_rng(4), 1500, 8
    slices = measured(STARTS, by_side, blocks).sort_values(["block", "slot"])
    order = contrasts.of_blocks(contrasts.log_ratios(slices, "c"))
    side = np.where(slices["side"] == "a", 1, -1).reshape(blocks, -1)
    held = {"blocks": 0, "slices": 0}
    for _ in range(draws):
        walk = rng.normal(0, 0.01, side.size).cumsum().reshape(side.shape)
        of_sides = np.where(side > 0, *rng.normal(0, 0.05, (2, blocks, 1)))
        noise = walk + of_sides + rng.normal(0, 0.03, side.shape)
        drawn = slices.assign(qps=slices["qps"] * np.exp(noise.ravel()))
        units = order + (side * noise).sum(axis=1) / (side.shape[1] / 2)
        _, low, high = estimate.mean(units)
        held["blocks"] += low <= math.log(GAIN) <= high
        a, b = (drawn.loc[drawn["side"] == name, "qps"] for name in "ab")
        _, low, high = estimate.ratio(a, b)
        held["slices"] += low <= GAIN <= high
    assert contrasts.of_blocks(contrasts.log_ratios(drawn, "c")) == pytest.approx(units)
    assert 0.93 <= held["blocks"] / draws <= 0.97
    assert held["slices"] / draws < 0.9
