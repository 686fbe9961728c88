"""The answer of a search: as a sentence, as settings to paste, and as JSON. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab.comparing import answer as comparing
from ndblab.comparing import choice, knobs
from ndblab.comparing.sides import Sides
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, TWINS
from ndblab.formatting import count, less_or_more, listed
from ndblab.statistics.estimate import Estimate
from ndblab.tuning.space import Configuration, without

if TYPE_CHECKING:
    from ndblab.tuning.outcome import Finalist, Outcome
    from ndblab.tuning.wanted import Wanted

    Changes = Mapping[Configuration, Mapping[str, Estimate]]
    """What each finalist changes, by quantity (`trade_off.of`)."""

_NUMBERS = {1: "this one", 2: "these two", 3: "these three", 4: "these four", 5: "these five"}
_GAINS = {
    "throughput": ("more queries/s", "fewer queries/s"),
    "p95": ("lower p95", "higher p95"),
    "cpu": ("less CPU per query", "more CPU per query"),
}
_BESIDE = {
    "throughput": "queries/s",
    "p95": "p95",
    "cpu": "CPU per query",
    "memory": "memory of the nodes",
}
_REASONS = 5
_WAYS = {
    ALTERNATION: "switched in one running cluster",
    RESTARTS: "with restarted MySQL servers",
    TWINS: "with cluster starts of its own",
    STARTS: "with cluster starts of its own",
}


def kept(outcome: Outcome) -> Configuration:
    """Return what to set: the confirmed configuration, without what it does not need."""
    if outcome.winner is None:
        return ()
    return without(outcome.winner.configuration, *outcome.needless)


def headline(outcome: Outcome, wanted: Wanted) -> str:
    """Say what to do, with the confirmed gain."""
    if outcome.winner:
        own = kept(outcome)
        many = _NUMBERS.get(len(own), f"these {len(own)}")
        return f"Set {many}: {gain(outcome.winner.ratio, wanted.request.goal)}"
    waiting = [finalist for finalist in outcome.finalists if finalist.open and finalist.blocks]
    words = "no gain is confirmed so far" if waiting else "nothing found"
    words = f"Keep your configuration: {words}"
    if math.isnan(outcome.excluded):
        return words
    bounded, tried = outcome.bounded, outcome.tried
    among = f"{bounded} of {tried}" if bounded < tried else tried
    excluded = _excluded(outcome.excluded)
    return f"{words}; a gain of more than {excluded} is excluded among {among} tried"


def sentence(outcome: Outcome, wanted: Wanted, changes: Changes) -> str:
    """Say what to do, what else it changes, and what it needs."""
    text = headline(outcome, wanted)
    if outcome.winner is None:
        return f"{text}."
    others = [
        f"{_BESIDE[goal]} {less_or_more(*ratio)}"
        for goal, ratio in _beside(outcome, changes).items()
        if goal != wanted.request.goal and ratio.bounded
    ]
    restarts = choice.restarts(Sides((), wanted.settings(kept(outcome))))
    text = f"{', '.join([text, *others])}; {restarts}"
    if outcome.needless:
        left = listed(outcome.needless)
        text += f". Measured with {left} as well, without which it is equivalent within 1 %"
    return f"{text}."


def details(outcome: Outcome, wanted: Wanted) -> list[str]:
    """Return a line for each finalist, and lines on what could not run."""
    lines = []
    if outcome.finalists:
        lines.append("Confirmed in new starts, beside what the search had seen:")
    for number, finalist in enumerate(outcome.finalists, 1):
        words = wanted.space.words(finalist.configuration)
        lines.append(f"  {number}. {words}: {_confirmed(finalist)}")
    if doubt := tuple(pair for pair in kept(outcome) if pair[0] in outcome.doubtful):
        words = wanted.space.words(doubt)
        lines.append(f"No clear gain was seen from {words}: leave out what you do not want to set.")
    lines.append(f"Tried: {count(outcome.tried, 'configuration')}.")
    if len(outcome.by_design) > 1:
        lines.append("Excluded, by how a configuration was tried (95 % each):")
        lines += [
            f"  {_WAYS[limit.design]}: more than {_excluded(limit.gain)} among {limit.number}"
            for limit in outcome.by_design
        ]
    out = [(own, why) for own, why in outcome.infeasible if own]
    if out:
        lines.append(f"Ruled out: {count(len(out), 'configuration')}.")
        lines += [f"  {wanted.space.words(own)}: {why}" for own, why in out[:_REASONS]]
        lines += [f"  and {len(out) - _REASONS} more"] if len(out) > _REASONS else []
    return lines


def to_paste(outcome: Outcome, wanted: Wanted) -> list[str]:
    """Return the smallest difference from the baseline, grouped by the restart it needs."""
    words = {word for word, _ in kept(outcome)}
    own = [s for s in wanted.settings(kept(outcome)) if s.knob.word in words]
    lines: list[str] = []
    for way in knobs.CHANGES:
        mine = tuple(setting for setting in own if setting.knob.change == way)
        if mine:
            sides = Sides((), mine)
            body = comparing.to_paste(sides).splitlines()[1:-1]
            lines += [f"To paste; for it, {choice.restarts(sides)}:", *body]
    return lines


def gain(ratio: Estimate, goal: str) -> str:
    """Write a gain with its interval; above 1 is better.

    >>> gain(Estimate(1.14, 1.09, 1.19), "throughput")
    '14 % more queries/s (9 to 19 %)'
    """
    more, less = _GAINS[goal]
    # A gain in what should be small is A over B; it is written as B over A.
    x = ratio if goal == "throughput" else Estimate(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    words = (less, more) if goal == "throughput" else (more, less)
    return less_or_more(*x, less=words[0], more=words[1], same=f"as many {more}")


def change(log_gain: float) -> str:
    """Write a gain, without its interval, as a signed percentage; "open" if it is NaN."""
    return "open" if math.isnan(log_gain) else f"{comparing.percent(math.exp(log_gain))} %"


def to_json(outcome: Outcome, wanted: Wanted, changes: Changes) -> dict:
    """Return the answer as plain data, null where nothing is known.

    A ratio above 1 is a gain, except that ratios "beside" are over the baseline.
    """
    return {
        "goal": wanted.request.goal,
        "headline": headline(outcome, wanted),
        "winner": wanted.space.typed(outcome.winner.configuration) if outcome.winner else [],
        "baseline": [str(setting) for setting in wanted.baseline],
        "set": wanted.space.typed(kept(outcome)),
        "finalists": [
            {
                "configuration": wanted.space.typed(finalist.configuration),
                "confirmed": comparing.plain(finalist.ratio),
                "searched": comparing.known(math.exp(finalist.searched)),
                "blocks": finalist.blocks,
                "rejected": finalist.rejected,
                "beside": _plain(changes.get(finalist.configuration, {})),
            }
            for finalist in outcome.finalists
        ],
        "needless": list(outcome.needless),
        "doubtful": list(outcome.doubtful),
        "beside": _plain(_beside(outcome, changes)),
        "tried": outcome.tried,
        "infeasible": {wanted.space.words(own): why for own, why in outcome.infeasible if own},
        "excluded_gain": comparing.known(outcome.excluded),
        "excluded_among": outcome.bounded,
        "excluded_by_design": {
            limit.design: {"gain": comparing.known(limit.gain), "among": limit.number}
            for limit in outcome.by_design
        },
    }


def _beside(outcome: Outcome, changes: Changes) -> Mapping[str, Estimate]:
    """Return how all quantities changed with the confirmed configuration, by name."""
    return changes.get(outcome.winner.configuration, {}) if outcome.winner else {}


def _plain(ratios: Mapping[str, Estimate]) -> dict[str, dict[str, float | None]]:
    return {name: comparing.plain(ratio) for name, ratio in ratios.items()}


def _excluded(gain: float) -> str:
    return f"{max(0.0, 100 * gain):.1f} %"


def _confirmed(finalist: Finalist) -> str:
    if finalist.rejected:
        return f"rejected, {finalist.rejected}"
    searched = f"the search had {change(finalist.searched)}"
    interval = "without an interval"
    if not math.isnan(finalist.log_low):
        low, high = (comparing.percent(math.exp(x)) for x in (finalist.log_low, finalist.log_high))
        interval = f"({low} to {high} %)"
    blocks = count(finalist.blocks, "block")
    return f"{change(finalist.log_gain)} {interval}, {blocks}; {searched}"
