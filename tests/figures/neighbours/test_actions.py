"""Dumps and locks, drawn. The runs are made up."""

from __future__ import annotations

import pytest

import made_up_actions as actions
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.error import LabError
from ndblab.planning.workload import CREATE_SELECT, READ_COMMITTED, REPEATABLE_READ, SET_VARIABLE
from ndblab.workloads.locking_reads.client import STATEMENTS


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
