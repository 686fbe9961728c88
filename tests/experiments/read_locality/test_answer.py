"""The answer about read locality. The datasets are made up, never a measurement."""

from __future__ import annotations

from experiments.read_locality import made_up
from made_up import CLAIMS
from ndblab.judging import answers, judge

IDS = ["C-read-backup", "C-fully-replicated", "C-location"]


def answered(**changes) -> answers.Answer:
    data = made_up.dataset(**changes)
    return answers.answer("read-locality", judge.judge(data, IDS, CLAIMS), data)


def test_where_reads_go_is_said_first_and_then_what_it_brings():
    """Each verdict, and the throughput of two contrasts."""
    answer = answered()
    assert len(answer.certain) == 5
    assert answer.certain[0].startswith("under CPU quotas, read backup raised the share of ")
    assert "local reads by 69 %" in answer.certain[0]
    assert "full replication instead of read backup raised throughput by " in answer.certain[4]


def test_a_contradiction_names_the_share():
    """In percent, as a reader thinks of it."""
    answer = answered(local={**made_up.LOCAL, "fully-replicated": 0.8})
    assert "only 80 % of the rows" in answer.certain[1]


def test_nothing_is_certain_before_there_is_an_interval():
    """Two blocks have ratios, but no interval."""
    answer = answered(blocks=2)
    assert not answer.certain
    assert len(answer.open) == 3
