"""What a terminal shows at the end: one screen, decided claims first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ndblab.design import catalogue
from ndblab.judging import judge, publication, verdict
from ndblab.judging.answers import Answer
from ndblab.publishing import terminal, verdict_tables

SCALING = catalogue.find(figure=6)
PLACES = ["figures  x", "page     y", "dataset  z"]


def table(words: dict[str, str]) -> pd.DataFrame:
    """Made-up verdicts on claims of the sources."""
    rows = [
        (i, word, "why", "less than 1", 0.84, 0.8, 0.88, "ratio", "d") for i, word in words.items()
    ]
    return pd.DataFrame(rows, columns=judge.COLUMNS)


@pytest.mark.parametrize(
    "word", [verdict.REPRODUCED, verdict.INCONCLUSIVE, verdict.NOT_TESTABLE, verdict.UNKNOWN]
)
@pytest.mark.parametrize("experiment", catalogue.every().values(), ids=lambda e: e.name)
def test_a_reproduction_ends_with_one_screen(experiment, word: str) -> None:
    """Whatever the verdicts, and however much there is to say."""
    ids = [c.id for c in publication.claims() if c.id.startswith(experiment.claims)]
    answer = Answer(("a long finding of this experiment",) * 20, ("a long question",) * 20)
    text = terminal.screen(experiment, answer, table(dict.fromkeys(ids, word)), PLACES)
    lines = text.splitlines()
    assert len(lines) <= terminal.MOST_LINES
    assert lines[0] == experiment.question
    assert lines[-3:] == PLACES


def test_a_verdict_is_a_line_and_open_ones_come_last() -> None:
    """Verdict, id, published and measured."""
    words = {"F6-peak": verdict.INCONCLUSIVE, "F6-overload": verdict.REPRODUCED}
    lines = terminal.screen(SCALING, None, table(words), []).splitlines()
    assert " ".join(lines[2].split()) == "reproduced F6-overload < 1 0.84 (0.8 to 0.88)"
    assert lines[3].startswith("inconclusive  F6-peak")


LONG = Answer(("a long finding of this experiment " * 5,), ("a question",))


@pytest.mark.parametrize(
    ("answer", "room", "text"),
    [
        (Answer(("a finding",)), 1, r"multi-server-scaling: 1 reproduced\. A finding\."),
        (LONG, 0, r"multi-server-scaling: 1 reproduced"),
        (LONG, 1, r"multi-server-scaling: 1 reproduced\nA long finding .* \.\.\."),
    ],
    ids=["one line", "no room", "a line more"],
)
def test_one_of_many_reproductions_has_its_tally_and_what_fits_of_its_answer(
    answer: Answer, room: int, text: str
) -> None:
    """A screen has room for all only if none takes more lines than it needs, though one clause
    alone is longer."""
    judged = table({"F6-overload": verdict.REPRODUCED})
    said = terminal.few_lines(SCALING, answer, judged, room)
    assert max(map(len, said.splitlines())) <= terminal.COLUMNS
    assert re.fullmatch(text, said)


@pytest.mark.parametrize("experiments", [2, 13, 23, 39])
def test_so_many_experiments_fit_one_screen(experiments: int) -> None:
    """With a line each for what they are, and one for where their pages are."""
    rooms = terminal.rooms(experiments)
    assert len(rooms) == experiments
    assert sum(1 + room for room in rooms) + 1 == terminal.MOST_OF_ALL
    assert sorted(rooms, reverse=True) == rooms


def test_readings_and_values_of_another_machine_are_only_counted() -> None:
    """They would hide what was decided."""
    words = dict.fromkeys(("F9-tc-26", "F9-tc-27", "F6-peak-qps"), verdict.NOT_COMPARABLE)
    words["F6-8-to-16"] = verdict.NOT_TESTABLE
    text = terminal.screen(SCALING, None, table(words), [])
    assert "2 readings of ndb_top" in text
    assert "1 absolute value of another machine" in text
    assert "F9-tc-26" not in text
    assert "not testable here  F6-8-to-16" in text


def test_every_word_is_counted_once_and_in_order() -> None:
    """A tally names each verdict that occurs, what was tested first."""
    shared = publication.measured_as()
    ids = [claim.id for claim in publication.claims() if claim.id not in shared]
    ids = ids[: len(verdict.WORDS)]
    tally = verdict_tables.tally(table(dict(zip(ids, verdict.WORDS, strict=True))))
    assert tally == ", ".join(f"1 {word}" for word in verdict.WORDS)


@pytest.mark.parametrize(
    ("one", "other", "counted"),
    [
        (verdict.REPRODUCED, verdict.REPRODUCED, verdict.REPRODUCED),
        (verdict.REPRODUCED, verdict.DIFFERS, verdict.DIFFERS),
        (verdict.REPRODUCED, verdict.INCONCLUSIVE, verdict.INCONCLUSIVE),
        (verdict.INCONCLUSIVE, verdict.DIFFERS, verdict.DIFFERS),
        (verdict.DIFFERS, verdict.CONTRADICTED, verdict.CONTRADICTED),
        (verdict.REPRODUCED, verdict.NOT_TESTABLE, verdict.REPRODUCED),
        (verdict.NOT_TESTABLE, verdict.INCONCLUSIVE, verdict.INCONCLUSIVE),
    ],
)
def test_claims_that_rest_on_one_measurement_count_once(one: str, other: str, counted: str) -> None:
    """No agreement hides a disagreement or a claim that is open; what was tested comes first."""
    for pair in (one, other), (other, one):
        words = dict(zip(("B-sockets", "N-clients"), pair, strict=True))
        assert verdict_tables.tally(table(words)) == f"1 {counted}"


@pytest.mark.parametrize(
    ("word", "decided"), [(verdict.REPRODUCED, "1"), (verdict.INCONCLUSIVE, "none")]
)
def test_the_tally_says_how_many_claims_on_the_figures_are_decided(word: str, decided: str) -> None:
    """A list in the text of the brief is not in a figure."""
    words = {"F6-peak": word, "F9-tc-26": verdict.NOT_COMPARABLE, "F9-threads": verdict.REPRODUCED}
    counted = verdict_tables.counted(verdict_tables.with_statements(table(words)))
    assert counted.endswith(f"decide {decided} of the 1 claims on the brief's figures.")


def test_an_absolute_value_that_was_tested_keeps_its_verdict() -> None:
    """On the brief's own server its numbers can be reproduced."""
    assert verdict_tables.tally(table({"F6-peak-qps": verdict.REPRODUCED})) == "1 reproduced"


def test_a_terminal_that_cannot_encode_gets_what_it_can_show() -> None:
    """A narrow space becomes a space and other characters question marks; no command dies of it."""
    program = (
        "import sys, tasks\nfor f in sys.stdout, sys.stderr: print('1\\u202f000 \\u0416', file=f)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert (done.stdout, done.stderr) == (b"1 000 ?\n", b"1 000 ?\n")
