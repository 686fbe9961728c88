"""What may be concluded from a search: finalists with their intervals, and what is excluded. Pure.

Only blocks of the confirmation count for a finalist. Its interval is valid at every look
(`statistics.sequential`) and corrected for the number of finalists (Bonferroni). What a search
finds best was selected for looking best, and gains less than it seemed to.

That interval holds for the hours of the search, and alone decides whether a gain is confirmed. How
days differ a search cannot see, with however many blocks: its answer adds that from recordings
(`recordings.another_day`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ndblab.formatting import less_or_more
from ndblab.statistics import sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate
from ndblab.tuning import ablation
from ndblab.tuning.history import (
    BASE_RANGE,
    CONFIRM,
    EXCLUDE,
    OWN_RANGE,
    SEARCH,
    History,
    Record,
)
from ndblab.tuning.space import BASELINE, Configuration, Space
from ndblab.tuning.wanted import Limit

RANGE = 0.30
"""A configuration whose gains range over more than this between starts is rejected, if its own
results do so too, and more than the baseline's: 63 % of the configurations found best under noise
lose as much when deployed (TUNA, EuroSys 2025)."""
ERROR = 1 - CONFIDENCE
HOPE = 0.05
"""A finalist gets no more blocks if its chance to be confirmed in the time left is below this."""
_UNKNOWN = Estimate(math.nan)
FREEDOM = 4
"""Fewest degrees of freedom of a design's deviation with which limits are computed: with fewer, a t
quantile says little more than that nothing is known."""


@dataclass(frozen=True)
class Finalist:
    """A configuration to confirm. Gains are logarithms; NaN before they are known.

    `searched` is the search's own estimate. `rejected` says why it is out whatever its gain; empty
    if it is not.
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
        return math.isnan(self.log_high) or self.log_high > math.log1p(ablation.ALIKE)


@dataclass(frozen=True)
class Excluded:
    """The most, as a part of 1, that the best of `number` configurations of a design may gain."""

    design: str
    gain: float
    number: int


@dataclass(frozen=True)
class Outcome:
    """The best confirmed configuration if there is one, all finalists, and what is ruled out.

    `needless` names the knobs of the winner without which it is no worse. With 95 % confidence,
    not even the best of `bounded` configurations gains more than `excluded`, a part of 1; NaN if
    unknown. `by_design` says the same for the configurations of each design. `doubtful` names the
    knobs of the winner from which the search saw no clear gain. `without` is what leaving out the
    `needless` ones gains, as a ratio.
    """

    winner: Finalist | None
    finalists: tuple[Finalist, ...]
    needless: tuple[str, ...]
    tried: int
    infeasible: tuple[tuple[Configuration, str], ...]
    excluded: float
    bounded: int = 0
    by_design: tuple[Excluded, ...] = ()
    doubtful: tuple[str, ...] = ()
    without: Estimate = _UNKNOWN

    @property
    def configuration(self) -> Configuration:
        """Return the configuration that a search ends with: the baseline if nothing is better."""
        return self.winner.configuration if self.winner else BASELINE


def judge(
    history: History, candidates: Sequence[Finalist], limits: Sequence[Limit] = ()
) -> Outcome:
    """Judge a search as far as it has come."""
    confidence = 1 - ERROR / max(1, len(candidates))
    out = history.failures() | rejected(history, limits)
    if not any(limit.quantity == "throughput" for limit in limits):
        out = _slower(history, candidates, confidence) | out
    finalists = []
    for candidate in candidates:
        own = candidate.configuration
        gains = history.gains(CONFIRM, own)
        interval = sequential.interval(gains, confidence)
        why = out.get(own, "")
        finalists.append(Finalist(own, candidate.searched, *interval, len(gains), why))
    better = [finalist for finalist in finalists if finalist.log_low > 0 and not finalist.rejected]
    winner = max(better, key=lambda finalist: finalist.log_low, default=None)
    tried = {record.trial.configuration for record in history.records}
    needless = ablation.needless(history, winner.configuration, limits) if winner else ()
    less = _UNKNOWN
    if winner and needless:
        less = ablation.gain_without(history, winner.configuration, needless)
    by_design = () if winner else _excluded(history, finalists, out)
    return Outcome(
        winner, tuple(finalists), needless, len(tried), tuple(out.items()),
        max((excluded.gain for excluded in by_design), default=math.nan),
        sum(excluded.number for excluded in by_design), by_design, without=less,
    )  # fmt: skip


def may_win(gains: np.ndarray, most: float, confidence: float) -> bool:
    """Return whether a look at `most` blocks or fewer may confirm a gain, after these blocks."""
    chances = sequential.chances(gains, 0.0, math.inf, confidence, outside=False)
    if chances is None:
        return most >= sequential.LOOKS[0]
    return any(look <= most and chance > HOPE for look, chance in chances.items())


def rejected(history: History, limits: Sequence[Limit]) -> dict[Configuration, str]:
    """Return why configurations that run are out: the limit they break, or how much they vary.

    Whether a limit is kept is for the confirmation to say, once it has a block.
    """
    reasons: dict[Configuration, str] = {}
    for record in (*history.of(SEARCH).contrasts, *history.of((CONFIRM,)).contrasts):
        own = record.trial.configuration
        if record.trial.stage == CONFIRM and record.gains:
            reasons.pop(own, None)
        broken = [text for limit in limits if (text := limit.broken(record.levels))]
        if broken:
            reasons[own] = broken[0]
        if record.trial.stage == CONFIRM and (why := _varies(record)):
            reasons[own] = why
    return reasons


def _slower(
    history: History, candidates: Iterable[Finalist], confidence: float
) -> dict[Configuration, str]:
    """Return which finalists lose throughput for another goal, and how much.

    Otherwise half the queries with less CPU each would win.
    """
    reasons = {}
    for candidate in candidates:
        record = history.find(CONFIRM, candidate.configuration)
        logs = sequential.interval(np.array(record.throughput if record else ()), confidence)
        if logs[2] < 0:
            reasons[candidate.configuration] = f"its throughput is {less_or_more(*np.exp(logs))}"
    return reasons


def _varies(record: Record) -> str:
    """Say how much the results of a confirmation vary; empty if little, or no more than A's."""
    gains = float(np.ptp(record.gains)) if record.gains else 0.0
    # Records of older searches have the gains alone, to which both sides contribute.
    own = record.levels.get(OWN_RANGE, gains)
    others = record.levels.get(BASE_RANGE, 0.0)
    if min(gains, own) <= math.log1p(RANGE) or own <= others:
        return ""
    return f"its results range over {100 * math.expm1(own):.0f} % between starts"


def upper_limits(
    history: History, finalists: Iterable[Finalist] = ()
) -> dict[Configuration, float]:
    """Return a one-sided upper limit of the gain of each configuration, as a logarithm.

    The highest limit bounds the best configuration, since its own limit does: the number of
    configurations needs no correction (Berger 1982, the intersection-union principle). The number
    of blocks does, as the search goes on where a limit is high: a limit after n blocks gets a part
    1 / (n (n + 1)) of the error, and these parts add up to 1. That error is half of 5 %; the limits
    of finalists, which are the upper ends of their intervals, have the other half. Which
    configurations are tried depends on what was measured: `benchmarks.tuning` checks the limits in
    simulated searches. The deviation is that within all contrasts of a design; while it has fewer
    than `FREEDOM` degrees of freedom, the configurations of the design are left out.
    """
    records = [r for r in history.of(SEARCH).contrasts if r.gains and not r.infeasible]
    limits = {}
    for record in records:
        deviation, freedom = history.pooled(record.trial.design)
        if freedom >= FREEDOM:
            blocks = len(record.gains)
            t = float(scipy.special.stdtrit(freedom, 1 - ERROR / 2 / (blocks * (blocks + 1))))
            error = t * deviation / math.sqrt(blocks)
            limits[record.trial.configuration] = float(np.mean(record.gains)) + error
    confirmed = {e.configuration: e.log_high for e in finalists if not math.isnan(e.log_high)}
    return limits | confirmed


def narrowed(space: Space, history: History, own: Configuration) -> tuple[str, str, int]:
    """Return how to lower the limit of a configuration: by which stage, design and blocks."""
    blocks = len(history.gains(CONFIRM, own))
    if blocks >= sequential.LOOKS[0]:
        # Its limit is that of its confirmation, which only the next look changes.
        missing = (look - blocks for look in sequential.LOOKS if look > blocks)
        return CONFIRM, space.dear, next(missing, 1)
    design = space.design(own)
    return EXCLUDE, design, max(1, FREEDOM - int(history.pooled(design)[1]))


def _excluded(
    history: History, finalists: Iterable[Finalist], out: Collection[Configuration]
) -> tuple[Excluded, ...]:
    """Return the gain excluded for each design, ignoring the configurations that are out."""
    designs = {r.trial.configuration: r.trial.design for r in history.of(SEARCH).contrasts}
    designs |= {r.trial.configuration: r.trial.design for r in history.of((CONFIRM,)).contrasts}
    by_design: dict[str, list[float]] = {}
    for own, limit in upper_limits(history, finalists).items():
        if own not in out:
            by_design.setdefault(designs[own], []).append(limit)
    return tuple(
        Excluded(design, math.expm1(max(limits)), len(limits))
        for design, limits in by_design.items()
    )
