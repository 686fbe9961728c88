"""The judges, held against worlds whose truth is known: the test of validity.

`expected.csv` has the right words for each claim, from the sources and the truth of the world. A
row that today's judges fail says in `wrong_today` what is wrong; it fails once it is right.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from ndblab import dataset
from ndblab.judging import answers, judge, publication, verdict
from worlds.planted import WORLDS
from worlds.recording import Recording

ROWS = list(csv.DictReader((Path(__file__).parent / "expected.csv").open(encoding="utf-8")))
CLAIMS = publication.claims()
Judged = Callable[[str, str], tuple[pd.DataFrame, str]]


def _cases() -> list[object]:
    wrong = pytest.mark.xfail
    return [
        pytest.param(
            row,
            id=f"{row['world']}-{row['claim']}",
            marks=[wrong(strict=True, reason=row["wrong_today"])] if row["wrong_today"] else [],
        )
        for row in ROWS
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return the verdicts on an experiment in a world, and its answer in words."""

    @cache
    def of(world: str, experiment: str) -> tuple[pd.DataFrame, str]:
        ids = [r["claim"] for r in ROWS if (r["world"], r["experiment"]) == (world, experiment)]
        root = tmp_path_factory.mktemp(world)
        written = Recording(WORLDS[world], experiment).write(root, ids)
        table = judge.judge(dataset.read(written.path), ids, CLAIMS)
        return table, str(answers.answer(experiment, table, written))

    return of


@pytest.mark.parametrize("row", _cases())
def test_a_claim_gets_the_right_word(row: dict[str, str], judged: Judged) -> None:
    """What a world's truth makes of a claim is what the judges say."""
    table, _ = judged(row["world"], row["experiment"])
    found = table.set_index("id").loc[row["claim"]]
    assert found["verdict"] in row["words"].split(" | "), f"{found['reason']}; {row['reason']}"


def test_the_expected_words_are_words_of_the_lab() -> None:
    """A typing error in the table would never be met, or always."""
    known = {claim.id for claim in CLAIMS}
    assert {row["claim"] for row in ROWS} <= known
    assert {word for row in ROWS for word in row["words"].split(" | ")} <= set(verdict.WORDS)
    assert {row["world"] for row in ROWS} == set(WORLDS)
