"""The forest of a comparison."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from comparing.test_judged import dataset
from ndblab.comparing import figure, judged, sides

SIDES = sides.parse(["ndb_batch_size=64K"])


def measured(blocks: int) -> SimpleNamespace:
    """Make up a dataset in which B is 5 % faster, with what a caption needs."""
    data = dataset(max(blocks, 1), 1.05)
    data.slices = data.slices[data.slices["block"] <= blocks]
    more = {"id": "made-up", "budget": "shared", "host": {"logical_cpus": 2, "cpu_model": "x"}}
    return SimpleNamespace(**vars(data), **more, describe_host=lambda: "a host")


def test_the_forest_shows_three_ratios_and_their_blocks() -> None:
    """It stands below the answer, with the settings of both sides."""
    data = measured(20)
    result = judged.judge(data)
    drawn = figure.draw(data, result, map(SIDES.words, "ab"), 0.02)
    [ax] = drawn.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "queries/s", "p95 latency", "CPU time per query",
    ]  # fmt: skip
    texts = [text.get_text() for text in drawn.texts]
    assert any(text.startswith("B is ") and "% faster" in text for text in texts)
    assert any("B: ndb_batch_size=65536." in text for text in texts)
    [circles] = (line for line in ax.lines if line.get_markerfacecolor() == "none")
    assert len(circles.get_xdata()) == pytest.approx(60, abs=4)


def test_there_is_no_picture_before_a_block_is_whole(tmp_path: Path) -> None:
    """Afterwards there is one file for each dataset."""
    for blocks, name in ((0, None), (1, "made-up.png")):
        data = measured(blocks)
        file = figure.save(data, judged.judge(data), SIDES, 0.02, tmp_path)
        assert (file and file.name) == name
