"""The answer of a search, in words that can be pasted and acted on."""

from __future__ import annotations

import io
import math

import pytest

from ndblab.comparing import knobs, made
from ndblab.design.contrast import ALTERNATION, TWINS
from ndblab.statistics.estimate import Estimate
from ndblab.tuning import answer, space
from ndblab.tuning.history import RACE, Record, Trial
from ndblab.tuning.outcome import Excluded, Finalist, Outcome
from ndblab.tuning.progress import Progress
from ndblab.tuning.space import Row
from ndblab.tuning.wanted import Request, Wanted
from prose import too_long

ROWS = (Row("ndb_batch_size", "8K"), Row("ndb_cluster_connection_pool", "1"), Row("servers", "2"))
NOW = {"servers": 1, "ndb_batch_size": 32768, "ndb_cluster_connection_pool": 8}
SPACE = space.Space(
    space.tunables(ROWS, {knobs.find(name).key: value for name, value in NOW.items()}, 2),
    {ALTERNATION: 20.0, TWINS: 70.0},
)
BOTH = space.made({"ndb_batch_size": 8192, "ndb_cluster_connection_pool": 1})
WINNER = Finalist(BOTH, math.log(1.20), math.log(1.14), math.log(1.09), math.log(1.19), 9)


def wanted(goal: str = "throughput") -> Wanted:
    """Return a search for a goal."""
    return Wanted((), SPACE, made.Load("oltp_point_select", 1, 16), Request(goal=goal))


def outcome(winner: Finalist | None = None, *others: Finalist, **more: object) -> Outcome:
    """Return an outcome with these finalists."""
    finalists = (winner, *others) if winner else others
    plain = {"needless": (), "tried": 180, "infeasible": (), "excluded": math.nan}
    return Outcome(winner, finalists, **(plain | more))


def test_the_answer_has_the_gain_its_interval_and_what_is_restarted():
    """It also has what else the winner changes, in short sentences."""
    ratios = {"throughput": Estimate(1.14, 1.09, 1.19), "p95": Estimate(0.92, 0.87, 0.97)}
    text = answer.sentence(outcome(WINNER), wanted(), {BOTH: ratios})
    assert text == (
        "These two settings together gave 14 % more queries/s (9 to 19 %). "
        "That holds for the hours of the search; on another day, expect -0.77 to +35 %. "
        "With them: p95 8 % less (3 to 13 %). For them, the MySQL servers are restarted."
    )


@pytest.mark.parametrize("goal", ["cpu", "p95"])
def test_nothing_is_expected_on_another_day_for_other_goals(goal: str):
    """The answer says so; for throughput it has a range, also as plain data."""
    assert "on another day is not known" in answer.sentence(outcome(WINNER), wanted(goal), {})
    assert answer.to_json(outcome(WINNER), wanted(goal), {})["another_day"]["low"] is None
    known = answer.to_json(outcome(WINNER), wanted(), {})["another_day"]
    assert known == {
        "value": 1.14,
        "low": pytest.approx(0.992, abs=1e-3),
        "high": pytest.approx(1.351, abs=1e-3),
    }
    assert answer.to_json(outcome(), wanted(), {})["another_day"]["value"] is None


def test_the_search_s_own_estimate_stands_beside_what_was_confirmed():
    """What was chosen for being best looked better than it is."""
    text = "\n".join(answer.details(outcome(WINNER), wanted()))
    assert "+14.0 % (+9.0 to +19.0 %), 9 blocks; the search had +20.0 %" in text


def test_two_found_configurations_can_be_compared():
    """A knob that only one of them sets has the baseline's value on the other side."""
    other = space.made({"ndb_batch_size": 8192, "servers": 2})
    assert wanted().compared(BOTH, other).words == (
        "ndb_batch_size=8192",
        "ndb_cluster_connection_pool=1",
        "ndb_cluster_connection_pool=8",
        "servers=1",
        "servers=2",
    )


def test_what_is_pasted_is_grouped_by_what_it_costs():
    """What needs no restart comes first; a knob that does nothing is left out."""
    lines = answer.to_paste(outcome(WINNER), wanted())
    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == [
        "To paste; for it, nothing is restarted; new sessions have it:",
        "To paste; for it, the MySQL servers are restarted:",
    ]
    assert "    SET PERSIST ndb_batch_size = 8192;" in lines
    assert "    ndb_cluster_connection_pool=1" in lines
    fewer = outcome(WINNER, needless=("ndb_batch_size",))
    assert not any("ndb_batch_size" in line for line in answer.to_paste(fewer, wanted()))
    assert "This setting gave 14 % more" in answer.sentence(fewer, wanted(), {})
    assert "at most 1 % worse" in answer.sentence(fewer, wanted(), {})


def test_what_is_better_left_out_is_told_with_what_that_gained():
    """Not as if it made no difference."""
    less = outcome(WINNER, needless=("ndb_batch_size",), without=Estimate(1.14, 1.05, 1.24))
    text = answer.sentence(less, wanted(), {})
    assert "ndb_batch_size as well, without which it gave 14 % more queries/s (5 to 24 %)" in text
    assert too_long(text) == []
    assert answer.to_json(less, wanted(), {})["without_needless"]["low"] == 1.05


def test_a_command_measures_the_confirmed_gain_once_more():
    """Both values of each setting, and the same number of clients; what is needless is left out."""
    _, command = answer.to_check(outcome(WINNER, needless=("ndb_batch_size",)), wanted())
    assert command.split() == [
        "./lab", "compare", "ndb_cluster_connection_pool=8", "ndb_cluster_connection_pool=1",
        "--clients", "16",
    ]  # fmt: skip


def test_settings_from_which_no_clear_gain_was_seen_are_not_recommended():
    """The confirmed gain is that of all together; what was left out is not named again."""
    doubtful = outcome(WINNER, doubtful=("ndb_batch_size",))
    text = answer.sentence(doubtful, wanted(), {})
    assert "Estimated, not confirmed singly: a gain from ndb_cluster_connection_pool=1. " in text
    assert text.endswith("In doubt, so try without: ndb_batch_size=8192.")
    assert too_long(text) == []
    assert answer.to_json(doubtful, wanted(), {})["doubtful"] == ["ndb_batch_size"]
    heads = [line for line in answer.to_paste(doubtful, wanted()) if not line.startswith(" ")]
    assert [head.partition(";")[0] for head in heads] == [
        "To paste", "In doubt, though measured with them",
    ]  # fmt: skip
    left = outcome(WINNER, doubtful=("ndb_batch_size",), needless=("ndb_batch_size",))
    assert "doubt" not in answer.sentence(left, wanted(), {})


def test_an_older_answer_is_told_in_the_words_of_today():
    """From its parts; its own sentence stays in its manifest."""
    plain = answer.to_json(outcome(WINNER), wanted(), {}) | {"headline": "Set these two: 14 %"}
    assert answer.retold(plain) == answer.headline(outcome(WINNER), wanted())
    none = answer.to_json(outcome(excluded=0.04, bounded=170), wanted(), {})
    assert answer.retold(none) == none["headline"]


def test_nothing_found_names_the_gain_that_is_excluded():
    """It also says how many were tried; without a bound it excludes no gain."""
    text = answer.sentence(outcome(excluded=0.04, bounded=170), wanted(), {})
    assert text == (
        "Keep your configuration: nothing found; a gain of more than 4.0 % is excluded among "
        "170 of 180 tried."
    )
    assert answer.sentence(outcome(excluded=math.nan), wanted(), {}) == (
        "Keep your configuration: nothing found."
    )


def test_a_gain_that_is_open_is_neither_claimed_nor_ruled_out():
    """More minutes may decide it."""
    waiting = Finalist(BOTH, 0.1, 0.03, -0.02, 0.08, 6)
    text = answer.sentence(outcome(None, waiting, excluded=0.083, bounded=180), wanted(), {})
    assert text == (
        "Keep your configuration: no gain is confirmed so far; a gain of more than 8.3 % is "
        "excluded among 180 tried."
    )
    text = answer.sentence(outcome(None, waiting), wanted(), {})
    assert text == "Keep your configuration: no gain is confirmed so far."


def test_ways_of_trying_that_exclude_less_are_named():
    """A noisy way excludes little, whatever the others exclude."""
    ways = (Excluded(ALTERNATION, 0.21, 15), Excluded(TWINS, 0.062, 26))
    result = outcome(excluded=0.21, bounded=41, by_design=ways)
    lines = answer.details(result, wanted())
    assert "  switched in one running cluster: more than 21.0 % among 15" in lines
    assert "  with cluster starts of its own: more than 6.2 % among 26" in lines
    assert answer.to_json(result, wanted(), {})["excluded_by_design"][TWINS]["among"] == 26


@pytest.mark.parametrize(
    ("goal", "expected"), [("p95", "20 % lower p95"), ("cpu", "20 % less CPU per query")]
)
def test_what_should_be_small_gains_by_getting_smaller(goal: str, expected: str):
    """With a gain of 1.25, the baseline has 1.25 times as much."""
    assert answer.gain(Estimate(1.25, 1.2, 1.3), goal).startswith(expected)


def test_a_trial_that_is_over_is_a_line_with_its_reason_if_it_failed():
    """The line above the bar says what was tried, against what, and with what result."""
    stream = io.StringIO()
    progress = Progress(SPACE, 600.0, stream=stream)
    trial = Trial(RACE, BOTH, 2, TWINS)
    progress.trying(trial, 2)
    progress.over(7, Record(trial, (0.1, 0.12), 140.0), outcome())
    progress.over(8, Record(trial, (), 9.0, "Data node 2 has ended"), outcome())
    progress.close()
    text = stream.getvalue()
    assert "against the baseline: +11.6 %, 2 blocks" in text
    assert "infeasible, Data node 2 has ended" in text
    assert "nothing better so far" in text


def test_what_was_never_tried_together_is_not_shown_as_found():
    """The sum of the gains of single trials may be many times the true gain."""
    expected = Finalist(BOTH, math.log(7), math.nan, math.nan, math.nan, 0)
    stream = io.StringIO()
    progress = Progress(SPACE, 600.0, stream=stream)
    progress.over(7, Record(Trial(RACE, BOTH, 1, TWINS), (0.11,), 70.0), outcome(None, expected))
    progress.close()
    assert "best trial +11.6 %, not confirmed" in stream.getvalue()
    assert "+600" not in stream.getvalue()
