"""What was published: the claims, corrections, tables and plotted numbers of the sources.

It never judges a claim, and has no number that the sources do not state.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.judging import attached
from ndblab.planning.cpu_budget import ATTACHED, BRIEF_CPUS

FOLDER = Path(__file__).resolve().parents[3] / "data" / "brief"
BUDGETS = ("pinned", "scaled", "shared")
ANY, MACHINE, HOSTS = "any", "machine", "hosts"
BY_CONSTRUCTION = "by construction"
"""The verdict on what was measured if it follows from how the lab divides CPUs or sizes a log."""
SCOPES = (ANY, MACHINE, HOSTS, "release", "network", "duration", "data size")
"""What a statement may be limited to; `hosts`: a host for each node, any of which can be lost."""
# What a comparison needs of (low, high), and how it reads.
COMPARISONS = {
    "equal": ("low", "high"),
    "between": ("low", "high"),
    "at_least": ("low",),
    "greater_than": ("low",),
    "at_most": ("high",),
    "less_than": ("high",),
}
_BRIEF_MODEL = "EPYC 7742"
_HOST = re.compile(r"yes if (?:(?P<cpus>\d+) CPUs|(?P<host>the brief's host)): (?P<reason>.+)")
_OURS = re.compile(r"\bthresholds?\b(?:[^.;]|\.\d){0,8}\bours\b", re.IGNORECASE)
"""What the notes of a claim say whose threshold is the lab's."""
READING = "ndb_top:"
"""Begins the statement of a claim that is a single number on an `ndb_top` screen."""


@dataclass(frozen=True)
class Claim:
    """One statement of a source that data can support or contradict.

    `low` and `high` bound what the statement allows, in `unit`. `scope` is one or several of
    `SCOPES`, separated by commas; `cause` is the reason that the source gives, if any. `condition`
    names one or several of `conditions.CONDITIONS`, which test whether the cause is at work in a
    dataset. `effect` names in a few words the claim's ratio, if that is drawn beside others.
    `budgets` says for each CPU budget "yes", "yes if <what of a host>: <reason otherwise>", the
    reason why it can never test the claim, or "by construction: <what forces the value>".
    """

    id: str
    source: str
    locator: str
    figure: str
    kind: str
    statement: str
    metric: str
    comparison: str
    low: float | None
    high: float | None
    unit: str
    conditions: str
    scope: str
    cause: str
    condition: str
    effect: str
    budgets: Mapping[str, str]

    @property
    def is_reading(self) -> bool:
        """Whether the claim is a single number on a published `ndb_top` screen."""
        return self.statement.startswith(READING)

    @property
    def is_threshold_ours(self) -> bool:
        """Whether the bounds are the lab's, for words of the source such as "always"."""
        return _OURS.search(self.conditions) is not None

    @property
    def published(self) -> str:
        """Return what was published as short text, without the unit."""
        if self.comparison == "between":
            return f"{_number(self.low)} to {_number(self.high)}"
        bound = self.low if "low" in COMPARISONS[self.comparison] else self.high
        words = {"equal": ""}.get(self.comparison, self.comparison.replace("_", " ") + " ")
        return f"{words}{_number(bound)}"

    def why_not(self, budget: str, cpus: float, cpu_model: str = "") -> str | None:
        """Return why a dataset of this budget and host cannot test the claim; None if it can."""
        answer = (
            self.budgets[budget]
            if budget != ATTACHED
            else attached.answer(self.id, self.kind, self.budgets["shared"])
        )
        if answer == "yes":
            return None
        host = _HOST.fullmatch(answer)
        if host is None:
            return answer
        met = is_brief_host(cpus, cpu_model) if host["host"] else cpus >= int(host["cpus"])
        few = "" if host["host"] else f"its host has {cpus:g} CPUs, {host['cpus']} are needed: "
        return None if met else few + host["reason"]


@dataclass(frozen=True)
class Correction:
    """One place where a source contradicts itself or another, and what the lab does about it."""

    id: str
    source: str
    locator: str
    says: str
    but: str
    consequence: str


@dataclass(frozen=True)
class Anchor:
    """One published number that can be drawn in a figure.

    `servers` and `clients` are 0 if the source names none.
    `exactness` is "stated", "about" or "bound"; `bound` is "upper", "lower" or empty.
    """

    figure: str
    series: str
    servers: int
    clients: int
    value: float
    unit: str
    exactness: str
    bound: str
    claim: str
    source: str


@dataclass(frozen=True)
class Source:
    """Where a statement was published."""

    key: str
    title: str
    publisher: str
    year: str
    url: str


@dataclass(frozen=True)
class Item:
    """One row of the published tables of hardware and software."""

    item: str
    value: str
    correction: str
    source: str


def is_brief_host(cpus: float, cpu_model: str) -> bool:
    """Return whether a host is the brief's machine, the only one its absolute values hold for."""
    return _BRIEF_MODEL in cpu_model and cpus == BRIEF_CPUS


def claims() -> list[Claim]:
    """Read the claims."""
    own = ("low", "high", *BUDGETS)
    return [
        Claim(
            **{name: text for name, text in row.items() if name not in own},
            low=_float(row["low"]),
            high=_float(row["high"]),
            budgets={budget: row[budget] for budget in BUDGETS},
        )
        for row in _rows("claims")
    ]


def check_known(ids: Iterable[str], claims: Iterable[Claim]) -> None:
    """Raise a LabError that names the ids that none of these claims has."""
    known = {claim.id for claim in claims}
    if unknown := [name for name in ids if name not in known]:
        raise LabError(
            "Unknown claim",
            found=", ".join(unknown),
            expected="ids of data/brief/claims.csv",
            next_step="Run `./lab claims` to see them all.",
        )


def corrections() -> list[Correction]:
    """Read where the sources contradict themselves or each other."""
    return [Correction(**row) for row in _rows("corrections")]


def measured_as() -> dict[str, str]:
    """Read which claims rest on another claim's measurement: the other's id, by claim id."""
    return {row["claim"]: row["measured_as"] for row in _rows("shared_measurements")}


def sources() -> list[Source]:
    """Read the list of sources."""
    return [Source(**row) for row in _rows("sources")]


def tables() -> dict[str, list[Item]]:
    """Read the published tables of hardware ("table1") and software ("table2")."""
    return {name: [Item(**row) for row in _rows(name)] for name in ("table1", "table2")}


def anchors(figure: str | int | None = None) -> list[Anchor]:
    """Read the published numbers that can be drawn, of one figure or of all."""
    numbers = {"servers": int, "clients": int, "value": float}
    return [
        Anchor(**{**row, **{name: kind(float(row[name])) for name, kind in numbers.items()}})
        for row in _rows("anchors")
        if figure is None or row["figure"] == str(figure)
    ]


def _rows(name: str) -> list[dict[str, str]]:
    """Read a CSV file of `FOLDER`; a test checks what each row holds."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def _float(text: str) -> float | None:
    return float(text) if text else None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}".replace(",", " ")
