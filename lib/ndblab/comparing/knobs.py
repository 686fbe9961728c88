"""What a comparison can change, how, and within which range: the table `knobs.csv`.

Pure. A setting that the table lacks is looked up in the installed programs (`installed`), and
counts as the dearest to change.
"""

from __future__ import annotations

import csv
import difflib
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.planning import setting_value

CONFIG_INI, MY_CNF, TABLE, LAB = "config.ini", "my.cnf", "table", "lab"
LIVE, SESSION, NEW_TABLES, MYSQLD = "live", "session", "new tables", "mysqld"
ROLLING, ROLLING_NEW_TABLES = "rolling", "rolling, new tables"
SYSTEM, INITIAL = "system", "initial"
CHANGES = (LIVE, SESSION, NEW_TABLES, MYSQLD, ROLLING, ROLLING_NEW_TABLES, SYSTEM, INITIAL)
"""How a setting is changed, the cheapest way first."""
WHILE_RUNNING = (LIVE, SESSION)
"""Ways that restart nothing and make no table anew."""
QUOTAS = ("data_nodes", "server_cpus")
"""The lab's own settings that limit CPUs, in percent of the host's usable ones: those of both data
nodes together, and those of each MySQL server."""
ON_OFF = "on|off"
SWITCH = "on|off|a number"
"""Values of a parameter that is 0 or 1 by default: a switch, or a number."""
_ON, _OFF = ("on", "1", "true", "yes", "y"), ("off", "0", "false", "no", "n")
_RANGE = re.compile(r"(-?\d+)(%?)\.\.(-?\d+)%?")
_SECTIONS = {
    "ndbd": "ndbd default", "db": "ndbd default", "tcp": "tcp default", "shm": "shm default",
    "api": "mysqld default", "mysqld default": "mysqld default", "mysqld": "mysqld",
}  # fmt: skip
"""What may stand before a name and a colon, where several sections have the name."""
UNLISTED = "not in the lab's table, so taken for the dearest to change"


@dataclass(frozen=True)
class Knob:
    """One setting: its name as its file has it, where it stands, and how it is changed.

    `values` is a range "0..500" (in per cent "1%..90%"), choices "a|b", or empty for any text.
    """

    name: str
    file: str
    section: str
    values: str
    change: str
    source: str

    @functools.cached_property
    def word(self) -> str:
        """What a user types: the name, with its section where several have the name."""
        alike = [knob for knob in known() if knob.name == self.name]
        short = next((word for word, full in _SECTIONS.items() if full == self.section), "")
        return f"{short}:{self.name}" if len(alike) > 1 else self.name

    @property
    def key(self) -> tuple[str, str]:
        """Identify the setting: section and name as NDB and MySQL compare them."""
        return self.section, folded(self.name)


@functools.cache
def known() -> tuple[Knob, ...]:
    """Return the knobs of the table."""
    with Path(__file__).with_name("knobs.csv").open(newline="") as file:
        return tuple(Knob(**row) for row in csv.DictReader(file))


def folded(name: str) -> str:
    """Return a name as it is compared: regardless of case, and of "-" or "_"."""
    return name.strip().lower().replace("-", "_")


def find(word: str, others: Iterable[Knob] = ()) -> Knob:
    """Return the knob of a name, with its section before a colon where several have it.

    LabError if nothing has this name, or several sections do.

    Parameters
    ----------
    others : knobs that the installed programs know.
    """
    prefix, colon, name = word.rpartition(":")
    listed = {knob.key: knob for knob in (*others, *known())}.values()
    mine = [knob for knob in listed if folded(knob.name) == folded(name)]
    if colon:
        section = _SECTIONS.get(folded(prefix), prefix.strip())
        mine = [knob for knob in mine if knob.section == section]
    # Without a section, the knob of the table is meant.
    mine = [knob for knob in mine if knob.source != UNLISTED] or mine
    if len(mine) == 1:
        return mine[0]
    if not mine:
        names = {knob.name for knob in listed}
        close = difflib.get_close_matches(name, names, 3) or difflib.get_close_matches(
            folded(name), {folded(other) for other in names}, 3
        )
        raise LabError(
            f"No setting is called {word}",
            expected=f"perhaps {' or '.join(close)}"
            if close
            else "a parameter of config.ini, a "
            "variable of mysqld, a table option, servers, clients, data_nodes, server_cpus, tls or "
            "engine",
            next_step="Check the spelling; `./lab --help compare` has examples.",
        )
    raise LabError(
        f"Several sections have a setting called {name}",
        found=", ".join(f"[{knob.section}] of {knob.file}" for knob in mine),
        next_step=f"Say which, such as {mine[0].word}=...",
    )


def value(knob: Knob, text: str) -> int | str:
    """Return a value as the programs write it: sizes in bytes, ON or OFF, choices as spelt.

    LabError if it is out of the knob's range.
    """
    text = text.strip()
    if knob.values == ON_OFF:
        for word, alike in (("ON", _ON), ("OFF", _OFF)):
            if text.lower() in alike:
                return word
    elif limits := _RANGE.fullmatch(knob.values):
        least, percent, most = int(limits[1]), limits[2], int(limits[3])
        number = setting_value.number(text.removesuffix("%") if percent else text)
        if number is not None and least <= number <= most:
            return number
    elif knob.values == SWITCH and text.lower() in _ON + _OFF:
        # The management node takes only some of these words.
        return int(text.lower() in _ON)
    elif knob.values not in ("", SWITCH):
        for choice in knob.values.split("|"):
            if folded(choice) == folded(text):
                return choice
    elif text:
        number = setting_value.number(text)
        return text if number is None else number
    raise LabError(
        f"{knob.name} cannot have this value",
        found=text or "nothing",
        expected=knob.values.replace("..", " to ").replace("|", ", ") or "a value",
        next_step="Choose one that it can have.",
    )
