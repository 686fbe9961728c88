"""Bulk loads, drawn. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, said, title, written
from experiments.bulk_load import made_up
from ndblab import figures
from ndblab.dataset import SCHEMAS
from ndblab.design import catalogue


def test_each_way_to_load_has_a_bar_of_its_rate_and_one_of_its_cost():
    """Parts of the cost by role; the ratios of the contrasts lead, then the fastest way."""
    experiment = catalogue.find("bulk-load")
    planned = experiment.contrasts(experiment, experiment.size("quick"), pd.DataFrame())
    slices = [
        made_up_slices.of(contrast, 5, ratio=ratio, sd=(1e-4, 0.0, 0.0))
        for contrast, ratio in zip(planned, (2.0, 0.2, 0.8), strict=True)
    ]
    ways = {("load-data", 1): 10e3, ("load-data", 4): 20e3, ("inserts", 4): 15e3,
            ("sysbench", 4): 12e3, ("ndb-import", 4): 50e3}  # fmt: skip
    tables = small_runs.together(
        *(
            made_up.load(way, connections, repeat, rows_per_s=rate * (1 + repeat / 100))
            for (way, connections), rate in ways.items()
            for repeat in (1, 2, 3)
        )
    )
    tables["slices"] = pd.concat(slices, ignore_index=True)
    figure = figures.draw("bulk-load", tables, [], caption("shared"))
    ratios, rate, cost = figure.axes
    assert [bar.get_width() for bar in rate.patches] == pytest.approx(
        sorted((1.02 * rate for rate in ways.values()), reverse=True)
    )
    assert len(cost.get_yticks()) == len(ways)
    assert len(ratios.get_yticks()) == 3
    assert title(figure).startswith("ndb_import loaded fastest, 51")
    assert "ndb_import over LOAD DATA" in written(figure)
    assert "3 loads per kind" in said(figure)
    words = figures.describe("bulk-load", tables, [])
    assert "ndb_import: 51" in words
    assert "small redo log over usual -" in words


def test_a_difference_within_the_error_makes_no_way_the_fastest():
    """Ways whose interval holds the best mean are named together, a slower one is not."""
    rates = {"load-data": (19e3, 20e3, 21e3), "inserts": (18e3, 20e3, 21e3),
             "ndb-import": (5e3, 5.1e3, 5.2e3)}  # fmt: skip
    loaded = (
        made_up.load(way, 4, repeat, rows_per_s=rate)
        for way, of_way in rates.items()
        for repeat, rate in enumerate(of_way, 1)
    )
    tables = small_runs.together(*loaded)
    tables["slices"] = pd.DataFrame(columns=list(SCHEMAS["slices"].columns), dtype=float)
    words = title(figures.draw("bulk-load", tables, [], caption("shared")))
    assert words.startswith("Fastest, not told apart: LOAD DATA and INSERT of many rows, 19")
    assert "ndb_import" not in words


def test_loads_without_contrasts_say_so():
    """As a measurement has them that was stopped early."""
    tables = small_runs.together(made_up.load(), made_up.load("ndb-import"))
    tables["slices"] = pd.DataFrame(columns=list(SCHEMAS["slices"].columns), dtype=float)
    figure = figures.draw("bulk-load", tables, [], caption("shared"))
    assert "no contrast was measured" in written(figure)
