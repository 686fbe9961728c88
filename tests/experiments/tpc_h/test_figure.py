"""The queries of TPC-H, drawn. The slices are made up."""

from __future__ import annotations

import pytest

from drawn import caption, outside, said, written
from experiments.tpc_h import made_up
from ndblab import figures
from ndblab.error import LabError
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.figures import style

RATIOS = {n: 0.7 + 0.35 * n for n in range(1, 23)}


def draw(made):
    return figures.draw("tpc-h", made, [], caption("shared"))


def marks(ax, faces) -> list[float]:
    dots = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    return [line.get_xdata()[0] for line in dots if line.get_markerfacecolor() == faces]


def test_every_query_is_a_mark_on_a_logarithmic_axis() -> None:
    """Filled if NDB was given joins; its interval lies around it; no word leaves the picture."""
    made = made_up.tables(RATIOS, unpushed=(1, 6))
    figure = draw(made)
    found = pushdown.table(**made)
    left, right = figure.axes
    assert [ax.get_xscale() for ax in (left, right)] == ["log", "log"]
    filled, hollow = marks(left, style.THROUGHPUT), marks(left, "white")
    pushed = found["is_pushed"]
    assert filled == pytest.approx(found.loc[pushed, "ratio"].to_list())
    assert hollow == pytest.approx(found.loc[~pushed, "ratio"].to_list())
    assert [label.get_text() for label in left.get_yticklabels()] == [f"Q{n}" for n in RATIOS]
    assert outside(figure) == []
    words = figures.describe("tpc-h", made, [])
    assert f"Q22 {found['ratio'].iloc[-1]:.2f} ({found['low'].iloc[-1]:.2f} to" in words


def test_what_failed_is_named_in_its_row() -> None:
    """There is no mark for it, and the description says why."""
    made = made_up.tables({5: 6.0, 6: 1.0})
    made["slices"]["status"] = made["slices"]["status"].mask(
        made["slices"]["workload"] == "tpc_h_q05", "Q5 took longer than 60 s"
    )
    made["runs"] = made["runs"][made["runs"]["workload"] != "tpc_h_q05"]
    figure = draw(made)
    assert "Q5 took longer than 60 s" in written(figure)
    assert "Q5: Q5 took longer than 60 s." in figures.describe("tpc-h", made, [])


def test_a_dataset_with_too_few_blocks_says_so() -> None:
    """Its ratios have no whiskers."""
    figure = draw(made_up.tables({5: 6.0, 6: 1.0}, blocks=1))
    assert "too few blocks" in said(figure)
    assert outside(figure) == []


def test_a_dataset_without_queries_is_refused() -> None:
    """A message, not an empty picture."""
    made = {name: rows.iloc[:0] for name, rows in made_up.tables({5: 6.0}).items()}
    with pytest.raises(LabError, match="nothing to draw"):
        draw(made)
