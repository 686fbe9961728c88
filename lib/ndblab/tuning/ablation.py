"""Ablation: which settings of a confirmed configuration can be left out. Pure.

Those from which the search saw no clear gain are in doubt. They are left out together, so that one
contrast answers for all, then one by one. Once one of them is known to be needed, the others are
left out together again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from ndblab.statistics import sequential
from ndblab.statistics.estimate import Estimate
from ndblab.tuning import screening
from ndblab.tuning.history import ABLATE, SEARCH, History, Record
from ndblab.tuning.space import Configuration, Space, without
from ndblab.tuning.wanted import Limit

ALIKE = 0.01
"""A setting that changes the goal by less than this can be left out."""


def doubtful(space: Space, history: History, whole: Configuration) -> tuple[str, ...]:
    """Return the knobs from which the search saw no clear gain, the least gain first."""
    known = screening.effects(space, history.of(SEARCH))
    least = {pair: known[pair].mean - 2 * known[pair].deviation for pair in whole}
    unclear = [pair for pair in whole if least[pair] <= screening.WORTH]
    return tuple(word for word, _ in sorted(unclear, key=lambda pair: known[pair].mean))


def unsettled(
    space: Space, history: History, whole: Configuration, limits: Sequence[Limit] = ()
) -> tuple[str, ...]:
    """Return the knobs in doubt that no trial has shown to be needed."""
    return _unshown(history, whole, doubtful(space, history, whole), limits)


def reduced(
    space: Space,
    history: History,
    whole: Configuration,
    words: Sequence[str],
    limits: Sequence[Limit] = (),
) -> Configuration | None:
    """Return what to compare with the whole next; None if nothing is left to find out.

    Parameters
    ----------
    words : the knobs in doubt.
    limits : what a configuration must keep.
    """
    dropped = set(needless(history, whole, limits))
    shown = _left_out(history, whole, limits, are_needed=True)
    for group in _groups(space, whole, _unshown(history, whole, words, limits), dropped):
        if group <= dropped or any(group >= known for known in shown):
            continue
        fewer = without(whole, *group)
        record = history.find(ABLATE, fewer, whole)
        if record and record.infeasible:
            continue
        if record is None or needed(record, limits) is None:
            return fewer
    return None


def needed(record: Record, limits: Sequence[Limit] = ()) -> bool | None:
    """Return whether a configuration needs some settings, from a trial without them.

    It does, too, if it breaks a limit without them, or certainly loses throughput in a search for
    another goal. None means that this is undecided.
    """
    slower = sequential.interval(np.array(record.throughput))[2] < 0
    is_kept = any(limit.quantity == "throughput" for limit in limits)
    if any(limit.broken(record.levels) for limit in limits) or (slower and not is_kept):
        return True
    _, low, high = sequential.interval(np.array(record.gains))
    if low > math.log1p(-ALIKE):
        # Equivalent, or better without.
        return False
    return True if high < 0 else None


def needless(
    history: History, whole: Configuration, limits: Sequence[Limit] = ()
) -> tuple[str, ...]:
    """Return the most knobs that can be left out together.

    Results of two groups do not add up: a knob of one may do the work of a knob of the other.
    """
    groups = _left_out(history, whole, limits, are_needed=False)
    return tuple(sorted(max(groups, key=len, default=())))


def gain_without(history: History, whole: Configuration, words: Sequence[str]) -> Estimate:
    """Return the ratio that a trial without these knobs found against the whole; NaN if none did.

    Above 1, the configuration is better without them.
    """
    record = history.find(ABLATE, without(whole, *words), whole)
    if record is None or not record.gains:
        return Estimate(math.nan)
    return Estimate(*map(math.exp, sequential.interval(np.array(record.gains))))


def _unshown(
    history: History, whole: Configuration, words: Collection[str], limits: Sequence[Limit]
) -> tuple[str, ...]:
    """Return the knobs that no trial has shown to be needed, beside those that are not."""
    dropped = set(needless(history, whole, limits))
    single = [group - dropped for group in _left_out(history, whole, limits, are_needed=True)]
    return tuple(word for word in words if {word} not in single)


def _left_out(
    history: History, whole: Configuration, limits: Sequence[Limit], are_needed: bool
) -> list[set[str]]:
    """Return the groups of knobs that trials have shown to be needed, or not to be."""
    return [
        {word for word, _ in set(whole) - set(record.trial.configuration)}
        for record in history.of((ABLATE,)).contrasts
        if record.trial.against == whole and needed(record, limits) is are_needed
    ]


def _groups(
    space: Space, whole: Configuration, words: Collection[str], dropped: Collection[str]
) -> tuple[frozenset[str], ...]:
    """Return which knobs to leave out together, in the order in which this is tried.

    First come all that the cheapest design can leave out, then those of the next design as well,
    and so on, then each knob alone: all beside those that are `dropped` already.
    """
    seconds = {word: space.block_s[space.design(without(whole, word), whole)] for word in words}
    together = [
        frozenset({*dropped, *(word for word in words if seconds[word] <= most)})
        for most in sorted(set(seconds.values()))
    ]
    singly = [frozenset({*dropped, word}) for word in words]
    fewer = {group: without(whole, *group) for group in (*together, *singly)}
    # If a setting does nothing without one that is left out, the two belong together.
    return tuple(g for g, own in fewer.items() if own and space.effective(dict(own)) == own)
