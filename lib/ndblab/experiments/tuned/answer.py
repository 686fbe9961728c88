"""What a search found over its baseline, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.tuned.searched import COMMAND
from ndblab.formatting import count, listed
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Answer
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
    return list(_confirmed(known) if known["winner"] else _nothing(known))


def _confirmed(known: Mapping[str, Any]) -> Iterator[str]:
    """Say what was gained, what else changes with it, and what to set."""
    headline, own = known["headline"], listed(known["set"])
    gain = headline.partition(": ")[2]
    many = "" if len(known["set"]) <= _NAMED else count(len(known["set"]), "setting")
    what = f"a search found {many} that gave" if many else f"{own}:"
    yield f"{what} {gain} than {named(known['baseline'])}"
    whole, _, spare = known["sentence"].rstrip(".").partition(". ")
    beside, _, restarts = whole.removeprefix(headline).partition("; ")
    quantities = set(trade_off.table(known)["quantity"])
    others = [
        other
        for other in beside.split(", ")
        if other and (trade_off.MEMORY in quantities or not other.startswith(trade_off.MEMORY))
    ]
    for first in range(0, len(others), 2):
        lead = "besides" if first else "with them" if many else "with it"
        yield f"{lead}: {listed(others[first : first + 2])}"
    if spare:
        yield spare
    tried = f"try the {many} of finalist {_place(known)}" if many else f"set {own}"
    yield Advice(f"on such a host, under such a load, {tried}; for that, {restarts}")
    if known.get("doubtful"):
        yield Advice(f"No clear gain was seen from {listed(known['doubtful'])} alone: try without")


def _place(known: Mapping[str, Any]) -> int:
    """Return which finalist was confirmed, counted from 1 as in the tables."""
    configurations = [finalist["configuration"] for finalist in known["finalists"]]
    return 1 + configurations.index(known["winner"])


def _nothing(known: Mapping[str, Any]) -> Iterator[str]:
    """Say what gain is excluded."""
    yield f"over {named(known['baseline'])}, {known['headline'].removeprefix(_KEEP)}"
    yield Advice("on such a host, under such a load, keep that configuration")
