"""Values of settings, as users, configuration files and running servers write them.

MySQL and NDB read their files by different rules. Pure.
"""

from __future__ import annotations

import os
import re

from ndblab.error import LabError

_ESCAPED = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b"}
LONGEST_NDB_PATH = 1000
_ON, _OFF = ("on", "true", "yes"), ("off", "false", "no")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_NUMBER = re.compile(r"(-?\d+)([kmgt]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def number(text: str) -> int | None:
    """Return a whole number, which may end in K, M, G or T (powers of 1024); else None.

    >>> number("64K"), number("7"), number("ON")
    (65536, 7, None)
    """
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) * _UNITS[match[2].lower()] if match else None


def numeral(text: str) -> int | float | None:
    """Return a number as `number` does, or one with a decimal point; None if it is neither.

    >>> numeral("0.5"), numeral("4K"), numeral("ON")
    (0.5, 4096, None)
    """
    return float(text) if _DECIMAL.fullmatch(text.strip()) else number(text)


def same(one: object, other: object) -> bool:
    """Return whether two values mean the same.

    >>> same("64K", 65536), same("ON", "1"), same("MIXED", "mixed"), same(5, "5.000000")
    (True, True, True, True)
    """
    return _plain(one) == _plain(other)


def _plain(value: object) -> object:
    text = str(value).strip().strip("'\"").lower()
    if text in _ON:
        return 1
    if text in _OFF:
        return 0
    # long_query_time=5 is shown as 5.000000.
    meant = numeral(text)
    return text.replace("_", "-") if meant is None else meant


def quoted(value: str) -> str:
    """Write a value for a MySQL option file, quoted and escaped if necessary.

    Source: manual, "Using Option Files".

    >>> print(quoted("/lab/mysqld.1"), quoted("/C# lab"))
    /lab/mysqld.1 "/C# lab"
    """
    if re.fullmatch(r"[\w./:@%+,=-]*", value):
        return value
    return '"' + "".join(_ESCAPED.get(character, character) for character in value) + '"'


def ndb_path(path: str) -> str:
    """Return a path if NDB's configuration file, without quotes and escapes, can hold it.

    Source: observed with ndb_mgmd 9.7.4, whose lines end at "#" and have at most 1023 bytes.
    LabError if the file cannot hold this path.
    """
    plain = path == path.strip() and not set(path) & set("#\n\r")
    if not plain or len(os.fsencode(path)) > LONGEST_NDB_PATH:
        raise LabError(
            "NDB's configuration file cannot hold the path of the cluster's folder",
            found=repr(path),
            expected=f"no # and no line break in it, at most {LONGEST_NDB_PATH} bytes",
            next_step="Set NDBLAB_CLUSTER_DIR to a folder with a plain name.",
        )
    return path
