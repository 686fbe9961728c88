"""The verdict on a claim by all recordings of an experiment together.

The rule (docs/reading.md gives its reasons; what has no date was written before any were pooled):

- each recording is judged alone, and those in which the claim could not be tested do not count;
- since 2026-11-29, one too short to know the claim's condition does not count if another measured
  the claim;
- what their comparisons measured is pooled with the variance between recordings
  (`statistics.recordings`), and the pooled interval decides;
- a recording that decides the opposite by itself leaves the claim open;
- a verdict on blocks of contrasts needs two or more cluster starts, over all recordings. One is
  enough for what is counted, alike in every slice, and for a claim about a single long run;
- a claim that something never happens is reproduced by `TRIALS` or more runs, over all recordings.
  Fewer may contradict it: one run in which it happens is enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndblab.error import MissingData
from ndblab.formatting import count, listed
from ndblab.judging.contrasted import named
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import (
    CONDITION_UNKNOWN,
    CONTRADICTED,
    INCONCLUSIVE,
    ONE_START,
    REPRODUCED,
    RULED_OUT,
    TESTED,
    TOGETHER,
    Comparison,
    Finding,
    allowed,
    decide,
)
from ndblab.planning.cpu_budget import ATTACHED
from ndblab.statistics import contrasts, recordings, sequential
from ndblab.statistics.estimate import Estimate

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

STARTS = 2
"""Cluster starts that a verdict needs: one says nothing about how starts differ."""
TRIALS = 5
"""Runs without an effect that show that there is none: 4 runs miss an effect of every second run
with a chance of 6 %."""
_DECIDED = (REPRODUCED, CONTRADICTED)
_NORMAL_95 = 1.96
_COUNTED = "share of local reads"
"""Metrics that NDB's own counters give, which no start makes faster or slower."""


@dataclass(frozen=True)
class Recording:
    """What one recording says about a claim, and the cluster starts of the contrasts behind it.

    `starts_of` is empty where starts do not matter.
    """

    where: str
    finding: Finding
    starts_of: Mapping[str, int]
    host: str = ""

    @property
    def starts(self) -> int | None:
        """Return the cluster starts of the contrast with the fewest; None without any."""
        return min(self.starts_of.values(), default=None)


def of(claim: Claim, dataset: Dataset, finding: Finding) -> Recording:
    """Return what a dataset says of a claim, with its host and time, and its cluster starts."""
    host = str(dataset.host.get("cpu_model") or "")
    began = str(dataset.manifest.get("started_utc", ""))
    where = ", ".join(filter(None, (host, began[:10])))
    return Recording(where, finding, _starts(claim, dataset, finding), host)


def together(claim: Claim, recorded: Sequence[Recording]) -> Finding:
    """Return the finding of all recordings, the newest last."""
    known = _known(recorded)
    tested = [recording for recording in known if recording.finding.verdict in TESTED]
    if not tested:
        return _named(_telling(known), recorded)
    finding = _named(tested[0], recorded) if len(tested) == 1 else _pooled(claim, tested)
    hosts = sorted({recording.host for recording in tested if recording.host})
    on = f" on {listed(hosts)}" if len(hosts) > 1 else ""
    if on:
        finding = replace(finding, held=f"from {count(len(tested), 'recording')}{on}")
    counted = [recording.starts for recording in tested if recording.starts is not None]
    starts = sum(counted) if counted else None
    if finding.verdict in _DECIDED and starts is not None and starts < STARTS:
        why = f"{ONE_START}, within which it is {finding.verdict}; {finding.why}"
        few = [name for name, number in tested[-1].starts_of.items() if number < STARTS]
        return replace(finding, verdict=INCONCLUSIVE, why=why, waits=dict.fromkeys(few))
    trials = sum(recording.finding.trials or 0 for recording in tested)
    if finding.verdict == REPRODUCED and 0 < trials < TRIALS:
        why = f"{count(trials, 'run')} only, in which it is reproduced: what happens every second "
        why += f"time may be missed by fewer than {TRIALS}; {finding.why}"
        return replace(finding, verdict=INCONCLUSIVE, why=why, trials=trials)
    if finding.verdict not in _DECIDED:
        return finding
    held = [f"in {len(tested)} of {count(len(recorded), 'recording')}{on}"]
    held += [count(starts, "cluster start")] if starts else []
    held += [count(trials, "run")] if trials else []
    return replace(finding, held=", ".join(held), trials=trials or None)


def _telling(known: Sequence[Recording]) -> Recording:
    """Return the newest recording with an interval, or else with a value, or else the newest."""
    bounded = [one for one in known if one.finding.measured.bounded]
    measured = [one for one in known if not math.isnan(one.finding.measured.value)]
    return (bounded or measured or known)[-1]


def _known(recorded: Sequence[Recording]) -> Sequence[Recording]:
    """Leave out recordings too short to know the claim's condition, if another measured the claim.

    Where the condition fails in a longer one, more blocks would not decide the claim.
    """
    known = [one for one in recorded if not one.finding.why.startswith(CONDITION_UNKNOWN)]
    measured = any(not math.isnan(one.finding.measured.value) for one in known)
    return known if measured else recorded


def _named(one: Recording, recorded: Sequence[Recording]) -> Finding:
    """Return the finding of one recording, with its host and time if it is not the newest.

    A reason why a claim is ruled out comes before them: it may hold for every recording.
    """
    if one is recorded[-1] or not one.where:
        return one.finding
    numbers = one.finding.numbers
    if one.finding.verdict in RULED_OUT:
        why, *measured = numbers.partition("; measured:")
        return replace(one.finding, numbers="".join([why, f"; recorded on {one.where}", *measured]))
    return replace(one.finding, numbers=f"{one.where}: {numbers}")


def _pooled(claim: Claim, tested: Sequence[Recording]) -> Finding:
    findings = [recording.finding for recording in tested]
    alone = [f"{one.where}: {one.finding.numbers} ({_word(one)})" for one in tested]
    words = {finding.verdict for finding in findings}
    judged = [[one for one in finding.compared if one.judged] for finding in findings]
    same = {
        (allowed(finding.claim or claim), *(one.contrast for one in comparisons))
        for finding, comparisons in zip(findings, judged, strict=True)
    }
    if not all(judged) or len(same) > 1 or findings[-1].trials:
        # Counted, or not the same comparisons: nothing to pool, so all must say the same.
        newest, numbers = findings[-1], "; ".join(alone)
        if len(words) == 1:
            # Runs that count together are as bad as their worst.
            shown = max(findings, key=lambda one: one.measured.value) if newest.trials else newest
            return replace(newest, numbers=numbers, measured=shown.measured)
        # Show the finding that leaves the claim open.
        shown = next((f for f in reversed(findings) if f.verdict not in _DECIDED), newest)
        why = "recordings do not all say the same"
        return replace(shown, verdict=INCONCLUSIVE, numbers=numbers, why=why, waits={})
    tests = [pool(comparisons, len(judged[-1])) for comparisons in zip(*judged, strict=True)]
    finding = replace(decide(findings[-1].claim or claim, TOGETHER, tests), waits={})
    finding = replace(finding, numbers="; ".join([finding.numbers, *alone]))
    finding = replace(finding, condition=findings[-1].condition)
    opposed = {REPRODUCED: CONTRADICTED, CONTRADICTED: REPRODUCED}.get(finding.verdict)
    if opposed in words:
        why = f"one recording alone is {opposed}; {finding.why}"
        return replace(finding, verdict=INCONCLUSIVE, why=why)
    if finding.verdict == INCONCLUSIVE and words <= {*_DECIDED} and len(words) == 1:
        said, *others = sorted(map(_word, tested))
        limits = [word.removeprefix(said) for word in others if word != said]
        said += f" ({len(limits)} of them{limits[0]})" if limits else ""
        why = f"each of {len(tested)} recordings alone is {said}, but together they have "
        return replace(finding, why=why + finding.why)
    return finding


def _word(one: Recording) -> str:
    """Write the verdict of one recording, limited to the starts or runs it rests on."""
    word = one.finding.verdict
    if word in _DECIDED and one.starts is not None and one.starts < STARTS:
        return f"{word} within one cluster start"
    trials = one.finding.trials or TRIALS
    return f"{word} in {count(trials, 'run')}" if trials < TRIALS else word


def pool(comparisons: Sequence[Comparison], tests: int = 1) -> Comparison:
    """Pool what each recording measured into one comparison.

    Parameters
    ----------
    tests : number of comparisons of the claim, any of which may contradict it.
    """
    newest = comparisons[-1]
    if not all(one.estimate.bounded for one in comparisons):
        return replace(newest, estimate=Estimate(newest.estimate.value), corrected=None)
    if {one.estimate for one in comparisons} == {Estimate(*[newest.estimate.value] * 3)}:
        # Counted, and the same in all: there is no error to pool.
        return newest
    log = newest.log and all(one.estimate.low > 0 for one in comparisons)
    to, back = (np.log, np.exp) if log else (np.asarray, np.asarray)
    values = [float(to(one.estimate.value)) for one in comparisons]
    halves = [float(to(one.estimate.high) - to(one.estimate.low)) / 2 for one in comparisons]
    # The intersection of looks may be narrower than what all units together tell.
    errors = [
        max(half / _widths(one), _own(one, log))
        for half, one in zip(halves, comparisons, strict=True)
    ]

    def interval(confidence: float) -> Estimate:
        return Estimate(*(float(back(x)) for x in recordings.pooled(values, errors, confidence)))

    pooled = Comparison.one_of(tests, newest.label, interval)
    return replace(newest, estimate=pooled.estimate, corrected=pooled.corrected, values=None)


def _own(one: Comparison, log: bool) -> float:
    """Return the standard error of the units up to the last look; 0 where there are none."""
    if one.values is None or one.log != log:
        return 0.0
    look = max((n for n in sequential.LOOKS if n <= len(one.values)), default=0)
    return sequential.deviation(one.values[:look]) / math.sqrt(look) if look else 0.0


def _widths(one: Comparison) -> float:
    """Return half the width of an interval, in standard errors."""
    if one.values is None or not one.values.size:
        return _NORMAL_95
    units = one.values.shape[0]
    looks = [look for look in sequential.LOOKS if look <= units]
    parts = one.values.shape[1] if one.values.ndim == 2 else 1
    look = max(looks, default=units)
    return sequential.half_width(1.0, look, parts) * math.sqrt(look)


def _starts(claim: Claim, dataset: Dataset, finding: Finding) -> dict[str, int]:
    """Return the cluster starts of each contrast that decides a claim.

    Empty where starts do not matter: no contrast decides the claim, NDB counted the value, nothing
    varies, or the lab did not start the cluster.
    """
    names = named(dataset.manifest, claim.id)
    varies = not math.isclose(finding.measured.low, finding.measured.high)
    if dataset.budget == ATTACHED or not varies or claim.metric.startswith(_COUNTED):
        return {}
    starts = {}
    for name in names:
        try:
            starts[name] = contrasts.whole(dataset.slices, name)["start"].nunique()
        except MissingData:
            continue
    return starts
