"""Which claims can be tested on a cluster that the lab did not start.

Its CPUs may be divided in any way, and others may use it. So no claim can be judged that depends on
how many CPUs a part of it has (a condition on them cannot be known), or on who else uses its
memory. Answers have the form of the CPU budget columns in `claims.csv`.
"""

from __future__ import annotations

NOT_DIVIDED_BY_US = (
    "the lab did not start the attached cluster, and does not know how its CPUs are divided"
)
_ELSEWHERE = {
    "B-row-bytes": "others may use the data memory of an attached cluster",
    "B-sockets": "needs clients of both kinds on the same MySQL servers",
    "N-clients": "needs clients on the MySQL servers' hosts and on another",
    **dict.fromkeys(
        ("B-redo", "B-load-redo", "F9-next-step"),
        "needs a configuration of its own, which an attached cluster keeps as it is",
    ),
}


def answer(claim: str, kind: str, undivided: str) -> str:
    """Return "yes", or why an attached cluster cannot test a claim.

    `undivided` is the claim's answer for the budget `shared`.
    """
    if kind == "absolute":
        return "an absolute value from another machine and setup: shown, not judged"
    if claim in _ELSEWHERE or undivided == "yes":
        return _ELSEWHERE.get(claim, "yes")
    whatever_the_cpus = undivided.startswith(("needs", "not the same question"))
    return undivided if whatever_the_cpus else NOT_DIVIDED_BY_US
