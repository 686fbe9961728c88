"""Checks on two releases, by made-up contrasts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_up import Double, contrasted, double, verdict
from ndblab.judging import answers, judge, publication, releases


def compared(gain: float, first: str, second: str, blocks: int = 9) -> Double:
    """Two engines with a ratio of throughput."""
    sides = {"a": (1, 32, {"qps": 1000.0 * gain}), "b": (1, 32, {"qps": 1000.0})}
    dataset = contrasted(double(), "indexstat", sides, blocks=blocks, claims=("D-indexstat",))
    versions = {"ndb": first, "second_ndb": second}
    return replace(dataset, manifest={**dataset.manifest, "versions": versions})


@pytest.mark.parametrize("engines", [("9.7.4", "9.7.4"), ("21.10.1", "21.4.1")])
def test_other_engines_decide_nothing(engines: tuple[str, str]) -> None:
    """What was measured is shown, with the releases that the claim needs."""
    row = verdict(compared(1.1, *engines), "D-indexstat")
    assert row.verdict == "not testable here"
    assert "needs RonDB 21.04 and 21.10" in row.reason
    assert "times that of" in row.reason


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("9.7.4", "two installations of NDB Cluster 9.7.4 differed in throughput: +10 %"),
        ("9.8.0", "Cluster 9.8.0 raised throughput by 10 %"),
    ],
)
def test_the_answer_names_both_engines(second: str, words: str) -> None:
    """Or says that they are one release."""
    data = compared(1.1, "9.7.4", second)
    judged = judge.judge(data, ["D-indexstat"], publication.claims())
    said = str(answers.answer("engines", judged, data))
    assert words in said
    assert ("against NDB Cluster 9.7.4" in said) == (second != "9.7.4")
    assert ("compare one with itself" in said) == (second == "9.7.4")


def test_without_an_interval_two_installations_do_not_differ() -> None:
    """One block has a ratio, but decides nothing."""
    data = compared(1.1, "9.7.4", "9.7.4", blocks=1)
    judged = judge.judge(data, ["D-indexstat"], publication.claims())
    assert "no certain difference" in str(answers.answer("engines", judged, data))


def test_releases_are_told_by_their_series() -> None:
    """Any release of a series will do, but not an older dataset without a second engine."""
    assert releases.are_measured("rondb-2024-05", {"ndb": "21.4.17", "second_ndb": "22.10.4"})
    assert not releases.are_measured("rondb-2024-05", {"ndb": "21.4.17"})
