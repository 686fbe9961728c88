"""Which claims can be tested on a cluster that the lab did not start.

Its CPUs may be divided in any way, and others may use it. So no claim can be judged that depends on
how many CPUs a part of it has (a condition on them cannot be known), or on who else uses its
memory. Answers have the form of the CPU budget columns in `claims.csv`. What some claims need
besides is in `data/brief/attached.csv`.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).resolve().parents[3] / "data" / "brief" / "attached.csv"
NOT_DIVIDED_BY_US = (
    "the lab did not start the attached cluster, and does not know how its CPUs are divided"
)


@functools.cache
def reasons() -> Mapping[str, str]:
    """Return why an attached cluster cannot test some claims, whatever its CPUs, by claim."""
    with FILE.open(newline="", encoding="utf-8") as lines:
        return {row["claim"]: row["reason"] for row in csv.DictReader(lines)}


def answer(claim: str, kind: str, undivided: str) -> str:
    """Return "yes", or why an attached cluster cannot test a claim.

    `undivided` is the claim's answer for the budget `shared`.
    """
    if kind == "absolute":
        return "an absolute value from another machine and setup: shown, not judged"
    if claim in reasons() or undivided == "yes":
        return reasons().get(claim, "yes")
    whatever_the_cpus = undivided.startswith(("needs", "not the same question"))
    return undivided if whatever_the_cpus else NOT_DIVIDED_BY_US
