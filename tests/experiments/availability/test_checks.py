"""Checks on faults under load. The runs are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from experiments.availability import made_up as faults
from experiments.availability.made_up import dataset, partitioned
from made_up import double, verdict

Part = dict[str, pd.DataFrame]


def twice(fault: str, **what: object) -> list[Part]:
    """Give a quiet run of a fault, and one like that."""
    return [faults.run(fault, 1), faults.run(fault, 2, **what)]


def often(fault: str, runs: int = 5) -> list[Part]:
    """Give as many quiet runs of a fault as show that it never disturbs clients."""
    return [faults.run(fault, repeat) for repeat in range(1, runs + 1)]


LOSSES = [("A-node-loss", "kill-data-node"), ("A-online", "rolling-restart")]
every_loss = pytest.mark.parametrize(("claim", "fault"), LOSSES)


@every_loss
def test_a_fault_after_which_no_client_gives_up_is_not_felt(claim: str, fault: str) -> None:
    """The gap is reported and does not decide: clients waited and continued."""
    row = verdict(dataset(*often(fault, 4), faults.run(fault, 5, gap_s=2.0)), claim)
    assert (row.verdict, row.measured) == ("reproduced", 0)
    assert "in 1 of 1 recording, 5 runs" in row.reason
    assert "none of 8 clients gave up after one retry" in row.reason
    assert "longest gap without a success 2.0" in row.reason
    assert "all there" in row.reason


@every_loss
def test_few_runs_without_an_effect_show_nothing_and_recordings_add_up(
    claim: str, fault: str
) -> None:
    """What happens every second time is missed by two runs in a quarter of all cases."""
    few = dataset(*often(fault, 2))
    assert verdict(few, claim).verdict == "inconclusive"
    assert "2 runs only" in verdict(few, claim).reason
    more = replace(few, earlier=(dataset(*often(fault, 3)),))
    assert verdict(more, claim).verdict == "reproduced"
    assert "in 2 of 2 recordings, 5 runs" in verdict(more, claim).reason
    assert "(reproduced in 2 runs)" in verdict(more, claim).reason


@every_loss
def test_one_run_in_which_clients_give_up_contradicts(claim: str, fault: str) -> None:
    """The worst run decides, since an average hides outages."""
    row = verdict(dataset(*twice(fault, gave_up=3)), claim)
    assert (row.verdict, row.measured) == ("contradicted", 3)


@every_loss
def test_clients_that_wait_for_long_notice_too(claim: str, fault: str) -> None:
    """By the bound of a lost host: none gave up, but all waited."""
    assert verdict(dataset(*often(fault, 4), faults.run(fault, 5, gap_s=9.0)), claim).measured == 0
    row = verdict(dataset(*twice(fault, gap_s=12.0, ends_s=60.0)), claim)
    assert (row.verdict, row.measured) == ("contradicted", 8)
    assert "waited through a gap of more than 10 s" in row.reason


@every_loss
@pytest.mark.parametrize("what", [{"lost": 2}, {"wrong_reads": 1}])
def test_data_that_are_wrong_afterwards_contradict(
    claim: str, fault: str, what: dict[str, int]
) -> None:
    """No client gave up, but the data contradict the replies to clients."""
    row = verdict(dataset(*twice(fault, **what)), claim)
    assert (row.verdict, row.measured) == ("contradicted", 0)
    assert ("2 acknowledged writes lost" if "lost" in what else "1 read without an") in row.reason


@every_loss
def test_one_run_is_not_enough(claim: str, fault: str) -> None:
    """It may have been lucky, or unlucky: it decides neither way."""
    for gave_up in (0, 1):
        assert verdict(dataset(faults.run(fault, gave_up=gave_up)), claim).verdict == "inconclusive"


@every_loss
def test_writes_that_were_not_read_back_leave_it_open(claim: str, fault: str) -> None:
    """A run whose replicas could not be read reproduces nothing."""
    parts = twice(fault)
    for name in ("copies", "counters"):
        parts[1][name] = parts[1][name].iloc[:0]
    row = verdict(dataset(*parts), claim)
    assert row.verdict == "inconclusive"
    assert "missing: the content of every replica" in row.reason


@every_loss
def test_a_run_that_did_not_end_well_is_not_left_out(claim: str, fault: str) -> None:
    """A cluster that did not recover is no reproduction, though no client gave up until then."""
    row = verdict(dataset(*twice(fault, status="data node 2 did not start again")), claim)
    assert row.verdict == "inconclusive"
    assert "1 of 2 runs failed: data node 2 did not start again" in row.reason


def test_a_frozen_node_is_shown_and_never_decides() -> None:
    """The sources speak of hosts; a process that hangs is another fault."""
    parts = [*often("kill-data-node"), *twice("freeze-data-node", gap_s=25.0, ends_s=40.0)]
    row = verdict(dataset(*parts), "A-node-loss")
    assert (row.verdict, row.measured) == ("reproduced", 0)
    assert "not judged: freeze data node, 0 gave up, longest gap 25" in row.reason


def test_faults_that_the_sources_do_not_speak_of_never_decide() -> None:
    """A lost arbitrator is shown with a killed data node."""
    parts = [
        *often("kill-data-node"),
        *twice("lose-arbitrator", gave_up=8, lost=4, gap_s=8.0),
    ]
    row = verdict(dataset(*parts), "A-node-loss")
    assert (row.verdict, row.measured) == ("reproduced", 0)
    assert "not judged: lose arbitrator, 8 gave up" in row.reason
    assert "4 acknowledged writes lost" in row.reason


KINDS = ("partition", "partition-from-arbitrator", "one-way-loss")


def every_kind(runs: int) -> list[Part]:
    """Give as many partitions of each kind, each survived by one data node."""
    return [partitioned(kind, repeat) for kind in KINDS for repeat in range(1, runs + 1)]


def test_a_partition_that_one_data_node_survives_is_as_the_manual_says() -> None:
    """Cut in both directions or in one; the host that is lost is no partition."""
    parts = [*every_kind(5), partitioned("lose-host", 1, ended=(1, 2))]
    parts[0] = partitioned("partition", 1, ended=(1,), gap_s=20.0)
    row = verdict(dataset(*parts), "A-arbitration")
    assert (row.verdict, row.measured) == ("reproduced", 0)
    assert "went on in 15 of 15 partitions of 3 kinds" in row.reason
    assert "5 runs" in row.reason


def test_few_partitions_of_a_kind_show_nothing_however_many_others_there_are() -> None:
    """One that nobody survives every second time may be of one kind alone."""
    parts = [*every_kind(2), *(partitioned("partition", repeat) for repeat in range(3, 9))]
    row = verdict(dataset(*parts), "A-arbitration")
    assert row.verdict == "inconclusive"
    assert "2 runs only" in row.reason


@pytest.mark.parametrize("ended", [(), (1, 2)])
def test_a_partition_that_both_or_none_survive_contradicts(ended: tuple[int, ...]) -> None:
    """Two halves that both go on would be two truths, none would be no service."""
    parts = [partitioned("partition", 1), partitioned("partition", 2, ended=ended)]
    row = verdict(dataset(*parts), "A-arbitration")
    assert (row.verdict, row.measured) == ("contradicted", 1)


def test_a_partition_that_the_loser_of_the_arbitration_survives_contradicts() -> None:
    """The arbitrator decided nothing then; an arbitration that was not logged is unknown."""
    parts = [partitioned("partition", 1), partitioned("partition", 2, won=2)]
    row = verdict(dataset(*parts), "A-arbitration")
    assert (row.verdict, row.measured) == ("contradicted", 1)
    events = parts[1]["events"]
    parts[1]["events"] = events[~events["text"].str.startswith("Arbitration")]
    row = verdict(dataset(*parts), "A-arbitration")
    assert row.verdict == "unknown"
    assert "does not say who won" in row.reason


def test_a_partition_that_loses_a_write_contradicts() -> None:
    """One data node went on, but without what it had acknowledged."""
    parts = [partitioned("partition", 1), partitioned("partition", 2, lost=1)]
    assert verdict(dataset(*parts), "A-arbitration").verdict == "contradicted"


@pytest.mark.parametrize(
    ("dead_s", "decided", "intervals"),
    [(34.7, "reproduced", 4.94), (35.05, "inconclusive", 5.01), (36, "contradicted", 5.2)],
)
def test_the_slowest_declaration_decides(dead_s: float, decided: str, intervals: float) -> None:
    """Counted from the fault, after 10 s, in intervals of 5 s; open within the error of dating.

    Of two data nodes that declare each other dead the second decides, too.
    """
    quicker = [partitioned("partition", repeat, 25.0) for repeat in (1, 2, 3, 4)]
    parts = [*quicker, partitioned("one-way-loss", 1, 31.0, dead_s)]
    row = verdict(dataset(*parts), "A-heartbeat")
    assert row.verdict == decided
    assert row.measured == pytest.approx(intervals)
    assert "latest: one way loss); 6 declarations in 5 runs" in row.reason
    assert ("more runs cannot decide" in row.reason) == (decided == "inconclusive")


def test_only_data_nodes_that_are_cut_off_are_waited_for() -> None:
    """Neither a management node that is missed sooner nor what follows the healing counts."""
    parts = [partitioned("partition", repeat, 31.0) for repeat in (1, 2, 3, 4, 5)]
    for t_s, node in ((17.0, 1), (58.0, 3)):
        faults.log(parts[0], (t_s, 2, "warning", faults.DECLARED.format(node)))
    row = verdict(dataset(*parts), "A-heartbeat")
    assert row.measured == pytest.approx(4.2)
    assert "5 declarations in 5 runs" in row.reason


def test_a_cut_of_several_links_is_dated_by_the_last() -> None:
    """Until then the data nodes heard of each other."""
    parts = [partitioned("partition-from-arbitrator", repeat, 31.0) for repeat in range(1, 6)]
    for part in parts:
        faults.log(part, (11.0, 2, "fault", "cut"))
    assert verdict(dataset(*parts), "A-heartbeat").measured == pytest.approx(4.0)


def test_clients_of_a_killed_server_do_not_count_for_the_other() -> None:
    """Server 2 was killed: its own clients retry, those of server 1 notice nothing."""
    parts = often("kill-server")
    for part in parts:
        history = part["history"]
        on_killed = history.index[(history["t_s"] >= 10) & (history["first_server"] == 2)][:4]
        history.loc[on_killed, ["server", "attempts", "error"]] = [1, 2, 2013]
    row = verdict(dataset(*parts), "A-separate")
    assert (row.verdict, row.measured) == ("reproduced", 0)
    assert "no query failed on the other and no data node stopped" in row.reason


def test_a_query_that_fails_on_the_other_server_contradicts() -> None:
    """A retry that succeeded was a failed query first."""
    row = verdict(dataset(*twice("kill-server", elsewhere=1)), "A-separate")
    assert (row.verdict, row.measured) == ("contradicted", 1)
    assert "1 query failed on the other" in row.reason


@pytest.mark.parametrize(
    ("text", "t_s", "expected"),
    [
        ("Node 2: Forced node shutdown completed. Caused by error 2303", 11.0, "contradicted"),
        ("Node 2: Forced node shutdown completed. Caused by error 2303", 60.0, "reproduced"),
        ("Node 2: Node 12: failure handling completed", 11.0, "reproduced"),
    ],
)
def test_a_data_node_that_ends_with_a_server_contradicts(
    text: str, t_s: float, expected: str
) -> None:
    """While clients are there; that data nodes hear of a mysqld's end is not theirs."""
    parts = often("kill-server")
    faults.log(parts[0], (t_s, 2, "node_failed", text))
    row = verdict(dataset(*parts), "A-separate")
    assert row.verdict == expected
    assert row.measured == 0


def test_a_fault_that_names_no_server_is_unknown() -> None:
    """The queries of the other server are then unknown."""
    row = verdict(dataset(*twice("kill-server", text="SIGKILL")), "A-separate")
    assert row.verdict == "unknown"
    assert "which mysqld was killed" in row.reason


@pytest.mark.parametrize("claim", ["A-node-loss", "A-host-loss", "A-online", "A-separate"])
def test_a_dataset_of_another_experiment_says_nothing_of_faults(claim: str) -> None:
    """It is reported as missing; nothing crashes."""
    row = verdict(double(servers=(1,), clients=(4, 8), budget="shared"), claim)
    assert row.verdict == "unknown"
    assert "no run of" in row.reason
