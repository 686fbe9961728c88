"""What is said of faults, and advised. The runs are made up, never a measurement."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.availability import made_up as faults
from experiments.availability.made_up import dataset, partitioned
from made_up import Double, verdict
from ndblab.judging import answers
from ndblab.judging.clauses import Answer

CLAIMS = {
    "availability": ("A-node-loss", "A-online", "A-separate"),
    "network-faults": ("A-arbitration", "A-heartbeat", "A-host-loss"),
}
FROZEN, SHORT = "freeze-data-node", "freeze-with-short-heartbeats"
LOST, OTHERS = "lose-arbitrator", "lose-one-of-three-arbitrators"


def answered(data: Double, experiment: str = "availability") -> Answer:
    """Answer an experiment's question by the verdicts on its claims."""
    rows = [verdict(data, claim) for claim in CLAIMS[experiment]]
    answer = answers.answer(experiment, pd.DataFrame(rows), data)
    assert max(len(part.split()) for part in (*answer.certain, *answer.advice)) <= 30
    return answer


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"gap_s": 12.0, "ends_s": 60.0}, "a killed data node stopped service for 12"),
        ({"wrong_reads": 1}, "a killed data node left 1 error in data or reads"),
        ({"gave_up": 3}, "a killed data node made 3 clients give up"),
    ],
)
def test_a_contradiction_says_what_happened(what: dict[str, float], said: str) -> None:
    """Not always that clients gave up."""
    parts = [faults.run("kill-data-node", repeat, **what) for repeat in (1, 2)]
    assert any(part.startswith(said) for part in answered(dataset(*parts)).certain)


def frozen(*, shorter_s: float = 6.0, declared: tuple[tuple[float, int], ...] = ()) -> Double:
    """Give five runs of a frozen data node with either heartbeat, and what else was declared dead.

    Parameters
    ----------
    declared : when, and which data node, in one run with short heartbeats.
    """
    repeats = range(1, 6)
    usual = [faults.run(FROZEN, repeat, gap_s=24.0, ends_s=60.0) for repeat in repeats]
    sooner = [faults.run(SHORT, repeat, gap_s=shorter_s, ends_s=60.0) for repeat in repeats]
    for part in sooner:
        faults.log(part, (14.0, 2, "warning", faults.DECLARED.format(3)))
        part["events"].loc[part["events"]["event"] == "restart", "t_s"] = 27.0
    for t_s, node in declared:
        faults.log(sooner[0], (t_s, 5 - node, "warning", faults.DECLARED.format(node)))
    data = dataset(*usual, *sooner)
    settings = {"ndbd default": {"HeartbeatIntervalDbDb": 1500}}
    data.manifest |= {"variants": {SHORT: {"config_ini": settings}}}
    return data


def test_a_shorter_heartbeat_is_said_with_what_it_buys_and_costs() -> None:
    """The gap with each, the change of throughput, and whether a live node was declared dead."""
    answer = answered(frozen())
    said = " ".join(answer.certain)
    assert "ms, a frozen data node stopped service for 6.02 s instead of 24 s" in said
    assert "throughput before the fault by 0 %" in said
    assert "no data node was declared dead by mistake in 5 runs" in said
    assert any(
        part.startswith("Lower HeartbeatIntervalDbDb in small steps") for part in answer.advice
    )


def test_heartbeats_without_a_repeat_in_common_have_no_ratio_but_their_gaps() -> None:
    """One run of each never reached its fault."""
    data = dataset(
        faults.run(FROZEN, 1, gap_s=24.0, ends_s=60.0),
        faults.run(SHORT, 2, gap_s=6.0, ends_s=60.0),
    )
    settings = {"ndbd default": {"HeartbeatIntervalDbDb": 1500}}
    data.manifest |= {"variants": {SHORT: {"config_ini": settings}}}
    said = " ".join(answered(data).certain)
    assert "stopped service for 6.02 s instead of 24 s" in said
    assert "with the shorter heartbeat, no data node was declared dead by mistake in 1 run" in said


def test_what_runs_of_a_fault_have_in_common_is_told_as_a_range() -> None:
    """The worst alone would be taken for the usual."""
    gaps_s = (20.0, 24.0, 22.0, 21.0, 23.0)
    parts = [
        faults.run(FROZEN, repeat, gap_s=gap_s, ends_s=60.0)
        for repeat, gap_s in enumerate(gaps_s, 1)
    ]
    parts += [faults.run(LOST, repeat, lost=lost) for repeat, lost in enumerate((9, 4, 0), 1)]
    said = answered(dataset(*parts)).certain
    assert said[0].startswith("in 2 of 3 runs, killing the management node, then")
    assert said[0].endswith("; 4 to 9 acknowledged writes were lost")
    assert any("a frozen data node stopped service for 20 to 24 s" in part for part in said)


def test_a_node_that_is_declared_dead_by_mistake_is_told() -> None:
    """One that lives, before the fault or after; the frozen one is dead until it is restarted."""
    for t_s, node in ((5.0, 3), (14.0, 2), (40.0, 3)):
        said = " ".join(answered(frozen(declared=((t_s, node),))).certain)
        assert "1 data node declared dead by mistake in 5 runs" in said


def test_a_shorter_heartbeat_that_helps_nothing_is_not_advised() -> None:
    """The sentence about the default stays."""
    advice = answered(frozen(shorter_s=24.0)).advice
    assert not any(part.startswith("Lower") for part in advice)
    assert any("sets how long clients wait" in part for part in advice)


def test_more_arbitrators_are_advised_as_far_as_they_were_measured() -> None:
    """Alone the loss is told with what is documented; with others what they kept, or that not."""
    lost = [faults.run(LOST, repeat, lost=4, gave_up=8, gap_s=8.0) for repeat in (1, 2)]
    alone = answered(dataset(*lost))
    assert alone.certain[0] == (
        "in each of 2 runs, killing the management node, then one of two data nodes, stopped the "
        "cluster until the lab restarted it; 4 acknowledged writes were lost"
    )
    assert alone.advice[0].startswith("Documented, not measured here")
    kept = answered(dataset(*lost, *(faults.run(OTHERS, repeat) for repeat in (1, 2))))
    assert "as further arbitrators, the same fault lost no write in 2 runs" in kept.certain[1]
    assert "ArbitrationRank=2" in kept.advice[0]
    not_kept = answered(dataset(*lost, *(faults.run(OTHERS, repeat, lost=1) for repeat in (1, 2))))
    assert "lost 1 acknowledged write, in each of 2 runs" in not_kept.certain[1]
    assert not_kept.advice[0].startswith("Documented, not measured here")


def test_a_stop_that_only_the_lab_ends_has_no_length_without_a_loss_either() -> None:
    """How long it takes is the lab's doing, whatever became of the writes."""
    said = answered(dataset(*(faults.run(LOST, repeat, gap_s=8.0) for repeat in (1, 2)))).certain
    assert said[0].endswith("of two data nodes, stopped the cluster until the lab restarted it")
    assert not any("stopped service for" in part for part in said)


def test_writes_that_were_not_read_are_not_said_to_be_kept() -> None:
    """The cluster may never have come back after that fault."""
    bad = faults.run(OTHERS, status="ndbmtd.2 does not serve")
    bad |= {name: bad[name].iloc[:0] for name in ("copies", "counters")}
    answer = answered(dataset(faults.run(LOST, lost=4, gap_s=8.0), bad))
    assert not any("lost no write" in part for part in answer.certain)
    assert not any("ArbitrationRank=2" in part for part in answer.advice)


def test_a_network_that_failed_is_answered_with_what_to_do() -> None:
    """How long clients waited, that one data node went on, and the setting that decides it."""
    parts = [partitioned("partition", repeat, gap_s=20.0) for repeat in (1, 2)]
    parts += [faults.run("partition-server", repeat, gave_up=4, text="cut") for repeat in (1, 2)]
    answer = answered(dataset(*parts), "network-faults")
    assert answer.certain[0].startswith("a cut between the data nodes stopped service for 20 s")
    assert any(part.startswith("in 2 runs, only the data node that won") for part in answer.certain)
    assert "no acknowledged write was lost in 4 runs, and no read was wrong" in answer.certain
    assert any(part.startswith("4 of 8 clients waited up to") for part in answer.certain)
    assert "20 s are too long, lower HeartbeatIntervalDbDb" in answer.advice[0]
    assert any("retry on another MySQL server" in part for part in answer.advice)


def test_nothing_good_is_said_of_partitions_that_ended_badly() -> None:
    """A loss is counted, and what both data nodes survived is a verdict's to say."""
    parts = [partitioned("partition", 1), partitioned("partition", 2, ended=(), lost=2)]
    answer = answered(dataset(*parts), "network-faults")
    assert "2 acknowledged writes lost in 2 runs" in answer.certain
    assert not any(part.startswith("in 2 runs, only") for part in answer.certain)
    assert not any("retry" in part for part in answer.advice)


@pytest.mark.parametrize("experiment", CLAIMS)
def test_runs_that_never_reached_their_fault_are_answered_by_the_verdicts(experiment: str) -> None:
    """No outage was measured: the verdicts are counted, and nothing crashes."""
    part = faults.run(status="the load failed")
    part["events"] = part["events"].iloc[:0]
    count = f"of {len(CLAIMS[experiment])} claims: "
    assert answered(dataset(part), experiment).certain[0].startswith(count)
