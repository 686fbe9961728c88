"""Values in the configuration files of MySQL and of NDB, which read them by different rules."""

from __future__ import annotations

import os
import re

from ndblab.error import LabError

_ESCAPED = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b"}
LONGEST_NDB_PATH = 1000


def quoted(value: str) -> str:
    """Write a value of an option file of MySQL's, quoted and escaped if it needs that.

    Source: manual, "Using Option Files".

    >>> print(quoted("/lab/mysqld.1"), quoted("/C# lab"))
    /lab/mysqld.1 "/C# lab"
    """
    if re.fullmatch(r"[\w./:@%+,=-]*", value):
        return value
    return '"' + "".join(_ESCAPED.get(character, character) for character in value) + '"'


def ndb_path(path: str) -> str:
    """Return a path that NDB's configuration file can hold, which knows neither quotes nor escapes.

    Source: observed with ndb_mgmd 9.7.4, whose lines end at "#" and have at most 1023 bytes.

    Raises
    ------
    LabError
        If it cannot hold this one.
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
