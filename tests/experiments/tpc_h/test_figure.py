"""The queries of TPC-H, drawn. The slices are made up."""

from __future__ import annotations

from drawn import caption, outside, said, title, written
from experiments.tpc_h import made_up
from ndblab import figures, formatting
from ndblab.experiments.tpc_h import analysis as pushdown

RATIOS = {n: 0.7 + 0.35 * n for n in range(1, 23)}


def draw(made):
    return figures.draw("tpc-h", made, [], caption("shared"))


def test_every_query_is_a_row_the_largest_gain_first() -> None:
    """It says where NDB was given no joins."""
    made = made_up.tables(RATIOS, unpushed=(1, 6))
    figure = draw(made)
    table = pushdown.table(**made).sort_values("ratio", ascending=False)
    [ax] = figure.axes
    assert ax.get_xscale() == "log"
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert [name.split(",")[0] for name in names] == [f"Q{n}" for n in table["query"]]
    assert {name for name in names if "nothing pushed" in name} == {
        "Q1, nothing pushed", "Q6, nothing pushed"
    }  # fmt: skip
    words = figures.describe("tpc-h", made, [])
    best = table.iloc[0]
    assert f"Q{best['query']} {formatting.change(*best[['ratio', 'low', 'high']])}, " in words
    assert title(figure).startswith("This recording alone: ")


def test_a_query_of_which_nothing_was_pushed_gains_nothing_by_it() -> None:
    """Its interval may exclude 1 by chance."""
    made = made_up.tables({5: 6.0, 6: 2.0}, blocks=9, unpushed=(6,))
    assert "1 of 2 queries are faster" in title(draw(made))


def test_a_loss_is_written_as_the_axis_has_it() -> None:
    """A query that takes six times as long is 0.16 times as fast, not -84 %."""
    made = made_up.tables({5: 6.0, 17: 0.16})
    row = pushdown.table(**made).set_index("query").loc[17]
    numbers = [formatting.plain(row[part]) for part in ("ratio", "low", "high")]
    words = "{} times ({} to {})".format(*numbers)
    assert numbers[0].startswith("0.1")
    assert words in written(draw(made))
    assert f"Q17 {words}, " in figures.describe("tpc-h", made, [])
    assert "-8" not in written(draw(made))


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
