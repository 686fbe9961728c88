"""What was published: the claims, corrections, tables and plotted numbers of the sources.

It never judges a claim, and has no number that the sources do not state.
"""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

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
KINDS = ("absolute", "shape", "ratio", "method", "config")
# What a comparison needs of (low, high), and how it reads.
COMPARISONS = {
    "equal": ("low", "high"),
    "between": ("low", "high"),
    "at_least": ("low",),
    "greater_than": ("low",),
    "at_most": ("high",),
    "less_than": ("high",),
}
T = TypeVar("T")
_BRIEF_MODEL = "EPYC 7742"
_HOST = re.compile(r"yes if (?:(?P<cpus>\d+) CPUs|(?P<host>the brief's host)): (?P<reason>.+)")
_REASON = re.compile(rf"{BY_CONSTRUCTION}: .+|(?!yes|{BY_CONSTRUCTION}).+")
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
        return None if met else host["reason"]


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


def claims(folder: Path = FOLDER) -> list[Claim]:
    """Read the claims; LabError if the file is missing or a row is damaged; it names the line."""
    keys = {source.key for source in sources(folder)}
    by_id: dict[str, Claim] = {}
    path = folder / "claims.csv"
    columns = [name for name in Claim.__dataclass_fields__ if name != "budgets"]
    for line, row in _rows(path, [*columns, *BUDGETS]):
        claim = Claim(
            **{name: row[name] for name in columns if name not in ("low", "high")},
            low=_float(path, line, "low", row["low"]),
            high=_float(path, line, "high", row["high"]),
            budgets={budget: row[budget] for budget in BUDGETS},
        )
        _check(path, line, "id", claim.id, claim.id != "" and claim.id not in by_id, "a new id")
        _check(path, line, "source", claim.source, claim.source in keys, "a key of sources.csv")
        _one_of(path, line, "kind", claim.kind, KINDS)
        _one_of(path, line, "comparison", claim.comparison, tuple(COMPARISONS))
        limits = claim.scope.split(", ")
        known = set(limits) <= set(SCOPES) and (ANY not in limits or limits == [ANY])
        _check(
            path, line, "scope", claim.scope, known, f"{ANY}, or some of {', '.join(SCOPES[1:])}"
        )
        for bound in COMPARISONS[claim.comparison]:
            value = getattr(claim, bound)
            _check(path, line, bound, value, value is not None, f"a number ({claim.comparison})")
        for budget, answer in claim.budgets.items():
            good = answer == "yes" or _HOST.fullmatch(answer) or _REASON.fullmatch(answer)
            _check(path, line, budget, answer, bool(good), '"yes", a condition, or a reason')
        by_id[claim.id] = claim
    return list(by_id.values())


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


def corrections(folder: Path = FOLDER) -> list[Correction]:
    """Read where the sources contradict themselves or each other."""
    return _read(Correction, folder / "corrections.csv")


def measured_as(folder: Path = FOLDER) -> dict[str, str]:
    """Read which claims rest on another claim's measurement: the other's id, by claim id."""
    rows = _rows(folder / "shared_measurements.csv", ["claim", "measured_as", "reason"])
    return {row["claim"]: row["measured_as"] for _, row in rows}


def sources(folder: Path = FOLDER) -> list[Source]:
    """Read the list of sources."""
    return _read(Source, folder / "sources.csv")


def tables(folder: Path = FOLDER) -> dict[str, list[Item]]:
    """Read the published tables of hardware ("table1") and software ("table2")."""
    return {name: _read(Item, folder / f"{name}.csv") for name in ("table1", "table2")}


def anchors(figure: str | int | None = None, folder: Path = FOLDER) -> list[Anchor]:
    """Read the published numbers that can be drawn, of one figure or of all."""
    path = folder / "anchors.csv"
    chosen = []
    for line, row in _rows(path, [field.name for field in dataclasses.fields(Anchor)]):
        _one_of(path, line, "exactness", row["exactness"], ("stated", "about", "bound"))
        _one_of(path, line, "bound", row["bound"], ("", "upper", "lower"))
        numbers: dict[str, float] = {}
        for name, kind in (("servers", int), ("clients", int), ("value", float)):
            number = _float(path, line, name, row[name])
            _check(path, line, name, row[name], number is not None, "a number")
            numbers[name] = kind(number or 0)
        if figure is None or row["figure"] == str(figure):
            chosen.append(Anchor(**{**row, **numbers}))
    return chosen


def _read(kind: type[T], path: Path) -> list[T]:
    """Read rows of text into a dataclass whose fields are the columns."""
    columns = [field.name for field in dataclasses.fields(kind)]
    return [kind(**row) for _, row in _rows(path, columns)]


def _rows(path: Path, columns: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Read a CSV file that has exactly `columns`, as (line number, row)."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
            header = list(reader.fieldnames or [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _damaged(f"{path} cannot be read", error, "a CSV file in UTF-8") from error
    if sorted(header) != sorted(columns):
        raise _damaged(f"{path} has other columns", ", ".join(header), ", ".join(columns))
    for line, row in rows:
        if None in row or None in row.values():
            raise _damaged(
                f"{path} line {line} has the wrong number of fields",
                sum(value is not None for value in row.values()),
                len(columns),
            )
    return rows


def _float(path: Path, line: int, column: str, text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError as error:
        raise _damaged(f"{path} line {line}, column {column}", text, "a number") from error


def _one_of(path: Path, line: int, column: str, value: str, allowed: tuple[str, ...]) -> None:
    _check(path, line, column, value, value in allowed, "one of " + ", ".join(allowed))


def _check(path: Path, line: int, column: str, value: object, good: bool, expected: str) -> None:
    if not good:
        raise _damaged(f"{path} line {line}, column {column}", repr(value), expected)


def _damaged(what: str, found: object, expected: object) -> LabError:
    return LabError(
        what,
        found=found,
        expected=expected,
        next_step="Restore the folder data/brief from the repository (git restore data/brief).",
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.10g}".replace(",", " ")
