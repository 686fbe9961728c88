"""MySQL's option files, read by the rules of MySQL's own programs (its mysys/my_default.cc).

`my_print_defaults` would give the same, but not every installation has one, or one that runs.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

_SPACE = "\t\n\v\f\r \xa0"
"""White space of Latin-1, which MySQL takes an option file to be in."""
_DEEPEST = 10
"""Depth to which files may include each other; deeper ones are skipped."""
_BEFORE_COMMENT = re.compile(r"""(?:[^#'"]|(['"])(?:\\.|(?!\1).)*(?:\1|$))*""")
_QUOTED = re.compile(r"""(['"])(.*)\1""", re.DOTALL)
_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\",
}  # fmt: skip


def read(file: Path, group: str) -> dict[str, str]:
    """Return the options of a group that have a value; the last of each name counts.

    Names are in lower case, with hyphens. Bytes that are not of the file system's encoding are kept
    as `os.fsdecode` keeps them. OSError if the file, or a folder that it includes, cannot be read;
    ValueError if MySQL's programs would not read the file; it says why, and quotes none of it.
    """
    options = {}
    for theirs, name, value in lines(file):
        if theirs == group and value is not None:
            options[name.replace("_", "-").removeprefix("loose-")] = value
    return options


def lines(
    file: Path, *, lenient: bool = False, depth: int = 1
) -> Iterator[tuple[str, str, str | None]]:
    """Yield group, name and value of each option, in order; the value is None if there is no "=".

    OSError or ValueError as `read` does. With `lenient`, files are read that MySQL's programs would
    not: those that every user may write, or that begin with a byte order mark.
    """
    if not lenient and file.stat().st_mode & stat.S_IWOTH:
        raise ValueError(f"{file} may be written by every user of this host")
    current = None
    content = file.read_bytes().removeprefix(codecs.BOM_UTF8 if lenient else b"")
    for number, text in enumerate(content.decode("latin-1").split("\n"), 1):
        line = text.strip(_SPACE)
        if line.startswith("!"):
            for included in _included(line[1:].strip(_SPACE)):
                if depth <= _DEEPEST and included.is_file():
                    yield from lines(included, lenient=lenient, depth=depth + 1)
        elif line.startswith("["):
            current, end, _ = line[1:].partition("]")
            if not end:
                raise ValueError(f"a group without its ] in line {number} of {file}")
        elif line and line[0] not in "#;":
            if current is None:
                raise ValueError(f"an option before the first group in line {number} of {file}")
            matched = _BEFORE_COMMENT.match(line)
            name, equals, value = (matched[0] if matched else "").partition("=")
            value = _text(_unescaped(value.strip(_SPACE))) if equals else None
            yield current.rstrip(_SPACE).lower(), name.rstrip(_SPACE), value


def _included(directive: str) -> list[Path]:
    """Return the files that a line such as "!includedir /etc/mysql/conf.d" names."""
    word, _, place = directive.partition(" ")
    named = Path(_text(place.strip(_SPACE)))
    if word == "include":
        return [named]
    names = sorted(os.listdir(named)) if word == "includedir" else []
    return [named / name for name in names if name.endswith(".cnf")]


def _unescaped(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    return re.sub(
        r"\\(.)",
        lambda escape: _ESCAPES.get(escape[1], escape[0]),
        quoted[2] if quoted else value,
        flags=re.DOTALL,
    )


def _text(latin: str) -> str:
    return os.fsdecode(latin.encode("latin-1"))
