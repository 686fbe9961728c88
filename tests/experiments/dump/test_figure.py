"""Dumps, loads and locks, drawn. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

import made_up_actions as actions
import made_up_slices
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.dataset import SCHEMAS
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
)
from ndblab.experiments.locking_reads.client import STATEMENTS


def test_a_dump_has_a_bar_of_time_and_one_of_size():
    """As long as their means, with the numbers beside them."""
    kinds = {"none": (5.0, 1_000_000), "zstd": (4.0, 400_000), "gzip": (9.5, 350_000)}
    tables = actions.together(
        *(
            actions.dump(name, repeat, seconds=seconds + repeat / 10, written_bytes=size)
            for name, (seconds, size) in kinds.items()
            for repeat in (1, 2, 3)
        )
    )
    figure = figures.draw("dump", tables, [], caption("shared"))
    time, size = ([bar.get_width() for bar in ax.patches] for ax in figure.axes)
    assert time == pytest.approx([5.2, 4.2, 9.7])
    assert size == pytest.approx([1.0, 0.4, 0.35])
    assert "3 dumps of each kind" in said(figure)
    assert outside(figure) == []
    words = figures.describe("dump", tables, [])
    assert "compression gzip takes 9.7 s" in words
    assert "writes 0.4 MB, 1 / 2.5 of the content" in words


def test_every_cell_says_what_its_colour_means():
    """Number, mode, index, and what becomes of them; no word leaves the picture."""
    held = dict.fromkeys(((name, "SERIALIZABLE") for name in STATEMENTS), "X,REC_NOT_GAP")
    held |= {(SET_VARIABLE, READ_COMMITTED): "S,REC_NOT_GAP", (CREATE_SELECT, REPEATABLE_READ): "S"}
    tables = actions.together(actions.locks(held), actions.locks(held, repeat=2))
    figure = figures.draw("locks", tables, [], caption("shared"))
    assert len(figure.axes[0].patches) == 3 * len(STATEMENTS)
    assert "200 S,REC_NOT_GAP on k_1 kept" in written(figure)
    assert "2 runs." in said(figure)
    assert outside(figure) == []
    words = figures.describe("locks", tables, [])
    assert f"{SET_VARIABLE}: 200 S,REC_NOT_GAP on k_1, kept" in words


@pytest.mark.parametrize("key", ["dump", "locks"])
def test_a_dataset_without_them_is_refused(key):
    """A message, not an empty picture."""
    tables = actions.together(actions.dump(), actions.locks({(SET_VARIABLE, READ_COMMITTED): "S"}))
    empty = {name: tables[name].iloc[:0] for name in ("dumps", "locks")}
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(key, {**tables, **empty}, [], caption("shared"))


def test_each_way_to_load_has_a_bar_of_its_rate_and_one_of_its_cost():
    """Parts of the cost by role; the ratios of the contrasts are below."""
    experiment = catalogue.find("bulk-load")
    found = experiment.contrasts(experiment, experiment.size("quick"), pd.DataFrame())
    slices = [
        made_up_slices.of(each, 5, ratio=ratio, sd=(1e-4, 0.0, 0.0))
        for each, ratio in zip(found, (2.0, 0.2, 0.8), strict=True)
    ]
    ways = {("load-data", 1): 10e3, ("load-data", 4): 20e3, ("inserts", 4): 15e3,
            ("sysbench", 4): 12e3, ("ndb-import", 4): 50e3}  # fmt: skip
    tables = actions.together(
        *(
            actions.load(way, connections, repeat, rows_per_s=rate * (1 + repeat / 100))
            for (way, connections), rate in ways.items()
            for repeat in (1, 2, 3)
        )
    )
    tables["slices"] = pd.concat(slices, ignore_index=True)
    figure = figures.draw("bulk-load", tables, [], caption("shared"))
    rate, cost, ratios = figure.axes
    assert [bar.get_width() for bar in rate.patches] == pytest.approx(
        [1.02 * each for each in ways.values()]
    )
    assert len(cost.patches) == 3 * len(ways)
    assert len(ratios.get_yticks()) == 3
    assert "ndb_import over LOAD DATA" in written(figure)
    assert "3 loads of each kind" in said(figure)
    assert outside(figure) == []
    words = figures.describe("bulk-load", tables, [])
    assert "ndb_import: 51" in words
    assert "small redo log over usual 0.8" in words


def test_loads_without_contrasts_say_so():
    """As a measurement has them that was stopped early."""
    tables = actions.together(actions.load(), actions.load("ndb-import"))
    tables["slices"] = made_up_slices_none()
    figure = figures.draw("bulk-load", tables, [], caption("shared"))
    assert "not measured" in written(figure)
    runs = tables["runs"].assign(status="lost a row")
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw("bulk-load", {**tables, "runs": runs}, [], caption("shared"))


def made_up_slices_none() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=float) for name in SCHEMAS["slices"].columns})
