"""What shared memory and spinning did, in words."""

from __future__ import annotations

from ndblab.judging import answers
from ndblab.measuring import recorded
from ndblab.publishing import verdict_tables


def test_where_quotas_rule_the_claims_out_the_measured_changes_are_still_told() -> None:
    """As changes under quotas, with advice on spinning; the claims stay untestable."""
    data = recorded.obtain("shm-vs-tcp")
    answer = answers.answer(data.experiment, verdict_tables.of(data), data)
    assert answer.certain[1].startswith("under CPU quotas, the change against TCP was ")
    assert any("spinning transporters lowered throughput" in said for said in answer.certain)
    assert "leave spinning off" in answer.advice[0]
    assert len(answer.untestable) == 5
