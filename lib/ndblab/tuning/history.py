"""What has been tried: trials, what they found, and the journal of both. Pure.

A gain is a logarithm: of B over A for throughput, of A over B for what should be small.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ndblab.tuning.space import BASELINE, Configuration

EXPERT, SCREEN, RACE, EXCLUDE = "expert", "screen", "race", "exclude"
CONFIRM, ABLATE = "confirm", "ablate"
SEARCH = (EXPERT, SCREEN, RACE, EXCLUDE)
"""Stages of the search proper: their blocks of a configuration are pooled, and confirm nothing."""
OK = "ok"
PENDING = "pending"
"""Status of a trial that is under way, as far as the search is concerned."""
DISTURBED = "disturbed"
"""Status prefix of a trial that others on the host or the other side spoilt, not what it tries."""
COMPANY = "company:"
"""How the status of a slice begins that others on the host disturbed."""
OWN_RANGE, BASE_RANGE = "range", "base_range"
"""Levels of a record: the range of each side's blocks, as logarithms of what the goal is about."""
PRIOR = 4
"""Degrees of freedom that the recorded deviation of a design is worth for this host."""


@dataclass(frozen=True)
class Trial:
    """A configuration tried against another, until it has `blocks` whole blocks."""

    stage: str
    configuration: Configuration
    blocks: int
    design: str
    against: Configuration = BASELINE

    @cached_property
    def contrast(self) -> str:
        """The name of the contrast of its blocks, which all stages in `SEARCH` share."""
        return contrast(self.stage, self.configuration, self.against)

    @property
    def other(self) -> str:
        """What the configuration is compared with, in a word."""
        return "confirmed one" if self.against else "baseline"


def contrast(stage: str, configuration: Configuration, against: Configuration = BASELINE) -> str:
    """Name a contrast by what it compares, so that a resumed search finds its blocks."""
    kind = "search" if stage in SEARCH else stage
    text = json.dumps([configuration, against])
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Record:
    """A trial that is over: the gains of all blocks of its contrast, or why there are none.

    `levels` are means of the tried configuration, qps and p95_ms, and how far the blocks of it and
    of the other side range (`OWN_RANGE` and `BASE_RANGE`, which older records lack). If the goal is
    another, `throughput` has the gains in throughput of all whole blocks. `starts` are the numbers
    of the baseline's cluster starts, one for each block of twins (none in older records).
    """

    trial: Trial
    gains: tuple[float, ...]
    seconds: float
    status: str = OK
    levels: Mapping[str, float] = field(default_factory=dict)
    throughput: tuple[float, ...] = ()
    starts: tuple[int, ...] = ()

    @property
    def infeasible(self) -> bool:
        """Return whether its configuration does not work."""
        return self.status not in (OK, PENDING) and not self.status.startswith(DISTURBED)

    @property
    def failed(self) -> bool:
        """Return whether a start, the other side or the configuration failed, not the host."""
        return self.status != OK and not self.status.startswith(f"{DISTURBED}, {COMPANY}")

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> Record:
        """Return the record of an entry of the journal."""
        own = dict(known["trial"])
        for name in ("configuration", "against"):
            own[name] = tuple((word, value) for word, value in own[name])
        lists = {name: tuple(known.get(name, ())) for name in ("gains", "throughput", "starts")}
        return cls(**{**known, "trial": Trial(**own), **lists})


class History:
    """Records in order, looked up by contrast."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records = tuple(records)
        self._last = {record.trial.contrast: record for record in self.records}

    @property
    def seconds(self) -> float:
        """Seconds that all trials took."""
        return sum(record.seconds for record in self.records)

    def block_s(self, design: str) -> float:
        """Return the mean seconds of a block of a design, failed trials included; NaN for none."""
        seconds = sum(r.seconds for r in self.records if r.trial.design == design)
        blocks = sum(len(r.gains) for r in self.contrasts if r.trial.design == design)
        return seconds / blocks if blocks else math.nan

    def of(self, stages: Collection[str]) -> History:
        """Return the history of these stages alone."""
        return History(r for r in self.records if r.trial.stage in stages)

    @property
    def contrasts(self) -> tuple[Record, ...]:
        """The last record of each contrast, in the order of their first trials."""
        return tuple(self._last.values())

    def find(
        self, stage: str, configuration: Configuration, against: Configuration = BASELINE
    ) -> Record | None:
        """Return the last record of a contrast."""
        return self._last.get(contrast(stage, configuration, against))

    def wants(self, stage: str, configuration: Configuration) -> bool:
        """Return whether a configuration was never tried, or only in one trial that was spoilt."""
        name = contrast(stage, configuration)
        own = [record for record in self.records if record.trial.contrast == name]
        return not own or (len(own) == 1 and own[0].status.startswith(DISTURBED))

    def pending(self, configuration: Configuration) -> bool:
        """Return whether a trial of a configuration is under way in the search."""
        record = self.find(RACE, configuration)
        return record is not None and record.status == PENDING

    def gains(
        self, stage: str, configuration: Configuration, against: Configuration = BASELINE
    ) -> np.ndarray:
        """Return the gains of the blocks of a contrast; none if it has none."""
        record = self.find(stage, configuration, against)
        return np.array(record.gains if record else (), float)

    def failures(self) -> dict[Configuration, str]:
        """Return why configurations are infeasible."""
        return {r.trial.configuration: r.status for r in self.records if r.infeasible}

    def pooled(self, design: str, prior: float = math.nan) -> tuple[float, float]:
        """Return the deviation of blocks of a design, and its degrees of freedom.

        The deviation is that within contrasts, pooled over all of them.

        Parameters
        ----------
        prior : the recorded deviation, worth `PRIOR` degrees of freedom; NaN for none.
        """
        gains = [r.gains for r in self.contrasts if r.trial.design == design and len(r.gains) > 1]
        squares = sum(len(logs) * float(np.var(logs)) for logs in gains)
        freedom = float(sum(len(logs) - 1 for logs in gains))
        if not math.isnan(prior):
            squares, freedom = squares + PRIOR * prior**2, freedom + PRIOR
        return (math.sqrt(squares / freedom) if freedom else math.nan), freedom
