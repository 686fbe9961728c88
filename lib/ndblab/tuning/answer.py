"""The answer of a search: as a sentence, as settings to paste, and as JSON. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ndblab.comparing import answer as comparing
from ndblab.comparing import choice, knobs
from ndblab.comparing.sides import Setting, Sides
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, TWINS
from ndblab.formatting import count, less_or_more, listed
from ndblab.statistics import recordings
from ndblab.statistics.estimate import Estimate
from ndblab.tuning.space import BASELINE, Configuration, without
from ndblab.tuning.wanted import GOAL

if TYPE_CHECKING:
    from ndblab.tuning.outcome import Finalist, Outcome
    from ndblab.tuning.wanted import Wanted

    Changes = Mapping[Configuration, Mapping[str, Estimate]]
    """What each finalist changes, by quantity (`trade_off.of`)."""

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_GAINS = {
    "throughput": ("fewer queries/s", "more queries/s"),
    "p95": ("lower p95", "higher p95"),
    "cpu": ("less CPU per query", "more CPU per query"),
}
_BESIDE = {
    "throughput": "queries/s",
    "p95": "p95",
    "cpu": "CPU per query",
    "memory": "memory of the nodes",
}
_HALF = "+100 % means half as much as the baseline"
_UNKNOWN = "how much it differs on another day is not known"
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
    """Say what the confirmed configuration gained, or to keep the baseline."""
    if outcome.winner:
        return gained(len(kept(outcome)), outcome.winner.ratio, wanted.request.goal)
    waiting = [finalist for finalist in outcome.finalists if finalist.open and finalist.blocks]
    words = "no gain is confirmed so far" if waiting else "nothing found"
    words = f"Keep your configuration: {words}"
    if math.isnan(outcome.excluded):
        return words
    bounded, tried = outcome.bounded, outcome.tried
    among = f"{bounded} of {tried}" if bounded < tried else tried
    excluded = _excluded(outcome.excluded)
    half = f" ({_HALF})" * (wanted.request.goal != GOAL)
    return f"{words}; a gain of more than {excluded}{half} is excluded among {among} tried"


def sentence(outcome: Outcome, wanted: Wanted, changes: Changes) -> str:
    """Say what was gained, what else changes, what is restarted, and what is in doubt."""
    text = headline(outcome, wanted)
    if outcome.winner is None:
        return f"{text}."
    others = [
        changed(goal, ratio)
        for goal, ratio in _beside(outcome, changes).items()
        if goal != wanted.request.goal and ratio.bounded
    ]
    them = "it" if len(kept(outcome)) == 1 else "them"
    told = [text, lasting(outcome.winner.ratio, wanted.request.goal).capitalize()]
    told += [f"With {them}: {listed(others)}"] if others else []
    told.append(f"For {them}, {_restarts(outcome, wanted)}")
    if outcome.needless:
        loss = without_loss(outcome.needless, outcome.without, wanted.request.goal)
        told.append(f"Measured with {loss}")
    sure, unsure = by_doubt(wanted.space.typed(kept(outcome)), outcome.doubtful)
    if unsure:
        told += [f"Estimated, not confirmed singly: a gain from {listed(sure)}"] if sure else []
        told.append(f"In doubt, so try without: {listed(unsure)}")
    return f"{'. '.join(told)}."


def details(outcome: Outcome, wanted: Wanted) -> list[str]:
    """Return a line for each finalist, and lines on what could not run."""
    lines = []
    if outcome.finalists:
        half = f" ({_HALF})" * (wanted.request.goal != GOAL)
        lines.append(f"Measured anew in new starts, beside what the search had seen{half}:")
    for number, finalist in enumerate(outcome.finalists, 1):
        words = wanted.space.words(finalist.configuration)
        lines.append(f"  {number}. {words}: {_confirmed(finalist)}")
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
    """Return the smallest difference from the baseline, grouped by the restart it needs.

    Settings in doubt come last, by themselves.
    """
    lines: list[str] = []
    for is_doubtful, lead in ((False, "To paste"), (True, "In doubt, though measured with them")):
        for way in knobs.CHANGES:
            mine = tuple(
                setting
                for setting in _own(outcome, wanted)
                if setting.knob.change == way
                and (setting.knob.word in outcome.doubtful) == is_doubtful
            )
            if mine:
                sides = Sides((), mine)
                body = comparing.to_paste(sides).splitlines()[1:-1]
                lines += [f"{lead}; for it, {choice.restarts(sides)}:", *body]
    return lines


def to_check(outcome: Outcome, wanted: Wanted) -> list[str]:
    """Return the command that measures the confirmed gain once more, on another day."""
    again = wanted.compared(BASELINE, kept(outcome))
    return ["To see on another day whether the gain lasts:", f"  {again.command}"]


def gained(many: int, ratio: Estimate, goal: str) -> str:
    """Say what so many settings of a confirmed configuration gained together."""
    which = "This setting" if many == 1 else f"These {_NUMBERS.get(many, many)} settings together"
    return f"{which} gave {gain(ratio, goal)}"


def confirmed(known: Mapping[str, Any]) -> Estimate:
    """Return the confirmed gain of a plain answer (`to_json`) that has a winner."""
    [chosen] = [own for own in known["finalists"] if own["configuration"] == known["winner"]]
    return estimate(chosen["confirmed"])


def retold(known: Mapping[str, Any]) -> str:
    """Return the headline of a plain answer, of an older lab too, which worded it otherwise."""
    if not known["winner"]:
        return str(known["headline"])
    return gained(len(known["set"]), confirmed(known), known["goal"])


def changed(quantity: str, ratio: Estimate) -> str:
    """Say how a quantity changes beside the goal."""
    return f"{_BESIDE[quantity]} {less_or_more(*ratio)}"


def without_loss(needless: Sequence[str], ratio: Estimate, goal: str) -> str:
    """Name what was measured as well and is not needed; leaving it out gains `ratio`."""
    then = f"it gave {gain(ratio, goal)}" if ratio.low > 1 else "it is at most 1 % worse"
    return f"{listed(needless)} as well, without which {then}"


def by_doubt(typed: Sequence[str], doubtful: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the settings from which a gain was seen, and those in doubt, as a user types them.

    >>> by_doubt(["servers=1", "UseShm=off"], ["UseShm"])
    (['servers=1'], ['UseShm=off'])
    """
    unsure = [setting for setting in typed if setting.partition("=")[0] in doubtful]
    return [setting for setting in typed if setting not in unsure], unsure


def estimate(ratio: Mapping[str, float | None]) -> Estimate:
    """Return a ratio of a plain answer, NaN where nothing is known."""
    return Estimate(*(math.nan if end is None else end for end in ratio.values()))


def gain(ratio: Estimate, goal: str) -> str:
    """Write a gain with its interval; above 1 is better.

    >>> gain(Estimate(1.14, 1.09, 1.19), "throughput")
    '14 % more queries/s (9 to 19 %)'
    """
    # A gain in what should be small is A over B; it is written as B over A.
    x = ratio if goal == "throughput" else Estimate(1 / ratio.value, 1 / ratio.high, 1 / ratio.low)
    return less_or_more(*x, *_GAINS[goal])


def lasting(ratio: Estimate, goal: str) -> str:
    """Say how long a gain holds, and in which range it is expected on another day."""
    expected = comparing.another_day(ratio, goal)
    return f"that holds for the hours of the search; {expected or _UNKNOWN}"


def change(log_gain: float) -> str:
    """Write a gain, without its interval, as a signed percentage; "open" if it is NaN."""
    return "open" if math.isnan(log_gain) else f"{comparing.percent(math.exp(log_gain))} %"


def to_json(outcome: Outcome, wanted: Wanted, changes: Changes) -> dict:
    """Return the answer as plain data, null where nothing is known.

    A ratio above 1 is a gain, except that ratios "beside" are over the baseline.
    """
    ratio = outcome.winner.ratio if outcome.winner else Estimate(math.nan)
    return {
        "goal": wanted.request.goal,
        "headline": headline(outcome, wanted),
        "winner": wanted.space.typed(outcome.winner.configuration) if outcome.winner else [],
        "another_day": comparing.plain(recordings.another_day(ratio, wanted.request.goal)),
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
        "restarts": _restarts(outcome, wanted) if outcome.winner else "",
        "needless": list(outcome.needless),
        "without_needless": comparing.plain(outcome.without),
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


def _own(outcome: Outcome, wanted: Wanted) -> tuple[Setting, ...]:
    """Return the settings to change, without those of the baseline that stay."""
    words = {word for word, _ in kept(outcome)}
    return tuple(s for s in wanted.settings(kept(outcome)) if s.knob.word in words)


def _restarts(outcome: Outcome, wanted: Wanted) -> str:
    return choice.restarts(Sides((), _own(outcome, wanted)))


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
