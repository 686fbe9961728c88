"""What a search found over its baseline, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ndblab.comparing import choice, knobs
from ndblab.dataset import Dataset
from ndblab.experiments.tuned.searched import COMMAND, measured_again
from ndblab.formatting import count, listed
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Answer, quotas
from ndblab.tuning import answer as of_search
from ndblab.tuning import trade_off
from ndblab.tuning.wanted import NAME, named

_NAMED = 4
"""Settings that a finding names; more are in the notebook's table of finalists."""
_KEEP = "Keep your configuration: "


@answers(NAME)
def outcome(dataset: Dataset | None, table: pd.DataFrame) -> Answer | Sequence[str]:
    """Say what the search confirmed, or that there is none yet."""
    if dataset is None:
        return Answer((f"no search is over on this host: run {COMMAND}, an hour",))
    known = dataset.manifest["answer"]
    return list(_confirmed(known, dataset) if known["winner"] else _nothing(known))


def _confirmed(known: Mapping[str, Any], dataset: Dataset) -> Iterator[str]:
    """Say what was gained, for how long, what else changes, what is in doubt, and what to try."""
    own, ratio = known["set"], of_search.confirmed(known)
    many = "" if len(own) <= _NAMED else count(len(own), "setting")
    gave = "together gave" if len(own) > 1 else "gave"
    what = f"a search found {many} that {gave}" if many else f"{listed(own)} {gave}"
    what = f"{quotas(dataset)}{what}"
    yield f"{what} {of_search.gain(ratio, known['goal'])} than {named(known['baseline'])}"
    yield of_search.lasting(ratio, known["goal"])
    for hours, later in measured_again(dataset).items():
        yield f"measured again {hours} hours later: {of_search.gain(later, known['goal'])}"
    yield from _beside(known, "them" if len(own) > 1 else "it")
    if known["needless"]:
        # Older searches do not say what leaving it out gained.
        less = of_search.estimate(known.get("without_needless") or {"value": None})
        yield f"measured with {of_search.without_loss(known['needless'], less, known['goal'])}"
    sure, unsure = of_search.by_doubt(own, known.get("doubtful", ()))
    if unsure:
        seen = f"estimated, not confirmed singly: a gain from {listed(sure)}; " if sure else ""
        yield f"{seen}in doubt: {listed(unsure)}"
    tried = f"try the {many} of finalist {_place(known)}" if many else f"set {listed(own)}"
    if unsure and sure:
        which = listed(sure) if len(sure) <= _NAMED else "those with an estimated gain"
        tried = f"try {which} first"
    every = "all settings" if unsure and sure else "that"
    yield Advice(f"on such a host, under such a load, {tried}. For {every}, {_restarts(known)}")
    if "servers=1" in own:
        yield Advice("With servers=1 no other MySQL server takes over: weigh that against the gain")


def _beside(known: Mapping[str, Any], them: str) -> Iterator[str]:
    """Say what else changes, two quantities in a sentence."""
    shown = set(trade_off.table(known)["quantity"]) - {known["goal"]}
    ratios = {name: of_search.estimate(ratio) for name, ratio in known["beside"].items()}
    others = [
        of_search.changed(name, ratio)
        for name, ratio in ratios.items()
        if name in shown and ratio.bounded
    ]
    for first in range(0, len(others), 2):
        lead = "besides" if first else f"with {them}"
        yield f"{lead}: {listed(others[first : first + 2])}"


def _restarts(known: Mapping[str, Any]) -> str:
    """Say what must be restarted; older searches have that in their sentence alone.

    They do not say either that --initial deletes the data.
    """
    whole = known["sentence"].rstrip(".").partition(". ")[0]
    told = str(known.get("restarts", whole.partition("; ")[2]))
    return choice.RESTARTS_FOR[knobs.INITIAL] if "--initial" in told else told


def _place(known: Mapping[str, Any]) -> int:
    """Return which finalist was confirmed, counted from 1 as in the tables."""
    configurations = [finalist["configuration"] for finalist in known["finalists"]]
    return 1 + configurations.index(known["winner"])


def _nothing(known: Mapping[str, Any]) -> Iterator[str]:
    """Say what gain is excluded."""
    yield f"over {named(known['baseline'])}, {known['headline'].removeprefix(_KEEP)}"
    yield Advice("on such a host, under such a load, keep that configuration")
