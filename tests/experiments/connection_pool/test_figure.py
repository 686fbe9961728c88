"""Connection pools: ratios of the contrasts, and throughput by pool. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, line_like, title, written
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
    planned = EXPERIMENT.contrasts(EXPERIMENT, EXPERIMENT.size("quick"), runs)
    slices = pd.concat([made_up_slices.of(contrast, 6, ratio=1.2) for contrast in planned])
    return {"runs": runs, "processes": processes, "slices": slices}


def test_ratios_stand_above_and_each_pool_has_its_line_below() -> None:
    """Without quotas left, under quotas right; the title is the first ratio."""
    figure = figures.draw(KEY, tables(), [], caption())
    forest, whole, share = figure.axes
    assert "8 connections over 1, alone" in [x.get_text() for x in forest.get_yticklabels()]
    assert title(figure).startswith("Alone, 8 connections gave ")
    assert title(figure).endswith(" % more queries/s than 1")
    for gain in POOLS.values():
        line_like(share, [1020 * gain] * 3)
        line_like(whole, [5100 * gain] * 3)
    assert "Under CPU quotas" in written(figure)
    assert [ax.get_ylim()[0] for ax in (whole, share)] == [0, 0]


@pytest.mark.parametrize(("whole", "unit"), [(150.0, "thousand queries/s"), (5.0, "queries/s")])
def test_a_column_that_counts_in_another_unit_says_so(whole: float, unit: str) -> None:
    """Ticks without a unit are read in that of the column beside them."""
    _, left, right = figures.draw(KEY, tables(whole=whole), [], caption()).axes
    assert left.get_ylabel() == f"Throughput, {unit}"
    assert right.get_ylabel() == ("" if unit == "queries/s" else "Throughput, queries/s")


def test_without_quotas_both_columns_say_so() -> None:
    """A pinned or shared budget has none to lift."""
    text = written(figures.draw(KEY, tables(), [], caption("shared")))
    assert "Under CPU quotas" not in text
    assert "once more" in text


def test_each_pool_is_described_at_its_best() -> None:
    """Throughput of each of the eight lines."""
    words = figures.describe(KEY, tables(repeats=1), [])
    assert words.count("queries/s with 8 clients") == 8
    assert "1 connection 1\N{NARROW NO-BREAK SPACE}010 queries/s" in words


def test_a_dataset_without_pools_is_refused() -> None:
    """The message says what is missing."""
    data = tables()
    data["runs"] = data["runs"].assign(variant="other")
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())
