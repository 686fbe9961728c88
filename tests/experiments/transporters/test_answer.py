"""What shared memory and spinning did, in words."""

from __future__ import annotations

from ndblab.judging import answers
from ndblab.measuring import recorded
from ndblab.publishing import verdict_tables


def test_where_quotas_rule_the_claims_out_the_measured_changes_are_still_told() -> None:
    """As changes under quotas, with advice on spinning; the claims stay untestable."""
    [folder] = (recorded.RECORDED / "shm-vs-tcp").glob("*-scaled-*")
    data = recorded.obtain("shm-vs-tcp", str(folder))
    answer = answers.answer(data.experiment, verdict_tables.of(data), data)
    assert answer.certain[1].startswith("under CPU quotas, the change against TCP was ")
    [spun] = (said for said in answer.certain if "spinning transporters lowered" in said)
    assert spun.endswith("by construction: spinning uses up the CPU quota")
    assert "leave spinning off" in answer.advice[0]
    assert len(answer.untestable) == 5


def test_what_spinning_does_is_told_only_where_it_is_clear() -> None:
    """Around no change, a cause would be given for nothing."""
    data = recorded.obtain("shm-vs-tcp")
    answer = answers.answer(data.experiment, verdict_tables.of(data), data)
    assert answer.certain
    assert not any("no certain effect" in said for said in answer.certain)
