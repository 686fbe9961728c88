"""What is said of each query. The slices are made up."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.tpc_h import made_up
from made_up import Double
from ndblab.error import MissingData
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.formatting import plain
from ndblab.judging import answers
from ndblab.measuring import recorded
from ndblab.statistics import contrasts

WRONG = "Q5 has another result than InnoDB: 4 rows instead of 5"


def test_each_query_has_its_ratio_with_an_interval() -> None:
    """Those that are certainly faster or slower are told from the others."""
    made = made_up.tables({5: 6.0, 6: 1.0, 3: 0.5}, blocks=6, unpushed=(6,))
    queries = pushdown.table(**made)
    assert list(queries["query"]) == [3, 5, 6]
    assert queries["ratio"].to_numpy() == pytest.approx([0.5, 6.0, 1.0], rel=0.1)
    assert list(queries["gain"]) == ["slower", "faster", "open"]
    assert (queries["low"] < queries["ratio"]).all()
    assert (queries["ratio"] < queries["high"]).all()
    assert list(queries["blocks"]) == [6, 6, 6]
    assert list(queries["is_pushed"]) == [True, True, False]
    assert list(queries["reads"]) == [100.0, 100.0, 0.0]
    assert (queries["unpushed_ms"] / queries["pushed_ms"]).to_numpy() == pytest.approx(
        queries["ratio"].to_numpy(), rel=0.1
    )


def test_without_a_block_the_sweep_gives_a_ratio_without_an_interval() -> None:
    """It decides nothing."""
    made = made_up.tables({5: 6.0}, blocks=1)
    made["slices"] = made["slices"].iloc[:3]
    query = pushdown.table(**made).iloc[0]
    assert query["ratio"] == pytest.approx(6.0, rel=0.2)
    assert query["low"] != query["low"]
    assert (query["blocks"], query["gain"]) == (0, "open")


def test_times_are_those_of_the_ratio() -> None:
    """A sweep of another minute would contradict it."""
    made = made_up.tables({5: 6.0}, blocks=4)
    made["runs"].loc[made["runs"]["variant"] == "default", "qps"] /= 100
    query = pushdown.table(**made).iloc[0]
    assert query["unpushed_ms"] / query["pushed_ms"] == pytest.approx(query["ratio"], rel=0.01)


def test_a_query_that_fails_on_one_side_has_no_ratio_but_a_reason() -> None:
    """A wrong result gives no number, however fast it was."""
    made = made_up.tables({5: 6.0, 6: 1.0})
    for name in ("slices", "runs"):
        mine = (made[name]["workload"] == "tpc_h_q05") & (made[name]["variant"] == "default")
        made[name].loc[mine, "status"] = WRONG
    queries = pushdown.table(**made)
    assert queries["ratio"].isna().tolist() == [True, False]
    assert list(queries["why"]) == [WRONG, ""]
    assert pushdown.wrong(made["slices"], made["runs"]) == [WRONG]


def test_a_query_that_ran_out_of_time_is_not_called_unchanged() -> None:
    """It may gain most of all: without pushed joins, it took too long to compare."""
    made = made_up.tables({3: 4.0, 5: 6.0}, blocks=6)
    for name in ("slices", "runs"):
        off = (made[name]["workload"] == "tpc_h_q05") & (made[name]["variant"] == "no-pushdown")
        made[name].loc[off, "status"] = "Q5 took longer than 60 s"
    size = {"profile": {"tables": 8, "table_size": 10_830}}
    data = Double(**made, budget="shared", manifest=size)
    text = str(answers.answer("tpc-h", pd.DataFrame({"id": [], "verdict": []}), data))
    assert "no clear change" not in text
    assert "Q5 has no ratio: Q5 took longer than 60 s" in text


def test_a_dataset_of_other_workloads_is_missing_data() -> None:
    """There is nothing to compare."""
    made = made_up.tables({5: 6.0})
    made = {name: rows.iloc[:0] for name, rows in made.items()}
    with pytest.raises(MissingData, match="no query"):
        pushdown.table(**made)


def test_recordings_together_decide_what_each_of_them_does() -> None:
    """Both hosts agree on Q8; the interval knows that there are two of them."""
    data = recorded.obtain("tpc-h")
    slices = [recording.slices for recording in (*data.earlier, data)]
    value, low, high = pushdown.of_recordings(8, slices)
    alone = [contrasts.ratio(contrasts.log_ratios(recording, "q08")) for recording in slices]
    assert min(alone).value < value < max(alone).value
    assert 1 < low < min(recording.low for recording in alone)
    assert high > max(recording.high for recording in alone)


def test_the_answer_has_what_all_recordings_give_together() -> None:
    """Not the newest one's ratio: a reader would take its interval for the whole error."""
    data = recorded.obtain("tpc-h")
    slices = [recording.slices for recording in (*data.earlier, data)]
    assert len(slices) > 1
    newest = pushdown.table(data.slices, data.runs, data.pushed)
    pooled = pushdown.together(newest, slices)
    for row in pooled.itertuples():
        assert (row.ratio, row.low, row.high) == pytest.approx(
            tuple(pushdown.of_recordings(row.query, slices))
        )
    best = pooled.loc[pooled["ratio"].idxmax()]
    said = answers.answer("tpc-h", pd.DataFrame({"id": [], "verdict": []}), data).headline
    assert f"Q{best['query']} most: {plain(best['ratio'])} times" in said
    assert "in 2 recordings together" in said
