"""What may be believed of a search: finalists with their intervals, and what is excluded. Pure.

Only blocks of the confirmation count for a finalist, corrected for the number of finalists
(Bonferroni), with intervals that may be looked at any time (`statistics.sequential`). What a search
found best was chosen for being so, and gained less than it seemed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ndblab.statistics import sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate
from ndblab.tuning.history import ABLATE, CONFIRM, SEARCH, History
from ndblab.tuning.limits import Limit
from ndblab.tuning.space import Configuration, Space, without

RANGE = 0.30
"""A configuration whose gains range over more than this between starts is rejected: 63 % of what
was found best in noise loses as much when deployed (TUNA, EuroSys 2025)."""
ALIKE = 0.01
"""What can be left out changes the goal by less than this."""
ERROR = 1 - CONFIDENCE


@dataclass(frozen=True)
class Candidate:
    """A configuration to confirm, with the search's estimate of its gain, a logarithm."""

    configuration: Configuration
    searched: float


@dataclass(frozen=True)
class Finalist:
    """A configuration that is being confirmed. Gains are logarithms; NaN before they are known.

    `rejected` says why it is out whatever its gain; empty if it is not.
    """

    configuration: Configuration
    searched: float
    log_gain: float = math.nan
    log_low: float = math.nan
    log_high: float = math.nan
    blocks: int = 0
    rejected: str = ""

    @property
    def ratio(self) -> Estimate:
        """Return the gain as a ratio with its interval; above 1 is better."""
        return Estimate(*(math.exp(x) for x in (self.log_gain, self.log_low, self.log_high)))

    @property
    def half_width(self) -> float:
        """Return half the width of the interval; NaN without one."""
        return (self.log_high - self.log_low) / 2

    @property
    def open(self) -> bool:
        """Return whether more blocks may show that it is better than the baseline."""
        if self.rejected:
            return False
        return math.isnan(self.log_high) or self.log_high > math.log1p(ALIKE)


@dataclass(frozen=True)
class Outcome:
    """The best confirmed configuration if there is one, all finalists, and what is ruled out.

    `needless` are the knobs of the winner without which it is equivalent. `excluded` is the gain,
    as a part of 1, above which none of so many `bounded` configurations is, with 95 % for all of
    them together; NaN if it is not known.
    """

    winner: Finalist | None
    finalists: tuple[Finalist, ...]
    needless: tuple[str, ...]
    tried: int
    infeasible: tuple[tuple[Configuration, str], ...]
    excluded: float
    bounded: int = 0


def judge(
    space: Space, history: History, candidates: Sequence[Candidate], limits: Iterable[Limit] = ()
) -> Outcome:
    """Judge a search as far as it has come."""
    out = history.failures() | rejected(history, limits)
    confidence = 1 - ERROR / max(1, len(candidates))
    finalists = []
    for each in candidates:
        gains = history.gains(CONFIRM, each.configuration)
        interval = sequential.interval(gains, confidence)
        why = out.get(each.configuration, "")
        finalists.append(Finalist(each.configuration, each.searched, *interval, len(gains), why))
    better = [each for each in finalists if each.log_low > 0 and not each.rejected]
    winner = max(better, key=lambda each: each.log_low, default=None)
    bounds = upper_bounds(space, history)
    for each in finalists:
        if not math.isnan(each.log_high):
            bounds[each.configuration] = each.log_high
    tried = {record.trial.configuration for record in history.records}
    known = [bound for own, bound in bounds.items() if own not in out]
    highest = max(known, default=math.nan)
    return Outcome(
        winner, tuple(finalists), _needless(history, winner), len(tried), tuple(out.items()),
        math.expm1(highest) if not winner else math.nan, len(known),
    )  # fmt: skip


def rejected(history: History, limits: Iterable[Limit]) -> dict[Configuration, str]:
    """Return why configurations are out though they run: what they break, or how they vary."""
    found: dict[Configuration, str] = {}
    limits = tuple(limits)
    for record in history.contrasts:
        own = record.trial.configuration
        if record.trial.stage == ABLATE:
            continue
        broken = [text for limit in limits if (text := limit.broken(record.levels))]
        if broken:
            found[own] = broken[0]
        gains = record.gains
        if record.trial.stage == CONFIRM and gains and np.ptp(gains) > math.log1p(RANGE):
            width = math.expm1(float(np.ptp(gains)))
            found[own] = f"its results range over {100 * width:.0f} % between starts"
    return found


def needed(gains: np.ndarray) -> bool | None:
    """Return whether a winner needs a knob, from its gains without; None if that is not decided."""
    _, low, high = sequential.interval(gains)
    if low > math.log1p(-ALIKE):
        # Equivalent, or better without.
        return False
    return True if high < 0 else None


def upper_bounds(space: Space, history: History) -> dict[Configuration, float]:
    """Return the upper bound of the gain of each configuration of the search, as a logarithm.

    All bounds together hold with 95 %. The deviation is that within all contrasts of a design. A
    configuration is left out while no contrast of its design has a second block.
    """
    records = [r for r in history.of(SEARCH).contrasts if r.gains and not r.infeasible]
    found = {}
    for record in records:
        deviation, freedom = history.pooled(record.trial.design)
        if freedom:
            t = float(stdtrit(freedom, 1 - ERROR / len(records)))
            error = t * deviation / math.sqrt(len(record.gains))
            found[record.trial.configuration] = float(np.mean(record.gains)) + error
    return found


def _needless(history: History, winner: Finalist | None) -> tuple[str, ...]:
    """Return the first knob that can be left out. Two of them may each do the other's work."""
    for word, _ in winner.configuration if winner else ():
        gains = history.gains(ABLATE, without(winner.configuration, word), winner.configuration)
        if needed(gains) is False:
            return (word,)
    return ()
