"""What a search confirmed, as its notebook tells it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from ndblab.comparing import made
from ndblab.error import LabError
from ndblab.experiments.tuned import searched
from ndblab.judging import answers
from ndblab.measuring import manifest, measurement
from ndblab.statistics.estimate import Estimate
from ndblab.tuning import answer, prepared, space
from ndblab.tuning.outcome import Finalist, Outcome
from ndblab.tuning.wanted import Request, Wanted
from prose import too_long
from tuning.test_answer import BOTH, SPACE, WINNER

SECOND = manifest.ROOT / "data/recorded/tune/tune-2cpu-scaled-quick-047a74da-1"

OTHER = Finalist(space.without(BOTH, "ndb_batch_size"), math.log(1.3), blocks=1)


def over(*finalists: Finalist) -> SimpleNamespace:
    """Return the dataset of a search that ended with these finalists."""
    brief = prepared._baseline(["brief"], ())
    wanted = Wanted(brief, SPACE, made.Load("oltp_point_select", 1, 16), Request())
    winner = finalists[0] if finalists else None
    outcome = Outcome(winner, finalists, (), 18, (), math.nan if winner else 0.04, 18)
    changes = {winner.configuration: {"p95": Estimate(0.92, 0.87, 0.97)}} if winner else {}
    plain = answer.to_json(outcome, wanted, changes)
    plain |= {"sentence": answer.sentence(outcome, wanted, changes), "effects": [
        {"name": "servers=2", "ratio": 1.02, "low": 0.98, "high": 1.06}]}  # fmt: skip
    manifest = {"experiment": "tune", "answer": json.loads(json.dumps(plain))}
    at = Path("nowhere", "search-1")
    return SimpleNamespace(
        manifest=manifest, experiment="tune", budget="shared", path=at, id=at.name
    )


def test_confirmed_gains_stand_beside_what_the_search_had_seen():
    """In percent; what has no interval so far has none."""
    table = searched.finalists(over(WINNER, OTHER)).set_index("blocks")
    assert table.loc[9, "95 % low"] == pytest.approx(9)
    assert table.loc[9, "gain in the search, %"] == pytest.approx(20)
    assert table.loc[1, ["gain, %", "95 % low"]].isna().all()
    assert searched.effects(over())["gain, %"].to_list() == [pytest.approx(2)]


def test_a_gain_that_was_measured_again_is_told_after_its_range(tmp_path):
    """Of this search only; whoever reads the gain of one day sees that of another."""
    data = over(WINNER)
    data.path = tmp_path / data.id
    rows = f"dataset,hours_later,gain_ratio,low,high\n{data.id},19,1.05,0.98,1.1\nother,3,2,2,2\n"
    (tmp_path / searched.AGAIN).write_text(rows)
    said = answers.answer("tune", pd.DataFrame(), data).certain
    later = "measured again 19 hours later: neither clearly fewer nor more queries/s (-2 to +10 %)"
    assert said[2] == later
    assert "on another day" in said[1]
    assert not searched.measured_again(over(WINNER))


def test_the_trade_off_is_drawn_only_where_a_search_noted_one():
    """A search of an older lab, or one without finalists, still has its tables."""
    data = over(WINNER, OTHER)
    assert searched.shows_trade_off(data)
    del data.manifest["answer"]["finalists"][0]["beside"]
    assert not searched.shows_trade_off(data)
    assert not searched.shows_trade_off(over())


def test_the_answer_is_the_search_s_own_sentence():
    """Over the baseline that it names, and with what is restarted."""
    said = str(answers.answer("tune", pd.DataFrame(), over(WINNER)))
    assert "brief's configuration" in said
    assert "14 % more queries/s (9 to 19 %)" in said
    assert "on another day, expect -0.77 to +35 %" in said
    assert "p95 8 % less (3 to 13 %)" in said
    assert said.endswith("For that, the MySQL servers are restarted.")
    assert "a gain of more than 4.0 % is excluded" in str(
        answers.answer("tune", pd.DataFrame(), over())
    )


def test_what_a_search_doubts_is_not_recommended():
    """Neither where it stored what is restarted, nor where an older one has it in its sentence."""
    data = over(WINNER)
    known = data.manifest["answer"] | {"doubtful": ["ndb_batch_size"]}
    older = {key: value for key, value in known.items() if key != "restarts"}
    older |= {
        "headline": "Set these two: 14 % more queries/s (9 to 19 %)",
        "sentence": "Set these two: 14 % more queries/s (9 to 19 %), p95 8 % less (3 to 13 %); "
        "the MySQL servers are restarted.",
    }
    for plain in (known, older):
        data.manifest["answer"] = plain
        told = answers.answer("tune", pd.DataFrame(), data)
        assert "14 % more queries/s (9 to 19 %)" in told.certain[0]
        assert told.certain[-1] == (
            "estimated, not confirmed singly: a gain from ndb_cluster_connection_pool=1; "
            "in doubt: ndb_batch_size=8192"
        )
        [advice] = told.advice
        assert "try ndb_cluster_connection_pool=1 first" in advice
        assert "ndb_batch_size" not in advice
        assert advice.endswith("For all settings, the MySQL servers are restarted")


def test_the_newest_recorded_search_names_the_settings_that_it_confirmed():
    """There are few enough for a sentence, and none is in doubt."""
    data = searched.obtain(host=searched.RECORDED)
    told = answers.answer("tune", pd.DataFrame(), data)
    settings = "NumCPUs=1, UseShm=OFF and servers=1"
    assert f"{settings} together gave 126 % more queries/s (112 to 141 %)" in told.certain[0]
    assert f"set {settings}. For that, all data nodes" in told.advice[0]
    assert "in doubt" not in str(told)
    assert too_long(str(told)) == []


def test_a_recorded_search_is_told_without_recommending_what_it_doubts():
    """Its load has no joins, so that it says nothing about ndb_join_pushdown."""
    data = searched.obtain(str(SECOND))
    told = answers.answer("tune", pd.DataFrame(), data)
    assert "7 settings that together gave 152 % more queries/s" in told.certain[0]
    assert any("in doubt: " in text and "ndb_join_pushdown=OFF" in text for text in told.certain)
    assert not any("ndb_join_pushdown" in advice for advice in told.advice)
    assert told.advice[0].endswith("--initial, which deletes the data: back it up first")
    assert told.advice[-1].startswith("With servers=1 no other MySQL server takes over")
    assert too_long(str(told)) == []


def test_without_a_search_the_answer_is_how_to_make_one(tmp_path: Path, monkeypatch):
    """A search that is not over is none."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path)
    assert searched.obtain() is None
    unfinished = tmp_path / "tune/one"
    unfinished.mkdir(parents=True)
    (unfinished / "manifest.json").write_text(
        json.dumps({"started_utc": "2026-11-26T10:00:00Z", "status": "unfinished"})
    )
    assert searched.obtain() is None
    assert "./lab tune brief" in str(answers.answer("tune", pd.DataFrame(), None))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"status": "unfinished"}, "not complete"),
        ({"resumed": [{"utc": "2026-11-27T13:20:00Z"}]}, "interrupted"),
        ({"minutes": 59}, "less than 60 minutes"),
        ({"profile": {"name": "smoke"}}, "profile is smoke"),
        ({"git_commit": "0123456789ab-dirty"}, "never committed"),
    ],
)
@pytest.mark.parametrize("data", [over(WINNER), over()], ids=["a gain", "nothing found"])
def test_a_search_counts_by_how_it_was_made_whatever_it_found(data, change, why):
    """A complete hour in one sitting over the brief's configuration."""
    made_so = {"status": "complete", "minutes": 60, "profile": {"name": "quick"}, "git_commit": "0"}
    said = searched.why_not({**data.manifest, **made_so, **change})
    assert why in said
    assert bool(said) == bool(change)
    elsewhere = {**data.manifest["answer"], "baseline": ["servers=2"]}
    assert "brief's" in searched.why_not({**data.manifest, **made_so, "answer": elsewhere})


def test_the_newest_search_that_counts_is_told(tmp_path: Path, monkeypatch):
    """Of this repository's; a newer one that does not count beside it is left alone."""
    monkeypatch.setattr(measurement, "RECORDED", tmp_path)
    monkeypatch.setattr(searched.datasets, "read", lambda folder: folder.name)
    made_so = {"status": "complete", "profile": {"name": "quick"}, "git_commit": "0"}
    for hour, minutes in ((10, 60), (11, 90), (12, 8)):
        (tmp_path / f"tune/at-{hour}").mkdir(parents=True)
        began = {"started_utc": f"2026-11-28T{hour}:00:00Z", "minutes": minutes}
        text = json.dumps({**over(WINNER).manifest, **made_so, **began})
        (tmp_path / f"tune/at-{hour}/manifest.json").write_text(text)
    assert searched.obtain(host="recorded") == "at-11"
    table = searched.every("recorded")
    assert list(table["began"]) == ["2026-11-28 11:00", "2026-11-28 10:00"]
    assert list(table["95 % low"]) == pytest.approx([9, 9])


def test_a_dataset_of_something_else_is_refused():
    """With what would do."""
    with pytest.raises(LabError, match="no search"):
        searched.obtain("data/recorded/costs/" + next(Path("data/recorded/costs").iterdir()).name)
