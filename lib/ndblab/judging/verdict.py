"""How comparisons become a verdict.

This module knows no claim by name, nor where an estimate came from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ndblab.error import MissingData
from ndblab.formatting import significant
from ndblab.judging.publication import BY_CONSTRUCTION, Claim
from ndblab.statistics import sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate, sidak

REPRODUCED = "reproduced"
CONTRADICTED = "contradicted"
DIFFERS = "differs here"
"""A contradicted claim that was made about one machine, release, network ... (its scope)."""
INCONCLUSIVE = "inconclusive"
NOT_TESTABLE = "not testable here"
NOT_COMPARABLE = "not comparable"
"""An absolute value, which holds for its own machine alone."""
UNKNOWN = "unknown"
WORDS = (
    REPRODUCED,
    CONTRADICTED,
    DIFFERS,
    INCONCLUSIVE,
    BY_CONSTRUCTION,
    NOT_TESTABLE,
    NOT_COMPARABLE,
    UNKNOWN,
)
TESTED = (REPRODUCED, CONTRADICTED, DIFFERS, INCONCLUSIVE)
"""Verdicts of claims that the data could decide."""
RULED_OUT = (BY_CONSTRUCTION, NOT_TESTABLE, NOT_COMPARABLE)
"""Verdicts that no further measurement with the same CPU budget can change."""

NO_ESTIMATE = Estimate(math.nan)
_BASIS = re.compile(r"; ((?:in \d+ of \d+|from \d+) recordings?\b.*|condition: .*)$")
TOGETHER = "all recordings together:"
"""Begins the reason of a verdict on a value that is pooled over recordings."""
ONE_START = "one cluster start only"
"""Begins the reason for a withheld verdict: one start says nothing about how starts differ."""
CONDITION_UNKNOWN = "whether its condition holds is not known"
"""Begins the reason for a withheld verdict: too little was measured to know the condition."""
NO_INTERVAL = "one run per point gives no interval"
NO_INTERVAL_YET = f"there is no interval before {sequential.LOOKS[0]} blocks"

# What counts as equal to a published number: a ratio whose gain is within a quarter of the one
# published (20 % more: 15 to 25 %), an absolute value within a tenth. Both tolerances are the lab's
# own: the sources round numbers, and without a tolerance no measurement could ever agree with one.
GAIN_TOLERANCE = 0.25
VALUE_TOLERANCE = 0.1


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim: an estimate, and the words that follow it.

    A claim is reproduced only if all its comparisons support it, which needs no correction for
    their number (an intersection-union test: Berger 1982), but any one may contradict it. So
    `estimate`, at 95 % alone, is printed and decides "for"; `corrected`, at 95 % for all
    comparisons together, decides "against" (None: the same).

    `judged` is False for what is only shown. A comparison from a `contrast` has the `values` of
    its units, as logarithms with `log`; they are empty until it is measured.
    """

    label: str
    estimate: Estimate
    judged: bool = True
    corrected: Estimate | None = None
    contrast: str = ""
    values: np.ndarray | None = field(default=None, compare=False, repr=False)
    log: bool = True

    @classmethod
    def one_of(cls, tests: int, label: str, interval: Callable[[float], Estimate]) -> Comparison:
        """Make one of several comparisons of a claim.

        Parameters
        ----------
        tests : number of comparisons, any of which may contradict the claim.
        interval : returns the estimate at a confidence.
        """
        corrected = interval(sidak(tests)) if tests > 1 else None
        return cls(label, interval(CONFIDENCE), corrected=corrected)

    @property
    def against(self) -> Estimate:
        """Return the estimate that may contradict the claim."""
        return self.corrected or self.estimate

    def changed(self, change: Callable[[Estimate], Estimate]) -> Comparison:
        """Return the comparison with both estimates changed."""
        corrected = self.corrected and change(self.corrected)
        return replace(self, estimate=change(self.estimate), corrected=corrected)

    def outcome(self, claim: Claim) -> str:
        """Decide by whole intervals: "for", "against" or "open"."""
        (_, low, high), (_, lowest, highest) = self.estimate, self.against
        if not self.estimate.bounded:
            return "open"
        least, most = allowed(claim)
        if claim.comparison == "less_than":
            inside, outside = high < most, lowest >= most
        elif claim.comparison == "greater_than":
            inside, outside = low > least, highest <= least
        else:
            inside, outside = least <= low and high <= most, highest < least or lowest > most
        return "for" if inside else "against" if outside else "open"

    def margin(self, claim: Claim) -> float:
        """Return how far the value is inside the allowed range; negative outside."""
        least, most = allowed(claim)
        return min(self.estimate.value - least, most - self.estimate.value)

    def chances(self, claim: Claim) -> dict[int, float] | None:
        """Return, by units, the chance that each later look at its contrast decides it.

        None if there is no interval yet. Whatever else widens an interval is ignored.
        """
        if self.values is None:
            return None
        low, high = allowed(claim)
        if self.log:
            low, high = (math.log(x) if x > 0 else -math.inf for x in (low, high))
        return sequential.chances(self.values, low, high)

    def __str__(self) -> str:
        if self.values is not None and not self.values.size:
            return f"not measured yet ({self.label})"
        value, low, high = self.estimate
        interval = f" ({significant(low)} to {significant(high)})" if low < high else ""
        return f"{significant(value)}{interval} {self.label}"


@dataclass(frozen=True)
class Finding:
    """Result of a check: a verdict, the numbers in words, why so, and the decisive estimate.

    `waits` has the contrasts that an undecided claim waits for, each with the chances, by units,
    that its later looks decide it: None if not known yet. `condition` is the number of the claim's
    condition, which holds. `held` says in how many recordings and cluster starts a verdict holds,
    and names their hosts if these are of different kinds.
    `claim` has the bounds compared with, which need not be those of `claims.csv`; `compared` has
    what was compared with them. For a claim that something never happens, `trials` is the
    number of runs, each of which may be the first in which it does; None for any other claim.
    """

    verdict: str
    numbers: str
    why: str = ""
    measured: Estimate = NO_ESTIMATE
    waits: Mapping[str, Mapping[int, float] | None] = field(default_factory=dict)
    condition: str = ""
    held: str = ""
    trials: int | None = None
    claim: Claim | None = field(default=None, compare=False, repr=False)
    compared: tuple[Comparison, ...] = field(default=(), compare=False, repr=False)

    @property
    def reason(self) -> str:
        """Return numbers, why, recordings and the condition as one sentence."""
        condition = self.condition and f"condition: {self.condition}"
        return "; ".join(part for part in (self.numbers, self.why, self.held, condition) if part)


def basis(reason: str) -> str:
    """Return how a `Finding.reason` ends: the recordings that it rests on, and its condition.

    >>> basis("p95 is 1.1 times; as published; in 1 of 2 recordings; condition: 2 CPUs")
    'in 1 of 2 recordings; condition: 2 CPUs'
    >>> basis("p95 is 1.1 times; too wide an interval")
    ''
    """
    end = _BASIS.search(reason)
    return end[1] if end else ""


def allowed(claim: Claim) -> tuple[float, float]:
    """Return the bounds within which a value agrees with the claim; infinite if there is none.

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


def with_tolerance(claim: Claim) -> str:
    """Write what was published, and what counts as equal to it."""
    low, high = allowed(claim)
    if claim.comparison != "equal" or low == high:
        return claim.published
    first, last = (f"{x:.4g}" if abs(x) < 1000 else significant(x) for x in (low, high))
    return f"{claim.published} ({first} to {last} counts as equal)"


def decide(
    claim: Claim, subject: str, comparisons: Sequence[Comparison], note: str = "", missing: str = ""
) -> Finding:
    """Make one finding of several comparisons: all must support the claim, any may contradict it.

    Parameters
    ----------
    subject : how the sentence begins, up to the first value.
    note : what the reader must know besides the values.
    missing : what was not measured though the claim is about it; then nothing is decided.
    """
    judged = [comparison for comparison in comparisons if comparison.judged]
    if not judged:
        raise MissingData("none of the points to compare")
    outcomes = [comparison.outcome(claim) for comparison in judged]
    decisive = next(outcome for outcome in ("against", "open", "for") if outcome in outcomes)
    verdict = {"against": CONTRADICTED, "open": INCONCLUSIVE, "for": REPRODUCED}[decisive]
    if missing:
        verdict = INCONCLUSIVE
    candidates = [one for one, outcome in zip(judged, outcomes, strict=True) if outcome == decisive]
    shown_one = min(candidates, key=lambda comparison: comparison.margin(claim))
    if missing:
        why = f"only part of the claim was tested (missing: {missing}); published"
    elif verdict != INCONCLUSIVE:
        why = "as published" if verdict == REPRODUCED else "published"
    elif not shown_one.estimate.bounded:
        few = any(comparison.contrast for comparison in candidates)
        why = f"{NO_INTERVAL_YET if few else NO_INTERVAL}; published"
    elif replace(shown_one, corrected=None).outcome(claim) != "open":
        why = "too wide an interval to contradict, corrected for the number of comparisons; "
        why += "published"
    else:
        why = "too wide an interval to decide; published"
    if claim.is_threshold_ours:
        why = why.replace("as published", "within the lab's threshold")
        why = why.replace("published", "the lab's threshold")
    waits = {
        comparison.contrast: comparison.chances(claim)
        for comparison, outcome in zip(judged, outcomes, strict=True)
        if verdict == INCONCLUSIVE and outcome == "open" and comparison.contrast
    }
    return Finding(
        verdict, _sentence(subject, comparisons, note), f"{why}: {with_tolerance(claim)}",
        shown_one.estimate, waits, claim=claim, compared=tuple(comparisons),
    )  # fmt: skip


def _sentence(subject: str, comparisons: Sequence[Comparison], note: str) -> str:
    """Write all values; those that do not decide come last."""
    groups: dict[str, list[str]] = {"": []}
    for comparison in comparisons:
        cause = "" if comparison.judged else " (not judged)"
        groups.setdefault(cause, []).append(str(comparison))
    parts = [f"{', '.join(texts)}{cause}" for cause, texts in groups.items() if texts]
    return f"{subject} {'; '.join(parts)}{f' ({note})' if note else ''}"
