"""A placeholder in a statement of the user's: which values it stands for.

`:int(low,high)` is uniform, `:zipf(low,high,exponent)` prefers low values, `:choice('a','b')` takes
one of a list, `:text(n)` is n random letters. With a name, as in `:id=int(1,rows)`, the value can
be used again as `:id` in the same transaction. `rows` and `tables` are those of the profile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INT, ZIPF, CHOICE, TEXT, AGAIN = "int", "zipf", "choice", "text", "again"
FORMS = ":int(low,high), :zipf(low,high), :choice('a','b'), :text(length)"
SIZES = ("rows", "tables")
"""Bounds that the profile decides."""
DEFAULT_EXPONENT = 0.8
"""The default of sysbench 1.1 (--rand-zipfian-exp)."""
LONGEST_TEXT, WIDEST = 65535, 2**32 - 1
"""sysbench draws whole numbers of 32 bits."""

_HEAD = re.compile(r":(?:([A-Za-z_]\w*)[ \t]*=[ \t]*(?=[A-Za-z_]\w*\())?([A-Za-z_]\w*)(\()?")
_ARGUMENT = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|''|\\.)*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_]\w*))\s*"
    r"(?P<end>[,)])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"''|\\(.)", re.DOTALL)


class Wrong(ValueError):
    """What is wrong with a placeholder: what was found, and what is expected."""

    def __init__(self, what: str, found: str, expected: str) -> None:
        super().__init__(what)
        self.what, self.found, self.expected = what, found, expected


@dataclass(frozen=True)
class Placeholder:
    """Values of a `kind`: bounds for INT and ZIPF, a list for CHOICE, a length for TEXT.

    A `glued` placeholder is part of a name, such as that of a table. AGAIN repeats the value of
    `name`.
    """

    kind: str
    low: int | str = 0
    high: int | str = 0
    exponent: float = DEFAULT_EXPONENT
    values: tuple[str | int, ...] = ()
    length: int = 0
    name: str = ""
    glued: bool = False


def read(text: str, at: int, glued: bool) -> tuple[Placeholder | None, int]:
    """Return the placeholder at a colon, None if the colon begins none, and where to go on.

    `Wrong` if it is not one of `FORMS`.
    """
    head = _HEAD.match(text, at)
    if head is None:
        return None, at + 1
    name, kind, opened = head[1] or "", head[2], head[3]
    if not opened and kind not in (INT, ZIPF, CHOICE, TEXT):
        return Placeholder(AGAIN, name=kind, glued=glued), head.end()
    shown = text[at : at + 40].split("\n")[0]
    if kind not in (INT, ZIPF, CHOICE, TEXT) or not opened:
        raise Wrong("unknown placeholder" if opened else "incomplete placeholder", shown, FORMS)
    arguments, end = _arguments(text, head.end(), shown)
    shown = text[at:end]
    try:
        return _made(kind, arguments, name, glued), end
    except (TypeError, ValueError) as error:
        raise Wrong("a placeholder with wrong arguments", shown, str(error)) from None


def _arguments(text: str, at: int, shown: str) -> tuple[list[str | int | float], int]:
    arguments: list[str | int | float] = []
    while True:
        match = _ARGUMENT.match(text, at)
        if match is None:
            expected = "numbers, 'texts', rows or tables, with commas between, and )"
            raise Wrong("a placeholder that does not end", shown, expected)
        if match["text"] is not None:
            arguments.append(Quoted(_ESCAPED.sub(lambda m: m[1] or "'", match["text"][1:-1])))
        elif match["number"] is not None:
            number = match["number"]
            arguments.append(float(number) if "." in number else int(number))
        else:
            arguments.append(match["word"])
        at = match.end()
        if match["end"] == ")":
            return arguments, at


class Quoted(str):
    """A text that stood in quotes, unlike the words rows and tables."""


def _made(kind: str, arguments: list, name: str, glued: bool) -> Placeholder:
    if kind == TEXT:
        if len(arguments) != 1 or type(arguments[0]) is not int or glued:
            raise ValueError(":text(length), which is no part of a name")
        if not 1 <= arguments[0] <= LONGEST_TEXT:
            raise ValueError(f"a length of 1 to {LONGEST_TEXT}")
        return Placeholder(kind, length=arguments[0], name=name)
    if kind == CHOICE:
        if any(type(value) is str for value in arguments):
            raise ValueError("numbers, or texts in single quotes")
        whole = all(type(value) is int for value in arguments)
        if whole and not all(-(2**63) <= value < 2**63 for value in arguments):
            raise ValueError("whole numbers of 64 bits")
        values = tuple(value if whole else str(value) for value in arguments)
        return Placeholder(kind, values=values, name=name, glued=glued)
    most = 3 if kind == ZIPF else 2
    if not 2 <= len(arguments) <= most:
        raise ValueError(":zipf(low,high) or :zipf(low,high,exponent)" if most == 3
                         else ":int(low,high)")  # fmt: skip
    low, high = map(_bound, arguments[:2])
    if any(type(bound) is int and not -(2**63) <= bound < 2**63 for bound in (low, high)):
        raise ValueError("bounds of 64 bits")
    if type(low) is type(high) is int and not low <= high < low + WIDEST:
        raise ValueError(f"a low bound first, and at most {WIDEST} values")
    exponent = float(arguments[2]) if len(arguments) == 3 else DEFAULT_EXPONENT
    if not 0 < exponent <= 10:
        raise ValueError("an exponent above 0 and up to 10")
    return Placeholder(kind, low, high, exponent, name=name, glued=glued)


def _bound(value: object) -> int | str:
    if type(value) is int:
        return value
    if type(value) is str and value in SIZES:
        return value
    raise ValueError(f"whole numbers, {' or '.join(SIZES)} as bounds")
