"""What flexAsynch prints, as a result."""

from __future__ import annotations

import re
from typing import NamedTuple

from ndblab.machine.commands import error_lines, exit_reason
from ndblab.workloads.load_generator import OK

READING = "Executing reads"
"""Begins the line that it prints when its threads are about to read."""
_TOTAL = re.compile(r"^Total number of transactions is (\d+)", re.MULTILINE)
_ERRORS = re.compile(r"^NDBT: ErrorCode = (\d+) occurred (\d+) times", re.MULTILINE)


class Result(NamedTuple):
    """Transactions, and "ok" or why they do not count."""

    status: str
    transactions: int = 0


def result(text: str, code: int | None, timeout_s: float) -> Result:
    """Read what flexAsynch printed; it exits with success even if operations failed.

    `code` is its exit status; None if it did not end in time.
    """
    if code is None:
        return Result(f"flexAsynch did not end within {timeout_s:g} s")
    if errors := _ERRORS.findall(text):
        counted = ", ".join(f"{times} of NDB error {number}" for number, times in errors)
        return Result(f"errors: {counted}")
    if code:
        return Result(f"flexAsynch: {exit_reason(code)}: {error_lines(text, most=1)}")
    total = _TOTAL.search(text)
    if total is None or not int(total[1]):
        return Result("flexAsynch reported no transaction")
    return Result(OK, int(total[1]))
