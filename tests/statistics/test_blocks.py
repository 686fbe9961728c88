"""Drift between repeats. The runs are made up, never a measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ndblab.statistics import blocks


def repeated(values: np.ndarray) -> pd.DataFrame:
    """Make runs of one server from a table of throughput, a row per point, a column per repeat."""
    rows = [(2**point, x) for point, row in enumerate(values) for x in row]
    table = pd.DataFrame(rows, columns=["clients", "qps"]).assign(servers=1)
    return table.assign(repeat=list(range(1, values.shape[1] + 1)) * len(values))


def test_a_host_that_slows_down_between_repeats_adds_no_variability() -> None:
    """What all points lose together from one pass to the next is drift."""
    drifting = np.outer([100.0, 200.0, 50.0], [1.0, 0.9, 0.8])
    table = repeated(drifting)
    steady = blocks.block_adjusted(table, "qps").to_numpy().reshape(3, 3)
    assert steady == pytest.approx(np.tile(steady[:, :1], 3))
    assert blocks.variability(table, "qps").deviation == pytest.approx(0, abs=1e-9)


def test_few_points_deviate_as_much_as_many() -> None:
    """Taking out the drift of two points does not take out half of their variance."""
    noise = np.random.default_rng(3).normal(0, 0.05, (2, 4000))
    adjusted = np.log(blocks.block_adjusted(repeated(np.exp(noise)), "qps").to_numpy())
    assert adjusted.reshape(2, -1).std(axis=1) == pytest.approx(0.05, rel=0.05)


def test_outliers_do_not_determine_the_variability() -> None:
    """With 3 % at most points and 60 % at a few, the estimate stays near 3 %."""
    noise = np.random.default_rng(7).normal(0, 0.03, (60, 4))
    noise[:6] *= 20
    spread = blocks.variability(repeated(1000 * np.exp(noise)), "qps")
    assert spread.deviation == pytest.approx(0.03, rel=0.25)
    assert spread.freedom > 30


def test_one_repeat_gives_no_variability() -> None:
    """There is nothing to estimate it from, and no number is made up."""
    assert blocks.variability(repeated(np.array([[1.0], [2.0]])), "qps").freedom == 0
