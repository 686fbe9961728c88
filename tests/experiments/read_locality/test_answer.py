"""The answer about read locality. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

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
    assert answer.certain[0] == (
        "under CPU quotas, in transactions of ten lookups, read backup raised the share of local "
        "reads from 32.5 to 55 %; keys at random give 32.5 and 55 %"
    )
    assert "full replication instead of read backup raised throughput by " in answer.certain[4]


def test_a_contradiction_names_the_share():
    """In percent, as a reader thinks of it."""
    answer = answered(local={**made_up.LOCAL, "fully-replicated": 0.8})
    assert "only 80 % of the rows" in answer.certain[1]


def test_a_p95_that_grows_is_told():
    """Throughput alone would hide what queries wait for."""
    told = answered(slower=1.2).certain[5]
    assert told.startswith("on one host, full replication instead of read backup raised p95 by ")
    assert "p95" not in str(answered())


def test_several_hosts_are_not_called_one():
    """That is where locality matters."""
    data = made_up.dataset()
    data = replace(data, manifest=data.manifest | {"hosts": {"db1": {}, "db2": {}}})
    answer = answers.answer("read-locality", judge.judge(data, IDS, CLAIMS), data)
    assert "Over several hosts, full replication" in str(answer)
    assert "on one host" not in str(answer).lower()


def test_nothing_is_certain_before_there_is_an_interval():
    """Two blocks have ratios, but no interval."""
    answer = answered(blocks=2)
    assert not answer.certain
    assert len(answer.open) == 3
