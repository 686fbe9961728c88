"""Dumps, drawn. The runs are made up."""

from __future__ import annotations

import pytest

import small_runs
from drawn import caption, said, title
from experiments.dump import made_up
from ndblab import figures


def test_a_dump_has_a_bar_of_time_and_one_of_size():
    """As long as their means, with the numbers beside them."""
    kinds = {"none": (5.0, 1_000_000), "zstd": (4.0, 400_000), "gzip": (9.5, 350_000)}
    tables = small_runs.together(
        *(
            made_up.dump(name, repeat, seconds=seconds + repeat / 10, written_bytes=size)
            for name, (seconds, size) in kinds.items()
            for repeat in (1, 2, 3)
        )
    )
    figure = figures.draw("dump", tables, [], caption("shared"))
    time, size = ([bar.get_width() for bar in ax.patches] for ax in figure.axes)
    assert time == pytest.approx([5.2, 4.2, 9.7])
    assert size == pytest.approx([1.0, 0.4, 0.35])
    assert "3 dumps per kind" in said(figure)
    words = figures.describe("dump", tables, [])
    assert "compression gzip takes 9.7 s" in words
    assert "writes 0.4 MB, 40 % of the content" in words
    assert title(figure).startswith("zstd leaves 40 % of the size in 19 % less time")
