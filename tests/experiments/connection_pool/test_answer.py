"""The answer about connection pools. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

from made_up import CLAIMS, Double, contrasted, double
from ndblab.judging import answers, judge

IDS = ["P-pool-8", "P-pool-16"]


def answered(dataset: Double) -> answers.Answer:
    return answers.answer("connection-pool", judge.judge(dataset, IDS, CLAIMS), dataset)


def measured(blocks: int, gain: float = 0.9) -> Double:
    dataset = double(lambda n, c: 100.0)
    for name, ratio in (("pools-1-8", gain), ("pools-1-8-share", 0.8), ("pools-8-16", 1.0)):
        sides = {"a": (1, 32, {"qps": 1000 * ratio}), "b": (1, 32, {"qps": 1000.0})}
        dataset = contrasted(dataset, name, sides, blocks=blocks)
    return dataset


def test_what_pools_do_here_is_said_where_the_claims_cannot_be_tested():
    """A small host tells its reader what a pool does on it, and that the source had more CPUs."""
    answer = answered(measured(9))
    assert len(answer.certain) == 2
    assert answer.certain[0].startswith(
        "with 32 clients on 2 undivided CPUs, ndb_cluster_connection_pool=8 gave 9.8 % fewer "
        "queries than 1"
    )
    assert answer.certain[1].startswith("beside another server and under its quota, ndb")
    assert len(answer.untestable) == 2


def test_a_host_that_binds_its_servers_divides_its_cpus():
    """Quotas can be lifted for a contrast; a binding is not."""
    dataset = measured(9)
    dataset = replace(dataset, budget="pinned", host={**dataset.host, "logical_cpus": 256})
    said = str(answered(dataset))
    assert "undivided" not in said
    assert "only 256" not in said
    assert "With 256 CPUs" in said


def test_nothing_is_certain_before_there_is_an_interval():
    """One block has a ratio, but no interval."""
    assert not answered(measured(1)).certain


def test_nothing_is_advised_where_recordings_disagree():
    """A larger pool loses in the newest recording and gains in the one before."""
    answer = answered(replace(measured(9), earlier=(measured(9, gain=1.2),)))
    assert [text.split(" gave ")[1] for text in answer.disagreed] == [
        "9.8 % fewer queries than 1 (8.2 to 11 %), earlier +20 %"
    ]
    assert not answer.advice
    assert answered(measured(9)).advice
