"""How comparisons become a verdict.

In: a claim, values with their intervals. Out: a finding.
It never knows a claim by name, nor where a value came from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ndblab.analysis.formatting import significant
from ndblab.claims.publication import Claim
from ndblab.error import MissingData

REPRODUCED = "reproduced"
CONTRADICTED = "contradicted"
INCONCLUSIVE = "inconclusive"
NOT_TESTABLE = "not testable here"
UNKNOWN = "unknown"


# What counts as equal to a published ratio or absolute value: its gain within a quarter of the
# published one (20 % more: 15 to 25 %), an absolute value within a tenth. Both are the lab's own:
# the sources round theirs, and without a width no measurement could ever agree with a number.
GAIN_TOLERANCE = 0.25
VALUE_TOLERANCE = 0.1


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim: a value with its interval, and words that follow the value.

    `judged` is False for what is only shown. `against_counts` and `for_counts` are False where the
    budget itself forces that outcome, which then says nothing.
    """

    label: str
    value: float
    low: float
    high: float
    judged: bool = True
    for_counts: bool = True
    against_counts: bool = True
    note: str = ""

    def outcome(self, claim: Claim) -> str:
        """Decide by the whole interval: "for", "against" or "open"."""
        if math.isnan(self.low) or math.isnan(self.high):
            return "open"
        allowed_low, allowed_high = allowed(claim)
        if claim.comparison == "less_than":
            inside, outside = self.high < allowed_high, self.low >= allowed_high
        elif claim.comparison == "greater_than":
            inside, outside = self.low > allowed_low, self.high <= allowed_low
        else:
            inside = allowed_low <= self.low and self.high <= allowed_high
            outside = self.high < allowed_low or self.low > allowed_high
        return "for" if inside else "against" if outside else "open"

    def margin(self, claim: Claim) -> float:
        """Give how far the value is inside what is allowed; negative outside."""
        allowed_low, allowed_high = allowed(claim)
        return min(self.value - allowed_low, allowed_high - self.value)

    def __str__(self) -> str:
        known = not math.isnan(self.low) and self.low < self.high
        interval = f" ({significant(self.low)} to {significant(self.high)})" if known else ""
        return f"{significant(self.value)}{interval} {self.label}"


@dataclass(frozen=True)
class Finding:
    """What a check found: a verdict, the numbers in words, why so, and the number that decided."""

    verdict: str
    told: str
    why: str = ""
    measured: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def reason(self) -> str:
        """Give numbers and why as one sentence."""
        return "; ".join(part for part in (self.told, self.why) if part)


def allowed(claim: Claim) -> tuple[float, float]:
    """Give the bounds within which a value is what was published; infinite where there is none.

    A count (of clients, servers, threads) that was published as equal must be met exactly; a ratio
    and an absolute value have the tolerances above.
    """
    if claim.comparison == "equal" and claim.low == claim.high and claim.low is not None:
        width = {
            "ratio": GAIN_TOLERANCE * abs(claim.low - 1),
            "absolute": VALUE_TOLERANCE * abs(claim.low),
        }.get(claim.kind, 0.0)
        return claim.low - width, claim.low + width
    return (
        -math.inf if claim.low is None else claim.low,
        math.inf if claim.high is None else claim.high,
    )


def published(claim: Claim) -> str:
    """Write what was published, with what counts as equal to it."""
    low, high = allowed(claim)
    if claim.comparison != "equal" or low == high:
        return claim.published
    first, last = (f"{x:.4g}" if abs(x) < 1000 else significant(x) for x in (low, high))
    return f"{claim.published} (from {first} to {last} counts as that)"


def decide(
    claim: Claim,
    subject: str,
    tests: Sequence[Comparison],
    note: str = "",
    missing: str = "",
) -> Finding:
    """Make one finding of several tests: all must support the claim, any one may contradict it.

    Parameters
    ----------
    subject : how the sentence begins, up to the first value.
    note : what the reader must know beside the values.
    missing : what was not measured though the claim speaks of it; then it is never reproduced.
    """
    if not tests:
        raise MissingData("none of the points that it compares is in this dataset")
    weighed = [(test, _weigh(test, claim)) for test in tests]
    weights = {weight for _, weight in weighed}
    if "against" in weights:
        verdict, pool = CONTRADICTED, {"against"}
    elif "open" in weights:
        verdict, pool = INCONCLUSIVE, {"open"}
    elif "forced" in weights or "for" not in weights:
        verdict, pool = NOT_TESTABLE, {"forced"} if "forced" in weights else weights
    else:
        verdict, pool = INCONCLUSIVE if missing else REPRODUCED, {"for"}
    decisive = [test for test, weight in weighed if weight in pool]
    worst = min(decisive, key=lambda test: test.margin(claim))
    source = published(claim)
    words = {
        REPRODUCED: f"as published, {source}",
        CONTRADICTED: f"published was {source}",
        INCONCLUSIVE: f"the spread is too wide to decide on {source}",
        NOT_TESTABLE: f"the CPUs there are, not the software, decide on {source}",
    }[verdict]
    if verdict == INCONCLUSIVE and "open" not in weights:
        words = f"{missing} not measured, so only a part of {source} is seen"
    elif verdict == INCONCLUSIVE and math.isnan(worst.low):
        words = f"one run a point, so no spread to decide on {source}"
    told = _tell(subject, weighed, note)
    return Finding(verdict, told, words, worst.value, worst.low, worst.high)


def _tell(subject: str, weighed: Sequence[tuple[Comparison, str]], note: str) -> str:
    """Write all values, those that do not decide last and with the cause."""
    causes = dict.fromkeys(("forced", "given"), " (which follows from the CPUs there are)")
    causes["shown"] = " (not judged)"
    groups: dict[str, list[str]] = {"": []}
    for test, weight in weighed:
        cause = f" ({test.note})" if test.note else causes.get(weight, "")
        groups.setdefault(cause, []).append(str(test))
    told = [f"{', '.join(texts)}{cause}" for cause, texts in groups.items() if texts]
    return f"{subject} {'; '.join(told)}{f' ({note})' if note else ''}"


def _weigh(test: Comparison, claim: Claim) -> str:
    """Say what a test's outcome is worth: what the budget forces is worth nothing."""
    outcome = test.outcome(claim)
    if not test.judged:
        return "shown"
    if outcome != "for" and not test.against_counts:
        return "forced"
    if outcome != "against" and not test.for_counts:
        return "given"
    return outcome
