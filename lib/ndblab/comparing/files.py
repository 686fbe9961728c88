"""Settings from a user's own files: config.ini and my.cnf in a folder, or a TOML file.

Settings that say which node is where are ignored, as the lab places its nodes itself; so are files,
ports and accounts in my.cnf. Whatever else is left out is reported.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from ndblab.attach import option_file
from ndblab.comparing.installed import placed
from ndblab.comparing.knobs import folded
from ndblab.error import LabError
from ndblab.planning import config

Pairs = tuple[tuple[str, str], ...]
"""Pairs of a name, with its section before a colon, and a value."""
_GROUPS = ("mysqld", "server")
"""Groups of my.cnf that every mysqld reads."""
_KINDS = {"db": "ndbd", "ndbd": "ndbd", "tcp": "tcp", "shm": "shm", "api": "api", "mysqld": "api"}


def read(path: Path) -> tuple[Pairs, tuple[str, ...]]:
    """Read the settings of a folder or a TOML file; return them and what was left out.

    LabError if there is no such file, or it cannot be parsed.
    """
    if path.is_dir():
        return _of_folder(path)
    if path.suffix == ".toml" and path.is_file():
        return _of_toml(path), ()
    raise LabError(
        f"{path} is neither a setting nor a side",
        expected="name=value, a folder with config.ini or my.cnf, a TOML file, or brief",
        next_step="Check the spelling; `./lab --help compare` has examples.",
    )


def _of_folder(folder: Path) -> tuple[Pairs, tuple[str, ...]]:
    names = config.CONFIG_INI, config.MY_CNF
    there = [file for name in names if (file := folder / name).is_file()]
    if not there:
        raise LabError(
            f"{folder} has no configuration",
            expected="config.ini, my.cnf or both in it",
            next_step="Name the folder that has them.",
        )
    pairs: dict[str, str] = {}
    left_out: dict[str, None] = {}
    for file in there:
        ini = file.name == config.CONFIG_INI
        for section, name, value in _lines(file) if ini else _options(file):
            # "skip-mysqlx" and "loose-port" are about mysqlx and port.
            if placed(name) or (not ini and placed(_option(name, value)[0].rpartition(":")[2])):
                continue
            if ini and (kind := _KINDS.get(section.removesuffix(" default"))):
                # The last of several sections of a kind counts for all nodes.
                pairs[f"{kind}:{name}"] = value or ""
            elif not ini and section in _GROUPS and (value != "" or folded(name) == "log_bin"):
                pairs |= dict([_option(name, value)])
            else:
                left_out[f"[{section}] {name} of {file}"] = None
    return tuple(pairs.items()), tuple(left_out)


_SKIPS = (
    "skip_grant_tables", "skip_name_resolve", "skip_replica_start", "skip_show_database",
    "skip_slave_start",
)  # fmt: skip
"""Options whose own names begin so; before any other name, "skip-" means off."""


def _option(name: str, value: str | None) -> tuple[str, str]:
    """Return an option of my.cnf, without a value if it is None, as the variable that it sets."""
    plain = folded(name).removeprefix("loose_")
    if value is None and plain.startswith(("skip_", "disable_")) and plain not in _SKIPS:
        return f"mysqld:{plain.partition('_')[2]}", "OFF"
    # The value of log_bin is the name of the log: any value means ON.
    return f"mysqld:{plain}", "ON" if plain == "log_bin" or value is None else value


def _options(file: Path) -> Iterator[tuple[str, str, str | None]]:
    """Yield group, name and value of each option of my.cnf and of the files it includes."""
    try:
        yield from option_file.lines(file, lenient=True)
    except (OSError, ValueError) as error:
        raise LabError(
            f"{file} cannot be read as MySQL reads it",
            found=str(error),
            expected="groups such as [mysqld], and options below them",
            next_step="Correct it.",
        ) from None


def _lines(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield section, name and value of each line of config.ini that sets something."""
    section = ""
    for line in file.read_text("utf-8-sig", errors="replace").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("[") and text.endswith("]"):
            section = " ".join(text[1:-1].lower().split())
        elif text and not text.startswith(";"):
            at = next((i for i, c in enumerate(text) if c in "=:"), len(text))
            yield section, text[:at].strip(), text[at + 1 :].strip().strip("'\"")


def _of_toml(file: Path) -> Pairs:
    """Read names and values; a TOML table's name becomes the section before the colon."""
    try:
        table = tomllib.loads(file.read_text("utf-8-sig"))
    except ValueError as error:
        raise LabError(
            f"{file} is not TOML",
            found=str(error),
            next_step='Write lines such as SpinMethod = "CostBasedSpinning".',
        ) from None
    pairs = []
    for name, value in table.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for key, entry in inner:
            if not isinstance(entry, str | int):
                raise LabError(
                    f"{file} has a value that no setting can have",
                    found=f"{key or name} = {entry}",
                    expected="a text, a whole number, true or false; sections as tables",
                    next_step='Write it as a text, such as "64K".',
                )
            text = ("off", "on")[entry] if isinstance(entry, bool) else str(entry)
            pairs.append((f"{name}:{key}" if key else name, text))
    return tuple(pairs)
