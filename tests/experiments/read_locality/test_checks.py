"""Checks on read locality. The datasets are made up, never a measurement."""

from __future__ import annotations

import pytest

from experiments.read_locality import made_up
from made_up import verdict


@pytest.mark.parametrize(
    ("name", "value"), [("C-read-backup", 0.55 / 0.325), ("C-fully-replicated", 1.0),
                        ("C-location", 0.99)],
)  # fmt: skip
def test_reads_that_go_where_the_source_says_reproduce_it(name: str, value: float):
    """Exact shares, the same in each block, have an interval of no width."""
    row = verdict(made_up.dataset(), name)
    assert row.verdict == "reproduced"
    assert row.measured == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize(
    ("name", "kind", "variant"),
    [
        ("C-read-backup", "local", "read-backup"),
        ("C-fully-replicated", "local", "fully-replicated"),
        ("C-location", "near", "domains"),
    ],
)
def test_reads_that_go_elsewhere_contradict_it(name: str, kind: str, variant: str):
    """A third of the rows or bytes is what no means to locality would give."""
    known = made_up.LOCAL if kind == "local" else made_up.NEAR
    row = verdict(made_up.dataset(**{kind: {**known, variant: 0.325}}), name)
    assert row.verdict == "contradicted"


def test_both_sides_and_throughput_are_told_and_not_judged():
    """On one host locality may cost or gain: the source says neither."""
    reason = verdict(made_up.dataset(), "C-read-backup").reason
    assert "55.0 % of the rows, and 32.5 % without" in reason
    assert "times the throughput (not judged)" in reason


def test_a_contrast_that_was_not_measured_yet_is_waited_for():
    """The loop measures it next."""
    row = verdict(made_up.dataset(names=("read-backup",)), "C-location")
    assert row.verdict == "inconclusive"
    assert "not measured yet" in row.reason
    few = verdict(made_up.dataset(blocks=2), "C-fully-replicated")
    assert few.verdict == "inconclusive"
