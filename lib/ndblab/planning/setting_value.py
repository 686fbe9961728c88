"""Values of settings, as users, configuration files and running servers write them.

Pure.
"""

from __future__ import annotations

import re

_ON, _OFF = ("on", "true", "yes"), ("off", "false", "no")
_NUMBER = re.compile(r"(-?\d+)([kmgt]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def number(text: str) -> int | None:
    """Return a whole number, which may end in K, M, G or T (powers of 1024); None if it is none.

    >>> number("64K"), number("7"), number("ON")
    (65536, 7, None)
    """
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


def same(one: object, other: object) -> bool:
    """Return whether two values mean the same.

    >>> same("64K", 65536), same("ON", "1"), same("MIXED", "mixed"), same("a", "b")
    (True, True, True, False)
    """
    return _plain(one) == _plain(other)


def _plain(value: object) -> object:
    text = str(value).strip().strip("'\"").lower()
    if text in _ON:
        return 1
    if text in _OFF:
        return 0
    found = number(text)
    return text.replace("_", "-") if found is None else found
