"""The judges, held against worlds whose truth is known: the test of validity.

`expected.csv` has the right words for each claim, from the sources and the truth of the world; they
were written before the first run. `sentences.csv` has what an answer says of a claim.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ndblab import dataset
from ndblab.judging import answers, judge, publication, verdict
from ndblab.judging.clauses import Answer
from worlds.planted import WORLDS
from worlds.recording import Recording

HERE = Path(__file__).parent
ROWS = list(csv.DictReader((HERE / "expected.csv").open(encoding="utf-8")))
SENTENCES = list(csv.DictReader((HERE / "sentences.csv").open(encoding="utf-8")))
CLAIMS = publication.claims()
PLACES = list(dict.fromkeys((row["world"], row["experiment"]) for row in ROWS))
# Claims about a ratio of throughputs, and the contrast that measures it.
RATIOS = {
    "F4-degrade": "fall",
    "B-sockets": "sockets",
    "F6-8-to-16": "servers-8-16",
    "F6-overload": "overload",
    "P-servers-1-2": "servers-1-2",
    "P-servers-2-4": "slower-servers",
    "T-shm-gain": "reads-best",
    "T-top": "writes-top",
}
PRECISION = 0.03


@dataclass(frozen=True)
class Judged:
    """An experiment in a world, what the judges say of it, and its answer in words."""

    recording: Recording
    verdicts: pd.DataFrame
    answer: Answer


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Judged]:
    """Judge an experiment in a world, once: design, dataset, evidence, verdicts, sentences."""

    @cache
    def of(world: str, experiment: str) -> Judged:
        ids = [r["claim"] for r in ROWS if (r["world"], r["experiment"]) == (world, experiment)]
        recording = Recording(WORLDS[world], experiment)
        written = recording.write(tmp_path_factory.mktemp(world), ids)
        data = dataset.read(written.path, verify=False)
        table = judge.judge(data, ids, CLAIMS)
        return Judged(recording, table.set_index("id"), answers.answer(experiment, table, data))

    return of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['world']}-{row['claim']}")
def test_a_claim_gets_the_right_word(
    row: dict[str, str], judged: Callable[[str, str], Judged]
) -> None:
    """The word follows from the truth of the world and the source of the claim."""
    found = judged(row["world"], row["experiment"]).verdicts.loc[row["claim"]]
    assert found["verdict"] in row["words"].split(" | "), f"{found['reason']}; {row['reason']}"


@pytest.mark.parametrize(("world", "experiment"), PLACES)
def test_an_answer_says_what_the_verdicts_say(
    world: str, experiment: str, judged: Callable[[str, str], Judged]
) -> None:
    """What the words call certain is decided, the same way; the undecided is not called certain."""
    found = judged(world, experiment)
    certain = "; ".join(found.answer.certain)
    for row in SENTENCES:
        if row["claim"] in found.verdicts.index:
            word = found.verdicts.at[row["claim"], "verdict"]
            said = {key: bool(re.search(row[key], certain)) for key in ("true", "false")}
            against = word in (verdict.CONTRADICTED, verdict.DIFFERS)
            expected = {"true": word == verdict.REPRODUCED, "false": against}
            assert said == expected, f"{row['claim']} is {word}: {certain}"


@pytest.mark.parametrize(("world", "experiment"), PLACES)
def test_what_is_measured_is_what_was_planted(
    world: str, experiment: str, judged: Callable[[str, str], Judged]
) -> None:
    """The planted ratio of a contrast comes out, in spite of noise, drift and unlucky starts."""
    found = judged(world, experiment)
    for claim, contrast in RATIOS.items():
        if claim in found.verdicts.index:
            _, low, high = found.verdicts.loc[claim, ["measured", "low", "high"]]
            planted = found.recording.planted_ratio(contrast)
            widened = low * (1 - PRECISION), high * (1 + PRECISION)
            assert widened[0] <= planted <= widened[1], f"{claim}: {planted}, {low} to {high}"


@pytest.mark.parametrize("world", [w for w, e in PLACES if e == "multi-server-scaling"])
def test_the_first_sentence_of_figure_6_is_true_of_its_figure(
    world: str, judged: Callable[[str, str], Judged]
) -> None:
    """It says whether 16 servers give more or fewer queries/s than 8 as the planted curves do."""
    found = judged(world, "multi-server-scaling")
    [sentence] = [text for text in found.answer.certain if "16 servers did" in text and " 8" in text
                  and "at equal clients" in text]  # fmt: skip
    clients = [c for c in found.recording.size.clients if c >= 16]
    planted = [found.recording.planted_qps(16, c) / found.recording.planted_qps(8, c)
               for c in clients]  # fmt: skip
    ratio = float(np.exp(np.mean(np.log(planted))))
    said = re.search(r"(neither|more|fewer)", sentence)
    assert said, sentence
    wrong = {"more": ratio < 1, "fewer": ratio > 1}.get(said[1], abs(np.log(ratio)) > PRECISION)
    assert not wrong, f"{sentence}, planted {ratio}"


def test_a_server_that_is_idle_is_not_said_to_be_saturated(
    judged: Callable[[str, str], Judged],
) -> None:
    """Throughput is still proportional at the most clients, so no number of them saturates."""
    assert "saturated" not in "; ".join(judged("nothing", "single-server-scaling").answer.certain)


def test_the_expected_words_are_words_of_the_lab() -> None:
    """A typo in the table would match never, or always."""
    known = {claim.id for claim in CLAIMS}
    assert {row["claim"] for row in [*ROWS, *SENTENCES]} <= known
    assert {word for row in ROWS for word in row["words"].split(" | ")} <= set(verdict.WORDS)
    assert {row["world"] for row in ROWS} == set(WORLDS)
    assert all(row["reason"] for row in ROWS)
