"""The verdict of several recordings: they add up, and none is believed against the others."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from made_up import BY_ID, Double, contrasted, double
from ndblab.judging import clauses, judge, publication, recordings, verdict
from ndblab.statistics.estimate import Estimate

CLAIM = replace(BY_ID["B-sockets"], scope=publication.ANY, condition="")
"""Throughput over TCP/IP is below that over sockets: less than 1.0 times."""


def recording(ratio: float, *, starts: int = 2, spread: float = 0.002, blocks: int = 6) -> Double:
    """Make a recording in which side A does so many times what side B does."""
    sides = {"a": (1, 8, {"qps": 1000 * ratio}), "b": (1, 8, {"qps": 1000.0})}
    data = double(lambda n, c: 5000.0, budget="shared", servers=(1,), clients=(8,), repeats=1)
    return contrasted(
        data, "sockets", sides, claims=(CLAIM.id,), blocks=blocks, spread=spread, starts=starts
    )


def judged(*recordings: Double):
    """Judge the claim by recordings, the newest last."""
    *earlier, newest = recordings
    newest = replace(newest, earlier=tuple(earlier))
    return judge.judge(newest, [CLAIM.id], [CLAIM]).iloc[0]


def test_a_verdict_says_in_how_many_recordings_and_starts_it_holds() -> None:
    """A reader sees what it rests on."""
    assert "in 1 of 1 recording, 2 cluster starts" in judged(recording(0.9)).reason
    row = judged(recording(0.8, starts=2), recording(0.8, starts=3))
    assert row.verdict == verdict.REPRODUCED
    assert "in 2 of 2 recordings, 5 cluster starts" in row.reason


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_one_cluster_start_decides_nothing_either_way(ratio: float) -> None:
    """Not even the largest effect: one start says nothing about how starts differ."""
    row = judged(recording(ratio, starts=1))
    assert row.verdict == verdict.INCONCLUSIVE
    assert "one cluster start only" in row.reason
    [finding] = judge.findings(recording(ratio, starts=1), [CLAIM.id], [CLAIM]).values()
    assert set(finding.waits) == {"sockets"}


def test_two_recordings_of_one_start_each_are_two_starts() -> None:
    """Recordings add up."""
    row = judged(recording(0.7, starts=1), recording(0.71, starts=1))
    assert row.verdict == verdict.REPRODUCED
    assert row.low < 0.70 < 0.71 < row.high < 1


def test_recordings_that_agree_say_so_though_one_has_a_single_start() -> None:
    """What that one alone says is limited to its start, and still said."""
    together = judged(recording(0.95, starts=1), recording(0.85))
    assert together.verdict == verdict.INCONCLUSIVE
    said = "alone is reproduced (1 of them within one cluster start), but together"
    assert said in together.reason


def test_the_interval_knows_how_far_recordings_lie_apart() -> None:
    """Each alone is sure; together they are not, since the next may be anywhere."""
    alone = [judged(recording(ratio)).verdict for ratio in (0.95, 0.85)]
    assert set(alone) == {verdict.REPRODUCED}
    together = judged(recording(0.95), recording(0.85))
    assert together.verdict == verdict.INCONCLUSIVE
    assert "each of 2 recordings alone is reproduced" in together.reason
    assert together.low < 0.85 < 0.95 < together.high


def test_a_third_recording_decides_what_two_leave_open() -> None:
    """One degree of freedom more narrows the interval fourfold."""
    three = [recording(ratio) for ratio in (0.95, 0.952, 0.948)]
    assert judged(*three).verdict == verdict.REPRODUCED
    assert judged(*three).high < judged(*three[:2]).high


def test_a_recording_of_the_opposite_leaves_it_open() -> None:
    """Though four of five, and their mean, are far on the other side."""
    many = [recording(ratio) for ratio in (0.5, 0.5, 0.5, 0.5)]
    opposite = recording(1.01)
    assert judged(opposite).verdict == verdict.CONTRADICTED
    row = judged(opposite, *many)
    assert row.verdict == verdict.INCONCLUSIVE
    assert "one recording alone is contradicted" in row.reason or row.high > 1


def test_no_recording_contradicts_a_source_that_speaks_of_its_own_machine() -> None:
    """Neither together nor alone."""
    own = replace(CLAIM, scope=publication.MACHINE)
    newest = replace(recording(1.2), earlier=(recording(1.21),))
    row = judge.judge(newest, [own.id], [own]).iloc[0]
    assert row.verdict == verdict.DIFFERS
    assert row.reason.count("(differs here)") == 2
    assert verdict.CONTRADICTED not in row.reason
    far_apart = replace(recording(1.05), earlier=(recording(1.3),))
    row = judge.judge(far_apart, [own.id], [own]).iloc[0]
    assert row.verdict == verdict.INCONCLUSIVE
    assert "each of 2 recordings alone differs here, but together" in row.reason
    assert verdict.CONTRADICTED not in row.reason


def test_each_recording_is_shown_with_its_host() -> None:
    """Two kinds of host in one verdict are named."""
    here, there = recording(0.8), recording(0.81)
    there = replace(there, host={**there.host, "cpu_model": "Another CPU"})
    reason = judged(here, there).reason
    assert "Another CPU" in reason
    assert reason.count("times the default") == 3
    hosts = f"Another CPU and {here.host['cpu_model']}"
    assert verdict.basis(reason) == f"in 2 of 2 recordings on {hosts}, 4 cluster starts"
    far = replace(recording(0.6), host=there.host)
    assert verdict.basis(judged(here, far).reason) == f"from 2 recordings on {hosts}"


@pytest.mark.parametrize(("starts", "said"), [(1, 2), (2, 0)])
def test_what_one_start_says_alone_is_said_of_that_start(starts: int, said: int) -> None:
    """Alone it would decide nothing, so a list of recordings does not say that it does."""
    reason = judged(recording(0.7, starts=starts), recording(0.71, starts=starts)).reason
    assert reason.count("(reproduced within one cluster start)") == said
    assert reason.count("(reproduced)") == 2 - said


def test_what_was_measured_says_more_than_a_newer_recording_that_measured_nothing() -> None:
    """Where none can test the claim."""
    measured, nothing = (
        recordings.Recording("there", verdict.Finding(verdict.NOT_TESTABLE, "x", measured=v), {})
        for v in (Estimate(0.2), verdict.NO_ESTIMATE)
    )
    older, newer = [measured, nothing], [nothing, measured]
    for recorded, numbers in ((older, "x; recorded on there"), (newer, "x")):
        finding = recordings.together(CLAIM, recorded)
        assert finding.measured.value == 0.2
        assert finding.numbers == numbers


def test_an_interval_says_more_than_a_newer_value_without_one() -> None:
    """Where none can test the claim, a recording that was cut short hides no longer one."""
    longer, short = (
        recordings.Recording("there", verdict.Finding(verdict.NOT_TESTABLE, "x", measured=v), {})
        for v in (Estimate(0.2, 0.1, 0.3), Estimate(0.25))
    )
    for recorded in ([longer, short], [short, longer]):
        assert recordings.together(CLAIM, recorded).measured.low == 0.1


def test_equal_counts_have_no_error_and_unequal_ones_do() -> None:
    """27 threads in each of two recordings are 27 threads."""

    def counted(*values: float) -> Estimate:
        comparisons = [verdict.Comparison("threads", Estimate(v, v, v)) for v in values]
        return recordings.pool(comparisons).estimate

    assert counted(27.0, 27.0) == Estimate(27.0, 27.0, 27.0)
    assert counted(27.0, 28.0).low < 27.0 < 28.0 < counted(27.0, 28.0).high


def test_an_answer_names_the_recordings_with_a_clear_difference() -> None:
    """With the value of each; of a single one, whether it rests on one start."""

    def held(*recorded: Double) -> str:
        *earlier, newest = recorded
        return clauses.held("less", replace(newest, earlier=tuple(earlier)), "sockets")

    assert held(recording(0.8), recording(0.7)) == "less, in each of 2 recordings (-20 and -30 %)"
    three = held(recording(0.8), recording(0.9), recording(0.7))
    assert three == "less, in each of 3 recordings (-20, -9.9, -30 %)"
    assert held(recording(0.7), recording(1.0)).startswith("less. A difference is clear in 1 of 2 ")
    assert held(recording(0.7, starts=1)) == "less, in one cluster start"


def test_what_recordings_disagree_on_is_no_finding() -> None:
    """The newest says 30 % less, another 20 % more: the answer decides nothing."""
    earlier = recording(1.2), recording(1.3)
    text = clauses.held("less", replace(recording(0.7), earlier=earlier), "sockets")
    assert text == "less, earlier +20 and +30 %"
    answer = clauses.compose([text], pd.DataFrame())
    assert not answer.certain
    assert str(answer) == f"Nothing is decided yet. Recordings disagree: {text}."
    agreed = clauses.held("less", replace(recording(0.7), earlier=(recording(0.9),)), "sockets")
    assert clauses.compose([agreed], pd.DataFrame()).certain == (agreed,)


def test_a_recording_that_cannot_test_the_claim_does_not_count() -> None:
    """It has no contrast for it."""
    none = double(lambda n, c: 5000.0, budget="shared", servers=(1,), clients=(8,), repeats=1)
    none = replace(none, manifest={**none.manifest, "contrasts": [{"name": "x", "claims": []}]})
    assert "in 1 of 2 recordings" in judged(none, recording(0.9)).reason


def test_a_recording_too_short_for_its_condition_yields_to_one_in_which_it_fails() -> None:
    """Else a reader is told to measure for longer what a longer recording has ruled out."""
    failed = verdict.Finding(verdict.NOT_TESTABLE, "a quota ends it", measured=Estimate(2.1))
    why = f"{verdict.CONDITION_UNKNOWN} yet: it has fewer than 4 blocks"
    short = verdict.Finding(verdict.INCONCLUSIVE, "1.84 times", why, Estimate(1.84))
    there, here = (recordings.Recording("x", finding, {}) for finding in (failed, short))
    finding = recordings.together(CLAIM, [there, here])
    assert (finding.verdict, finding.measured.value) == (verdict.NOT_TESTABLE, 2.1)
    assert recordings.together(CLAIM, [here]).verdict == verdict.INCONCLUSIVE
