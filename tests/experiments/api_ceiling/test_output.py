"""What flexAsynch prints. The texts follow its source, and are no measurement."""

from __future__ import annotations

import pytest

from ndblab.experiments.api_ceiling import output

GOOD = """
Executing reads
Total number of transactions is 12345
Execution time is 3000 milliseconds
Total transactions per second 4115

NDBT_ProgramExit: 0 - OK
"""


def test_its_transactions_are_counted():
    """The rate that it prints is rounded."""
    assert output.result(GOOD, 0, 10) == output.Result("ok", 12345)


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        ("NDBT: ErrorCode = 626 occurred 7 times\n" + GOOD, 0, "errors: 7 of NDB error 626"),
        (GOOD.replace("12345", "0"), 0, "flexAsynch reported no transaction"),
        ("Executing reads\n", 0, "flexAsynch reported no transaction"),
        ("NDBT_ProgramExit: 1 - Failed\n", 1, "flexAsynch: exit status 1: NDBT_ProgramExit: 1"),
        (GOOD, None, "flexAsynch did not end within 10 s"),
    ],
)
def test_failed_operations_and_early_ends_do_not_count(text, code, reason):
    """flexAsynch counts operations that failed, and ends with 0."""
    result = output.result(text, code, 10)
    assert result.status.startswith(reason)
    assert result.transactions == 0
