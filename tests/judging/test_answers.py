"""What an experiment answers in words: certain, open, or not testable, with the table's numbers."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

import pandas as pd
import pytest

from made_up import double
from ndblab import discovery
from ndblab.design import catalogue
from ndblab.error import MissingData
from ndblab.formatting import plain
from ndblab.judging import answers, clauses, judge, publication, verdict
from ndblab.judging.clauses import Advice, Answer, Clause
from ndblab.measuring import recorded
from ndblab.publishing import notebook, verdict_tables
from ndblab.publishing.notebook import exhibit
from prose import too_long

RECORDED = [e.name for e in catalogue.every().values() if e.claims and recorded.has(e)]
DOUBLING = Clause("x", "doubles: {value} times {interval}", "not {value}", "whether it doubles")


UNDER_QUOTAS = "under CPU quotas, "


def judged(word: str, measured: float = 1.9, low: float = 1.8, high: float = 2.0) -> pd.DataFrame:
    """One made-up verdict on the claim x."""
    row = ("x", word, "made up", "2", measured, low, high, "ratio", "d")
    return pd.DataFrame([row], columns=judge.COLUMNS)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (verdict.REPRODUCED, "Doubles: 1.9 times (1.8 to 2)."),
        (verdict.CONTRADICTED, "Not 1.9."),
        (verdict.INCONCLUSIVE, "Nothing is decided yet. Open: whether it doubles."),
        (verdict.DIFFERS, "Not 1.9."),
        (verdict.BY_CONSTRUCTION, "By construction, so no finding: whether it doubles."),
        (verdict.NOT_COMPARABLE, "Not comparable: whether it doubles."),
        (verdict.NOT_TESTABLE, "Not testable here: whether it doubles."),
        (verdict.UNKNOWN, ""),
    ],
)
def test_a_clause_says_what_its_verdict_allows(word: str, text: str) -> None:
    """What is decided is stated, with its numbers; the rest is named by the word of its verdict."""
    assert str(clauses.compose([DOUBLING], judged(word))) == text


def test_without_an_interval_nothing_is_decided() -> None:
    """Not "of 0 claims: none", for an experiment whose answer has no clause yet."""
    said = str(answers.answer("none of the lab's", judged("").iloc[:0]))
    assert said.startswith("Nothing is decided yet.")


def test_a_ratio_below_one_can_be_said_as_a_fall() -> None:
    """A fall to 0.84 (0.8 to 0.96) times is a fall by 16 % (4 to 20 %)."""
    fall = Clause("x", "falls by {value_fall_pct} {interval_fall_pct}", "", "")
    answer = clauses.compose([fall], judged(verdict.REPRODUCED, 0.84, 0.8, 0.96))
    assert str(answer) == "Falls by 16 % (4 to 20 %)."


def test_a_finding_is_a_sentence_and_advice_comes_last() -> None:
    """Names keep their first letter; advice is the first to go where room is short."""
    answer = clauses.compose(["one is so", Advice("do that"), "ndb_x is off"], judged("").iloc[:0])
    assert str(answer) == "One is so. ndb_x is off. Do that."
    assert "Do that" not in answer.brief(1, 25)


def test_a_comparison_that_rests_on_one_cluster_start_says_so() -> None:
    """As claims do, which are withheld then; a sweep comes before the first slice."""
    slices = pd.DataFrame({"contrast": ["x", "x", "y", "y"], "start": [1, 1, 1, 2]})
    assert clauses.within_one_start(slices, "x") == ", in one cluster start"
    assert clauses.within_one_start(slices, "y") == clauses.within_one_start(slices, "x", "y") == ""
    assert clauses.within_one_start(slices) == ", in one cluster start"
    assert clauses.within_one_start(slices[slices["start"] == 2]) == ""


def test_a_claim_without_a_verdict_is_not_mentioned() -> None:
    """An older dataset may lack a claim."""
    assert not clauses.compose([DOUBLING], judged(verdict.REPRODUCED).iloc[:0])


def test_a_short_answer_counts_what_it_leaves_out() -> None:
    """Two lines hold what is certain before what is open; nothing is left out silently but what
    this host cannot test."""
    words = [f"finding number {i} of this experiment" for i in range(4)]
    short = Answer(tuple(words), tuple(words), ("the rest",)).brief(2, 100)
    assert len(textwrap.wrap(short, 100)) <= 2
    assert short.endswith("Open: 4 questions.")
    assert words[2] in short.lower()
    assert "the rest" not in short
    some = Answer(("one is so",), tuple(f"whether number {i} is faster" for i in range(4)))
    assert some.brief(1, 70).endswith("Open: whether number 0 is faster. Also open: 3 questions.")


@pytest.mark.parametrize("name", [*RECORDED, "capacity-model", "the-brief"])
def test_every_experiment_has_an_answer_of_its_own(name: str) -> None:
    """It ends as a sentence, and two lines of a terminal hold its short form."""
    answer = exhibit.answer(notebook.read(catalogue.notebook(catalogue.find(name))))
    discovery.modules("answer")
    assert name in answers.ANSWERS
    assert str(answer).endswith(".")
    assert len(textwrap.wrap(answer.brief(), 100)) <= 2


def test_an_interval_of_all_recordings_together_is_called_so() -> None:
    """A reader would take it for that of the newest recording, as those of other findings are."""
    text = "it is {value} {interval}, {change}, {value_gain_pct} {interval_gain_pct}"
    clause = Clause("X", text, "", "")
    row = {"id": ["X"], "verdict": [verdict.REPRODUCED], "measured": 1.9, "low": 1.8, "high": 2.0}
    pooled = f"{verdict.TOGETHER} 1.90 (1.80 to 2.00) times"
    for reason, more in (("1.90 (1.80 to 2.00) times", ""), (pooled, ", together")):
        said = str(clauses.compose([clause], pd.DataFrame({**row, "reason": [reason]})))
        assert said == (
            f"It is 1.9 (1.8 to 2{more}), +90 % (+80 to +100 %{more}), 90 % (80 to 100 %{more})."
        )


def test_recorded_findings_of_several_recordings_say_which_interval_they_have() -> None:
    """Those that repeat a pooled claim say "together", those of a single recording do not."""
    for name, together in (("network-cost", True), ("connection-pool", False)):
        data = recorded.obtain(name)
        [first, *_] = answers.answer(name, verdict_tables.of(data), data).certain
        assert ("together)" in first) == together, first


BY_QUOTAS = clauses.under_quotas([]).partition(": ")[2]
"""How what servers with quotas gain ends, which no claim is about."""


def begun_alike(answer: Answer) -> Answer:
    """Leave out that quotas divided the CPUs, which whatever finding comes first says."""
    return replace(answer, certain=tuple(t.removeprefix(UNDER_QUOTAS) for t in answer.certain))


@pytest.mark.parametrize("name", RECORDED)
def test_an_answer_follows_the_verdicts(name: str) -> None:
    """If all claims are open, nothing of them is certain; if all are reproduced, nothing is open.

    Only what was measured without a claim, such as a longest gap, is certain either way. What is
    said of an open claim says of how many runs, or what of it is known."""
    data = recorded.obtain(name)
    table = verdict_tables.of(data)
    unsure = begun_alike(answers.answer(name, table.assign(verdict=verdict.INCONCLUSIVE), data))
    sure = begun_alike(answers.answer(name, table.assign(verdict=verdict.REPRODUCED), data))
    assert unsure.open
    assert not sure.open
    by_claims = [text for text in sure.untestable if not text.endswith(BY_QUOTAS)]
    assert not [*by_claims, *sure.incomparable]
    instead = [text for text in unsure.certain if text not in sure.certain]
    known = r"in \d+ runs?, |.* by how much is open: |throughput in 95 % of the seconds "
    assert all(re.match(known, text) for text in instead)
    assert len(sure.certain) == len(unsure.open) + len(unsure.certain) - len(instead)


@pytest.mark.parametrize("name", RECORDED)
def test_an_answer_finds_nothing_in_what_is_ruled_out(name: str) -> None:
    """Forced, not testable or not comparable: only what needs no claim is certain.

    What stands for a claim that is ruled out says that quotas were at work.
    """
    data = recorded.obtain(name)
    table = verdict_tables.of(data)
    said = answers.answer(name, table.iloc[:0], data).certain
    for word in verdict.RULED_OUT:
        answer = answers.answer(name, table.assign(verdict=word), data)
        assert not answer.open
        extra = [text for text in answer.certain if text not in said]
        assert all(re.search("by construction|^under CPU quotas, ", text) for text in extra)


@pytest.mark.parametrize("name", RECORDED)
def test_every_clause_is_about_a_claim_of_the_sources(name: str) -> None:
    """A misspelt id would silently say nothing."""
    data = recorded.obtain(name)
    known = {claim.id for claim in publication.claims()}
    # Finding the experiments' answers is what fills `ANSWERS`.
    discovery.modules("answer")
    assert name in answers.ANSWERS
    said = answers.ANSWERS[name](data, verdict_tables.of(data))
    assert {c.id for c in said if isinstance(c, Clause)} <= known


def test_the_answer_has_the_numbers_of_the_decided_claims() -> None:
    """The recorded sweep of many servers, word for word as its verdicts."""
    data = recorded.obtain("multi-server-scaling")
    table = verdict_tables.of(data).set_index("id")
    table.loc["F6-double-servers", ["verdict", "measured", "low", "high"]] = (
        verdict.REPRODUCED, 1.77, 1.71, 1.83,
    )  # fmt: skip
    text = str(answers.answer(data.experiment, table.reset_index(), data))
    assert "raised throughput by at least 77 % (71 to 83 %)" in text


def test_an_experiment_without_an_answer_counts_its_verdicts() -> None:
    """A new experiment says something before anyone has written its sentences."""
    assert str(answers.answer("new", judged(verdict.REPRODUCED))) == "Of 1 claim: 1 reproduced."


def test_data_that_an_answer_lacks_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then verdicts are counted."""

    def lacking(*_: object) -> None:
        raise MissingData("nothing")

    monkeypatch.setitem(answers.ANSWERS, "lacking", lacking)
    answer = answers.answer("lacking", judged(verdict.REPRODUCED), double())
    assert "1 reproduced" in str(answer)


@pytest.mark.parametrize(
    ("budget", "first", "said"),
    [
        ("scaled", "it gave 2 % more", "Under CPU quotas, it gave 2 % more. So 3 %."),
        ("scaled", "under load, it did 2/s", "Under CPU quotas and load, it did 2/s. So 3 %."),
        ("scaled", "each has its quota: 2 times", "Each has its quota: 2 times. So 3 %."),
        ("scaled", "with all CPUs, it gave 2 %", "With all CPUs, it gave 2 %. So 3 %."),
        ("scaled", "2 rows are wrong", "2 rows are wrong. Under CPU quotas, so 3 %."),
        ("shared", "it gave 2 % more", "It gave 2 % more. So 3 %."),
    ],
)
def test_an_answer_says_once_that_quotas_divided_the_cpus(
    budget: str, first: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ratio does, unless it speaks of CPUs anyway: quotas shape what is measured."""
    monkeypatch.setitem(answers.ANSWERS, "divided", lambda *_: [first, "so 3 %"])
    data = double(budget=budget)
    assert str(answers.answer("divided", judged(verdict.REPRODUCED), data)) == said


@pytest.mark.parametrize("name", [e.name for e in catalogue.every().values() if recorded.has(e)])
def test_a_recorded_finding_measured_under_quotas_says_so(name: str) -> None:
    """The first of an answer, once; what CPUs are divided by has no bearing on the lab's goals."""
    data = recorded.obtain(name)
    if data.budget == "scaled" and name != "the-lab-itself":
        said = answers.answer(name, verdict_tables.of(data), data)
        assert re.search(r"\bCPUs\b|\bquotas?\b|share of \d+ %", said.certain[0]), said.certain[0]
        assert said.certain[0].lower().count("under cpu quotas") <= 1
        assert too_long(str(said)) == []


def test_the_model_meets_or_misses_its_goals() -> None:
    """By the median errors of its table, beside the best of the simpler methods."""
    table = pd.DataFrame(
        {
            "name": ["capacity model"] * 2 + ["model, calibrated"] * 2 + ["line"] * 2,
            "metric": ["qps", "latency_p95_ms"] * 3,
            "points": 7,
            "median_pct": [9.0, 30.0, 11.0, 12.0, 41.0, 42.0],
            "goal_pct": [10.0, 25.0, None, None, None, None],
        }
    )
    text = str(answers.answer("capacity-model", table))
    assert "9 % in throughput (goal 10 %: met)" in text
    assert "30 % in p95 (goal 25 %: missed)" in text
    assert "The best of the simpler methods are off by 41 % in throughput and 42 % in p95" in text


def test_many_open_questions_are_asked_in_sentences_that_can_be_read() -> None:
    """None has more than 30 words, and no question is lost."""
    questions = tuple(f"whether the {n} thing of many is faster" for n in "abcdefghi")
    for said in (str(Answer((), questions)), str(Answer(("a",), untestable=questions))):
        assert all(len(part.split()) <= 30 for part in said.split(". "))
        assert all(question in said for question in questions)


def test_a_full_server_is_advised_cpus_and_rows_their_memory() -> None:
    """Both numbers are those of the recorded sweep of one server."""
    data = recorded.obtain("single-server-scaling")
    table = verdict_tables.of(data)
    advice = answers.answer(data.experiment, table, data).advice
    row = table.set_index("id").loc["B-row-bytes"]
    assert any(text.startswith(("Once a MySQL server", "Start with a pool")) for text in advice)
    assert any(f"plan {plain(row.measured)} MB of DataMemory" in text for text in advice)


def test_the_brief_is_not_followed_where_it_asks_for_too_many_servers() -> None:
    """With the sum that shows it; without it, nothing is advised.

    The brief had its highest throughput with them, so the advice does not call them too many.
    """
    rows = {
        "id": ["rule-over"],
        "arithmetic": ["8 x 14 = 112 > 96 a socket; more"],
        "consequence": [""],
    }
    table = pd.DataFrame({**rows, "holds": [True]})
    [advice] = answers.answer("the-brief", table).advice
    assert "not all could run at their best (8 x 14 = 112 > 96 a socket)" in advice
    assert "had most throughput with 8 on a socket" in advice
    assert "need more than it had" not in advice
    assert not answers.answer("the-brief", table.assign(holds=False)).advice
