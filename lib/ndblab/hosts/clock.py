"""Clocks of two machines, compared by messages between them.

In: when a question was sent and its answer came, and what the other clock showed in between. Out:
how far the clocks are apart, and how well that is known. Pure.

The answer was given some time between the two: the shorter that was, the better is the offset known
(NTP, RFC 5905, takes the sample of least delay for the same reason).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

KEPT = 30
"""Older samples are dropped, since clocks drift."""


class Sample(NamedTuple):
    """One question and its answer: times by both clocks of both machines, in s."""

    sent_time_s: float
    sent_monotonic_s: float
    back_monotonic_s: float
    their_time_s: float
    their_monotonic_s: float

    @property
    def delay_s(self) -> float:
        """From the question to its answer."""
        return self.back_monotonic_s - self.sent_monotonic_s

    @property
    def monotonic_offset_s(self) -> float:
        """Their monotonic clock less ours."""
        return self.their_monotonic_s - self.sent_monotonic_s - self.delay_s / 2


class ClockOffset(NamedTuple):
    """Time of day on another host less that of this one; the true value is within uncertainty."""

    offset_ms: float
    uncertainty_ms: float


def time_offset(samples: list[Sample]) -> ClockOffset:
    """Return how far another host's time of day is ahead, from the sample of least delay."""
    best = min(samples, key=lambda sample: sample.delay_s)
    offset_s = best.their_time_s - best.sent_time_s - best.delay_s / 2
    return ClockOffset(round(1000 * offset_s, 3), round(500 * best.delay_s, 3))


class Monotonic:
    """Offset of another host's monotonic clock, kept up to date."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=KEPT)

    def add(self, sample: Sample) -> None:
        """Take one more sample into account."""
        self._samples.append(sample)

    def here(self, their_s: float) -> float:
        """Convert a time of the other host's monotonic clock to this machine's."""
        best = min(list(self._samples), key=lambda sample: sample.delay_s)
        return their_s - best.monotonic_offset_s
