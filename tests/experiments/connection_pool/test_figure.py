"""Connection pools: throughput, p95 and CPU time by pool. The runs are made up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import small_runs
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.planning.point import Point

KEY = "connection-pool"
EXPERIMENT = catalogue.find(KEY)
POOLS = {1: 1.0, 4: 1.1, 8: 1.2, 16: 1.15}


def tables(repeats: int = 3, whole: float = 5.0) -> dict[str, pd.DataFrame]:
    """Make runs in which a pool multiplies throughput; without quotas it is `whole` times that."""

    def qps(point: Point) -> float:
        _, pool, *setting = (point.variant if "-" in point.variant else "pool-1").split("-")
        return 1000.0 * POOLS[int(pool)] * (whole if setting else 1.0)

    runs = small_runs.swept(EXPERIMENT, repeats, qps)
    runs["latency_p95_ms"] = 1000 * runs["clients"] / runs["qps"]
    used = (
        ("mysqld", 11, 40.0), ("mysqld", 12, 2.0), ("ndbmtd", 2, 30.0), ("ndbmtd", 3, 30.0),
        ("sysbench", 0, 10.0),
    )  # fmt: skip
    processes = pd.concat([small_runs.cpu(name, *used) for name in runs["run_id"]])
    return {"runs": runs, "processes": processes}


def lines(figure, panel: int) -> list[np.ndarray]:
    """Heights of the drawn means of a panel, from the smallest pool on."""
    drawn = [line for line in figure.axes[panel].lines if len(line.get_xdata()) == 3]
    return [np.asarray(line.get_ydata()) for line in drawn if line.get_marker() in "os^D"]


def test_each_pool_has_its_line_in_each_setting() -> None:
    """Without quotas left, under quotas right; three quantities below each other."""
    figure = figures.draw(KEY, tables(), [], caption())
    assert len(figure.axes) == 6
    whole, share = lines(figure, 0), lines(figure, 1)
    for high, low, gain in zip(whole, share, POOLS.values(), strict=True):
        np.testing.assert_allclose(low, 1000 * gain * 1.02)
        np.testing.assert_allclose(high, 5 * low)
    assert "under CPU quotas" in written(figure)


def test_the_cpu_time_of_a_query_is_that_of_the_loaded_server() -> None:
    """The CPU of idle servers, which has nothing to do with the pool, does not count."""
    figure = figures.draw(KEY, tables(repeats=1), [], caption())
    np.testing.assert_allclose(lines(figure, 5)[0], 1e4 * 110 / 1010)
    assert "no whiskers" in said(figure)


def test_without_quotas_both_columns_say_so() -> None:
    """A pinned or shared budget has none to lift."""
    text = written(figures.draw(KEY, tables(), [], caption("shared")))
    assert "under CPU quotas" not in text
    assert "once more" in text


def test_each_pool_is_described_at_its_best() -> None:
    """Throughput, latency and CPU time of each of the eight lines."""
    words = figures.describe(KEY, tables(), [])
    assert words.count("queries/s with 8 clients") == 8
    assert "8 connections" in words
    assert len(words) < 1500


def test_axes_are_honest_and_no_text_leaves_the_figure() -> None:
    """Throughput and CPU time begin at zero, latency is logarithmic."""
    figure = figures.draw(KEY, tables(), [], caption())
    assert [ax.get_yscale() for ax in figure.axes] == ["linear"] * 2 + ["log"] * 2 + ["linear"] * 2
    assert all(ax.get_ylim()[0] == 0 for ax in figure.axes if ax.get_yscale() == "linear")
    assert outside(figure) == []


def test_a_dataset_without_pools_is_refused() -> None:
    """The message says what is missing."""
    data = tables()
    data["runs"] = data["runs"].assign(variant="other")
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())
