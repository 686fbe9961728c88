"""A file of the user's SQL: its statements, their weights, and its transactions.

Every mistake is a LabError that names the file, the statement's number and its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.workloads.own import placeholder
from ndblab.workloads.own.placeholder import AGAIN, TEXT, ZIPF, Placeholder, Wrong

MOST_WEIGHT = 10_000
MOST_NAMES = 1000
"""Statements that one with placeholders in names may become; each client prepares them all."""
BEGIN = re.compile(r"(BEGIN(\s+WORK)?|START\s+TRANSACTION\b.*)$", re.IGNORECASE | re.DOTALL)
END = re.compile(r"(COMMIT|ROLLBACK)\b(?!\s+TO\b)", re.IGNORECASE)

_WEIGHT = re.compile(r"--\s*weight\b(.*)", re.IGNORECASE)
_QUOTED_PLACEHOLDER = re.compile(rf":(?:\w+=)?(?:{placeholder.INT}|{ZIPF}|choice|{TEXT})\(")
_WORD = re.compile(r"\w+", re.ASCII)
_CALL = re.compile(r"CALL\b", re.IGNORECASE)
_NEXT_STEP = "Mend the file; docs/workloads.md has its rules."


@dataclass(frozen=True)
class Statement:
    """A statement: text and placeholders in their order; its number and line in the file."""

    number: int
    line: int
    pieces: tuple[str | Placeholder, ...]

    @property
    def text(self) -> str:
        """Its text with a ? for each value and for each part of a name."""
        return "".join(piece if isinstance(piece, str) else "?" for piece in self.pieces)

    @property
    def placeholders(self) -> list[Placeholder]:
        """Its placeholders in their order."""
        return [piece for piece in self.pieces if isinstance(piece, Placeholder)]

    def example(self, named: Mapping[str, Placeholder]) -> str:
        """Return the statement to prepare: a ? for each value, names with their first value."""
        first = (
            piece if isinstance(piece, str)
            else _first(named.get(piece.name, piece)) if piece.glued else "?"
            for piece in self.pieces
        )  # fmt: skip
        return "".join(first)


@dataclass(frozen=True)
class Unit:
    """A statement, or a transaction from BEGIN to COMMIT; drawn as often as its weight says."""

    statements: tuple[Statement, ...]
    weight: int = 1

    @property
    def named(self) -> dict[str, Placeholder]:
        """The placeholders that have a name."""
        placeholders = (p for statement in self.statements for p in statement.placeholders)
        return {p.name: p for p in placeholders if p.name and p.kind != AGAIN}


def parse(text: str, name: str) -> tuple[Unit, ...]:
    """Read the statements of a file; LabError, with its name, if there is none or one is wrong."""
    units: list[Unit] = []
    opened: list[Statement] = []
    weight, weight_of_opened = 1, 1
    for given, statement in _Reader(text, name):
        if given is not None:
            weight = given
        if statement is None:
            continue
        words = statement.text.strip()
        if BEGIN.match(words):
            if opened:
                raise _wrong(name, statement, "BEGIN in a transaction", words, "COMMIT first")
            opened, weight_of_opened, weight = [statement], weight, 1
            continue
        if opened:
            if given is not None:
                raise _wrong(name, statement, "a weight in a transaction", f"weight: {given}",
                             "a weight before BEGIN")  # fmt: skip
            opened.append(statement)
            if END.match(words):
                units.append(_checked(Unit(tuple(opened), weight_of_opened), name))
                opened, weight = [], 1
            continue
        if END.match(words):
            raise _wrong(name, statement, f"{words.split()[0]} without BEGIN", words,
                         "BEGIN before it")  # fmt: skip
        units.append(_checked(Unit((statement,), weight), name))
        weight = 1
    if opened:
        raise _wrong(name, opened[0], "a transaction without an end", "BEGIN",
                     "COMMIT; after its statements")  # fmt: skip
    if not units:
        raise LabError(
            f"{name} has no statement",
            found="nothing but comments" if text.strip() else "an empty file",
            expected="statements of SQL that end with a semicolon",
            next_step="Try: SELECT c FROM sbtest1 WHERE id = :int(1,rows);",
        )
    return tuple(units)


def _checked(unit: Unit, name: str) -> Unit:
    """Refuse values that are used before they have a name, and names that are given twice."""
    known: dict[str, Placeholder] = {}
    for statement in unit.statements:
        for value in statement.placeholders:
            if value.kind == AGAIN and value.name not in known:
                raise _wrong(name, statement, "a value without a name", f":{value.name}",
                             f"{placeholder.FORMS}, or before it :{value.name}=int(low,high) or "
                             "the like in the same transaction")  # fmt: skip
            if value.kind == AGAIN and value.glued and known[value.name].kind == TEXT:
                raise _wrong(name, statement, "a text as part of a name", f":{value.name}",
                             ":int or :choice")  # fmt: skip
            if value.kind != AGAIN and value.name:
                if value.name in known:
                    raise _wrong(name, statement, "a name that is given twice", f":{value.name}",
                                 "another name")  # fmt: skip
                known[value.name] = value
        glued = [known.get(value.name, value) for value in statement.placeholders if value.glued]
        if (number := math.prod(map(_values, glued))) > MOST_NAMES:
            many = "as many as rows" if number == math.inf else str(number)
            raise _wrong(name, statement, "placeholders in names with too many values", many,
                         f"at most {MOST_NAMES}: a statement is prepared for each")  # fmt: skip
    return unit


def _values(value: Placeholder) -> float:
    """Return how many values a placeholder can have; tables are few."""
    if "rows" in (value.low, value.high):
        return math.inf
    whole = isinstance(value.low, int) and isinstance(value.high, int)
    return len(value.values) or (value.high - value.low + 1 if whole else 1)


class _Reader:
    """Yields weights and statements in their order, as pairs of which one may be None."""

    def __init__(self, text: str, name: str) -> None:
        self._text, self._name = text.replace("\r\n", "\n").removeprefix("\ufeff"), name
        self._at, self._number = 0, 0
        self._pieces: list[str | Placeholder] = []
        self._begin, self._weight, self._in_name = 0, None, False

    def __iter__(self) -> Iterator[tuple[int | None, Statement | None]]:
        text = self._text
        while self._at < len(text):
            here = text[self._at]
            self._in_name ^= here == "`"
            if self._in_name and here != ":":
                self._plain(here)
            elif text.startswith(("-- ", "--\n", "--\t", "#"), self._at):
                self._comment()
            elif text.startswith("/*", self._at) and text[self._at + 2 : self._at + 3] not in "+!":
                self._skip_to("*/", 2)
            elif here in "'\"":
                self._quoted(here)
            elif here == ":":
                self._placeholder()
            elif here == "?":
                raise self._error("a bare ?", "?", placeholder.FORMS)
            elif here == ";":
                self._at += 1
                if statement := self._ended():
                    yield self._taken(), statement
            else:
                self._plain(here)
        if statement := self._ended():
            shown = statement.text.strip()[-60:]
            raise _wrong(self._name, statement, "a statement that does not end", shown,
                         "a semicolon at its end")  # fmt: skip
        if self._weight is not None:
            raise self._error("a weight without a statement", f"weight: {self._weight}",
                              "a statement after it")  # fmt: skip

    def _plain(self, here: str) -> None:
        word = _WORD.match(self._text, self._at)
        taken = word[0] if word else here
        if taken.strip() and not self._pieces_say_something():
            self._begin = self._at
        self._pieces.append(taken)
        self._at += len(taken)

    def _comment(self) -> None:
        end = self._text.find("\n", self._at)
        comment = self._text[self._at : end if end >= 0 else None]
        if match := _WEIGHT.match(comment):
            number = match[1].strip().removeprefix(":").strip()
            before = self._text[self._text.rfind("\n", 0, self._at) + 1 : self._at]
            usable = number.isdecimal() and 1 <= int(number) <= MOST_WEIGHT and not before.strip()
            if not usable or not match[1].strip().startswith(":") or self._pieces_say_something():
                raise self._error("a wrong weight", comment.strip(),
                                  f"-- weight: 1 to {MOST_WEIGHT}, before a statement")  # fmt: skip
            self._weight = int(number)
        self._at = end if end >= 0 else len(self._text)

    def _skip_to(self, mark: str, after: int) -> None:
        end = self._text.find(mark, self._at + after)
        if end < 0:
            raise self._error("a comment that does not end", self._shown(), mark)
        self._pieces.append(" ")
        self._at = end + len(mark)

    def _quoted(self, quote: str) -> None:
        begin, at = self._at, self._at + 1
        while at < len(self._text) and self._text[at] != quote:
            at += 2 if self._text[at] == "\\" else 1
        if at >= len(self._text):
            raise self._error("a text that does not end", self._shown(), quote)
        whole = self._text[begin : at + 1]
        if match := _QUOTED_PLACEHOLDER.search(whole):
            raise self._error("a placeholder in quotes", whole, f"{match[0]}...) without quotes: "
                              "the value is bound")  # fmt: skip
        self._pieces.append(whole)
        self._at = at + 1

    def _placeholder(self) -> None:
        before = self._pieces[-1] if self._pieces else ""
        begins = self._in_name or isinstance(before, Placeholder)
        glued = begins or before[-1:] in ("`", "$", ".") or (
            bool(_WORD.fullmatch(before[-1:])) and not before.isdigit()
        )  # fmt: skip
        try:
            value, end = placeholder.read(self._text, self._at, glued)
        except Wrong as wrong:
            raise self._error(wrong.what, wrong.found, wrong.expected) from None
        self._pieces.append(value or ":")
        self._at = end

    def _ended(self) -> Statement | None:
        if not self._pieces_say_something():
            self._pieces = []
            return None
        self._number += 1
        statement = Statement(
            self._number, self._text.count("\n", 0, self._begin) + 1, _joined(self._pieces)
        )
        self._pieces = []
        if _CALL.match(statement.text):
            raise _wrong(self._name, statement, "a call of a procedure", statement.text,
                         "statements with at most one result")  # fmt: skip
        return statement

    def _taken(self) -> int | None:
        weight, self._weight = self._weight, None
        return weight

    def _pieces_say_something(self) -> bool:
        return any(not isinstance(p, str) or p.strip() for p in self._pieces)

    def _shown(self) -> str:
        return self._text[self._at : self._at + 40].split("\n")[0]

    def _error(self, what: str, found: str, expected: str) -> LabError:
        statement = Statement(self._number + 1, self._text.count("\n", 0, self._at) + 1, ())
        return _wrong(self._name, statement, what, found, expected)


def _joined(pieces: list[str | Placeholder]) -> tuple[str | Placeholder, ...]:
    joined: list[str | Placeholder] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    if isinstance(joined[0], str):
        joined[0] = joined[0].lstrip()
    if isinstance(joined[-1], str):
        joined[-1] = joined[-1].rstrip()
    return tuple(piece for piece in joined if piece != "")


def _first(value: Placeholder) -> str:
    """Return the first value of a placeholder; for the profile's sizes, that is 1."""
    if value.values:
        return str(value.values[0])
    return str(value.low) if isinstance(value.low, int) else "1"


def _wrong(name: str, statement: Statement, what: str, found: str, expected: str) -> LabError:
    place = f"{name}, statement {statement.number} (line {statement.line})"
    return LabError(f"{place}: {what}", found=found, expected=expected, next_step=_NEXT_STEP)
