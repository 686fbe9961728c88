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

_NUMBERS = {1: "this one", 2: "these two", 3: "these three", 4: "these four", 5: "these five"}
_GAINS = {
    "throughput": ("more queries/s", "fewer queries/s"),
    "p95": ("lower p95", "higher p95"),
    "cpu": ("less CPU a query", "more CPU a query"),
}
_BESIDE = {
    "throughput": "queries/s", "p95": "p95", "cpu": "CPU a query", "memory": "memory of the nodes",
}  # fmt: skip
_REASONS = 5
_WAYS = {
    ALTERNATION: "switched in one running cluster",
    RESTARTS: "with restarted MySQL servers",
    TWINS: "with cluster starts of its own",
    STARTS: "with cluster starts of its own",
}


def kept(found: Outcome) -> Configuration:
    """Return what to set: the confirmed configuration, without what it does not need."""
    if found.winner is None:
        return ()
    return without(found.winner.configuration, *found.needless)


def headline(found: Outcome, wanted: Wanted) -> str:
    """Say what to do, with the confirmed gain."""
    if found.winner:
        own = kept(found)
        many = _NUMBERS.get(len(own), f"these {len(own)}")
        return f"Set {many}: {gain(found.winner.ratio, wanted.goal)}"
    waiting = [each for each in found.finalists if each.open and each.blocks]
    words = "no gain is confirmed so far" if waiting else "nothing found"
    words = f"Keep your configuration: {words}"
    if math.isnan(found.excluded):
        return words
    among = f"{found.bounded} of {found.tried}" if found.bounded < found.tried else found.tried
    excluded = _excluded(found.excluded)
    return f"{words}; a gain of more than {excluded} is excluded among {among} tried"


def sentence(found: Outcome, wanted: Wanted, beside: Mapping[str, Estimate]) -> str:
    """Say what to do, what else it changes, and what it needs.

    Parameters
    ----------
    beside : ratios of other quantities of the confirmed configuration, by goal.
    """
    text = headline(found, wanted)
    if found.winner is None:
        return f"{text}."
    others = [
        f"{_BESIDE[goal]} {less_or_more(*ratio)}"
        for goal, ratio in beside.items()
        if goal != wanted.goal and ratio.bounded
    ]
    change = choice.restarts(Sides((), wanted.settings(kept(found))))
    text = "; ".join([", ".join([text, *others]), change])
    if found.needless:
        left = listed(found.needless)
        text += f". Measured with {left} as well, without which it is equivalent within 1 %"
    return f"{text}."


def details(found: Outcome, wanted: Wanted) -> list[str]:
    """Return a line for each finalist, and lines on what could not run."""
    lines = []
    for number, each in enumerate(found.finalists, 1):
        lines.append(f"  {number}. {wanted.space.words(each.configuration)}: {_confirmed(each)}")
    if lines:
        lines.insert(0, "Confirmed in new starts, beside what the search had seen:")
    if doubt := tuple(pair for pair in kept(found) if pair[0] in found.doubtful):
        each = wanted.space.words(doubt)
        lines.append(f"No clear gain was seen from {each}: leave out what you do not want to set.")
    lines.append(f"Tried: {count(found.tried, 'configuration')}.")
    if len(found.by_design) > 1:
        lines.append("Excluded, by how a configuration was tried (95 % each):")
        lines += [
            f"  {_WAYS[each.design]}: more than {_excluded(each.gain)} among {each.number}"
            for each in found.by_design
        ]
    out = [(own, why) for own, why in found.infeasible if own]
    if out:
        lines.append(f"Ruled out: {count(len(out), 'configuration')}.")
        lines += [f"  {wanted.space.words(own)}: {why}" for own, why in out[:_REASONS]]
        lines += [f"  and {len(out) - _REASONS} more"] if len(out) > _REASONS else []
    return lines


def to_paste(found: Outcome, wanted: Wanted) -> list[str]:
    """Return the smallest difference from the baseline, grouped by the restart it needs."""
    words = {word for word, _ in kept(found)}
    own = [s for s in wanted.settings(kept(found)) if s.knob.word in words]
    lines: list[str] = []
    for change in knobs.CHANGES:
        mine = tuple(setting for setting in own if setting.knob.change == change)
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


def to_json(
    found: Outcome, wanted: Wanted, changes: Mapping[Configuration, Mapping[str, Estimate]]
) -> dict:
    """Return the answer as plain data, null where nothing is known.

    A ratio above 1 is a gain, except that ratios "beside" are over the baseline.

    Parameters
    ----------
    changes : what each finalist changes, by quantity (`trade_off.of`).
    """
    beside = changes.get(found.winner.configuration, {}) if found.winner else {}
    return {
        "goal": wanted.goal,
        "headline": headline(found, wanted),
        "winner": wanted.space.each(found.winner.configuration) if found.winner else [],
        "baseline": [str(setting) for setting in wanted.baseline],
        "set": wanted.space.each(kept(found)),
        "finalists": [
            {
                "configuration": wanted.space.each(each.configuration),
                "confirmed": _plain(each.ratio),
                "searched": _number(math.exp(each.searched)),
                "blocks": each.blocks,
                "rejected": each.rejected,
                "beside": {
                    name: _plain(ratio)
                    for name, ratio in changes.get(each.configuration, {}).items()
                },
            }
            for each in found.finalists
        ],
        "needless": list(found.needless),
        "doubtful": list(found.doubtful),
        "beside": {goal: _plain(ratio) for goal, ratio in beside.items()},
        "tried": found.tried,
        "infeasible": {wanted.space.words(own): why for own, why in found.infeasible if own},
        "excluded_gain": _number(found.excluded),
        "excluded_among": found.bounded,
        "excluded_by_design": {
            each.design: {"gain": _number(each.gain), "among": each.number}
            for each in found.by_design
        },
    }


def _excluded(gain: float) -> str:
    return f"{max(0.0, 100 * gain):.1f} %"


def _confirmed(each: Finalist) -> str:
    if each.rejected:
        return f"rejected, {each.rejected}"
    searched = f"the search had {change(each.searched)}"
    if math.isnan(each.log_low):
        known = f"{change(each.log_gain)} without an interval, {count(each.blocks, 'block')}"
        return f"{known}; {searched}"
    low, high = (comparing.percent(math.exp(x)) for x in (each.log_low, each.log_high))
    words = f"{change(each.log_gain)} ({low} to {high} %), {count(each.blocks, 'block')}"
    return f"{words}; {searched}"


def _plain(ratio: Estimate) -> dict[str, float | None]:
    return {n: _number(x) for n, x in zip(("value", "low", "high"), ratio, strict=True)}


def _number(value: float) -> float | None:
    return round(value, 5) if math.isfinite(value) else None
