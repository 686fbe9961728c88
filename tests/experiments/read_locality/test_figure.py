"""Read locality: shares, throughput and p95 by kind of table. The runs are made up."""

from __future__ import annotations

import numpy as np
import pytest

from drawn import caption, outside, written
from experiments.read_locality import made_up
from ndblab import figures
from ndblab.error import LabError

KEY = "read-locality"
KINDS = ("primary-only", "default", "read-backup", "fully-replicated")


def lines(figure, panel: int) -> list[np.ndarray]:
    """Heights of the drawn means of a panel, in the order of the legend."""
    drawn = [line for line in figure.axes[panel].lines if len(line.get_xdata()) == 3]
    return [np.asarray(line.get_ydata()) for line in drawn if line.get_marker() in "ovs^"]


def test_each_kind_of_table_has_its_line_under_each_load() -> None:
    """Shares are in percent; single lookups are all local to their transactions."""
    figure = figures.draw(KEY, made_up.tables(), [], caption())
    assert len(figure.axes) == 8
    for kind, near, single, ten in zip(
        KINDS, lines(figure, 0), lines(figure, 2), lines(figure, 3), strict=True
    ):
        np.testing.assert_allclose(near, 100 * made_up.NEAR[kind])
        np.testing.assert_allclose(single, 100)
        np.testing.assert_allclose(ten, 100 * made_up.LOCAL[kind])
    text = written(figure)
    assert all(word in text for word in ("primary replica only", "read backup", "fully replicated"))


def test_each_kind_is_described_at_its_best() -> None:
    """Both shares, throughput and latency of each of the eight lines."""
    words = figures.describe(KEY, made_up.tables(), [])
    assert words.count("queries/s and") == 8
    assert "Transactions of ten lookups, each at its best: primary replica only: 25" in words
    assert len(words) < 1700


def test_axes_are_honest_and_no_text_leaves_the_figure() -> None:
    """Shares end at 100 %, throughput begins at zero, latency is logarithmic."""
    figure = figures.draw(KEY, made_up.tables(), [], caption())
    assert [ax.get_yscale() for ax in figure.axes] == ["linear"] * 6 + ["log"] * 2
    assert all(ax.get_ylim()[0] == 0 for ax in figure.axes[:6])
    assert all(100 < ax.get_ylim()[1] < 110 for ax in figure.axes[:4])
    assert outside(figure) == []


def test_every_swept_variant_of_the_experiment_is_drawn() -> None:
    """A variant with another name would be left out."""
    swept = {each.name for each in made_up.EXPERIMENT.variants if not each.contrasts_only}
    assert swept == set(KINDS)


def test_runs_without_counters_are_refused() -> None:
    """The message says what is missing."""
    data = made_up.tables()
    data["reads"] = data["reads"].iloc[:0]
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())
