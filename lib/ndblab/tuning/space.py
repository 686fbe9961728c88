"""What a search may change on a host: knobs with their values, and configurations made of them.

It reads the table `knobs.csv` and the user's own; it starts nothing. `comparing/knobs.csv` says how
a knob is changed, and its range.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ndblab.comparing import choice, knobs
from ndblab.comparing.knobs import Knob
from ndblab.comparing.sides import Setting
from ndblab.design.contrast import ALTERNATION, RESTARTS, TWINS
from ndblab.error import LabError
from ndblab.formatting import listed
from ndblab.planning import setting_value

Value = int | str
Configuration = tuple[tuple[str, Value], ...]
"""What differs from the baseline: names and values, sorted by name; empty for the baseline."""
BASELINE: Configuration = ()
TOGETHER = 3
"""Most configurations that share a start of the baseline. Each takes 3 to 4 GB with few servers."""
JOINS = "joins"
"""What a knob needs that acts on nothing but joins, in place of a setting."""
ALL = "*"
"""A line of the user's file with this name and no value removes all knobs of the lab's table."""
_OF_CPUS = re.compile(r"(?:(\d+)\*)?cpus(?:/([1-9]\d*))?")


@dataclass(frozen=True)
class Tunable:
    """A knob on this host: its value now, values to try, and what a rule of thumb says."""

    knob: Knob
    current: Value
    values: tuple[Value, ...]
    expert: Value | None = None
    needs: tuple[str, Value] | None = None
    """Another knob, by its word, and its only value with which this knob has an effect."""

    @property
    def word(self) -> str:
        """Return the name that a user types."""
        return self.knob.word

    @property
    def cheap(self) -> bool:
        """Return whether it is changed while a cluster runs."""
        own = self.knob.file in (knobs.MY_CNF, knobs.LAB)
        return own and self.knob.change in knobs.WHILE_RUNNING


@dataclass(frozen=True)
class Space:
    """The knobs of a search, and what it takes to compare configurations.

    `block_s` are the seconds of a block by design, `dear` is the design that needs cluster starts.
    `servers` is the number of MySQL servers of the baseline. Blocks of the designs in `turns` have
    slices of a second, in which the connected clients of both sides work in turn. Servers that have
    binary logs (`logs`) write the changes of all, so none is idle beside another.
    """

    tunables: tuple[Tunable, ...]
    block_s: Mapping[str, float]
    dear: str = TWINS
    sd: Mapping[str, float] = field(default_factory=lambda: choice.DEVIATION)
    servers: int = 1
    turns: tuple[str, ...] = ()
    logs: bool = False

    def cheap(self, tunable: Tunable) -> bool:
        """Return whether a knob is tried in one cluster.

        If clients take turns there, they must keep its value: this makes all blocks of a design
        alike, and equally exact. Servers that one side does not use would use CPU there.
        """
        kept = ALTERNATION not in self.turns or choice.with_clients(tunable.knob)
        return tunable.cheap and kept and tunable.knob.name != choice.SERVERS

    def tunable(self, word: str) -> Tunable:
        """Return the knob of a name."""
        return next(tunable for tunable in self.tunables if tunable.word == word)

    def design(self, configuration: Configuration, against: Configuration = BASELINE) -> str:
        """Return the cheapest design in which the two can be compared."""
        differing = [self.tunable(word) for word, _ in set(configuration) ^ set(against)]
        if all(map(self.cheap, differing)):
            return ALTERNATION
        one_each = all(
            dict(own).get("servers", self.servers) == 1 for own in (configuration, against)
        )
        changed = [tunable.knob for tunable in differing]
        by_servers = one_each and not self.logs and choice.by_servers(changed)
        return RESTARTS if by_servers and RESTARTS in self.block_s else self.dear

    @property
    def expert(self) -> Configuration:
        """Return what rules of thumb say for this host, where that is not the baseline."""
        rules = {t.word: v for t in self.tunables for v in t.values if v == t.expert}
        return self.effective(rules)

    def effective(self, values: Mapping[str, Value]) -> Configuration:
        """Return the configuration of values by name, without those that have no effect in it."""
        known = {t.word: t.current for t in self.tunables} | dict(values)
        needs = {t.word: t.needs for t in self.tunables if t.needs and t.needs[0] in known}
        idle = {
            word for word, (other, value) in needs.items()
            if not setting_value.same(known[other], value)
        }  # fmt: skip
        return made({word: value for word, value in values.items() if word not in idle})

    def words(self, configuration: Configuration) -> str:
        """Write a configuration as a user types it."""
        return listed(self.typed(configuration)) if configuration else "the baseline"

    def typed(self, configuration: Configuration) -> list[str]:
        """Write each setting of a configuration as a user types it."""
        return [str(Setting(self.tunable(word).knob, value)) for word, value in configuration]


def made(values: Mapping[str, Value]) -> Configuration:
    """Return the configuration of values by name."""
    return tuple(sorted(values.items()))


def without(configuration: Configuration, *words: str) -> Configuration:
    """Return a configuration with these knobs as in the baseline."""
    return tuple(pair for pair in configuration if pair[0] not in words)


@dataclass(frozen=True)
class Row:
    """A line of the table: values with `cpus` in place of a number, separated by "|"."""

    name: str
    values: str
    expert: str = ""
    needs: str = ""

    @property
    def condition(self) -> str:
        """Return what it needs, in words."""
        return "the load has joins" if self.needs == JOINS else self.needs


def table(file: Path | None = None) -> tuple[Row, ...]:
    """Return the lab's rows, after the user's file has added, replaced or removed some.

    LabError if the file is not such a table.
    """
    rows = {_key(row.name): row for row in _read(Path(__file__).with_name("knobs.csv"))}
    for row in _read(file) if file else ():
        if row.name == ALL and not row.values:
            rows.clear()
        elif row.values:
            known = rows.get(_key(row.name))
            rows[_key(row.name)] = replace(row, needs=row.needs or (known.needs if known else ""))
        elif rows.pop(_key(row.name), None) is None:
            raise LabError(
                f"{file} removes a knob that is not there",
                found=row.name,
                expected=", ".join(row.name for row in rows.values()) or "nothing to remove",
                next_step="Give it values, or drop the line.",
            )
    return tuple(rows.values())


def _key(name: str) -> object:
    """Identify a knob however its name is typed."""
    try:
        return knobs.find(name).key
    except LabError:
        return knobs.folded(name)


def tunables(
    rows: Iterable[Row],
    current: Mapping[tuple[str, str], Value],
    cpus: float,
    others: Iterable[Knob] = (),
    may_join: bool = True,
) -> tuple[Tunable, ...]:
    """Return the knobs that have another value to try on a host of so many CPUs.

    LabError if a name is unknown, or a value is out of its range.

    Parameters
    ----------
    current : values of the baseline, by `Knob.key`. A knob without one is left out: nothing says
        what it would be compared with.
    others : knobs that the installed programs know, to complement the lab's table.
    may_join : whether a query of the load may join tables. Otherwise, knobs that need joins are
        left out: whatever they seem to gain is noise.
    """
    changeable, others = [], tuple(others)
    for row in rows:
        if row.needs == JOINS and not may_join:
            continue
        knob = knobs.find(row.name, others)
        values = [_value(knob, text, cpus) for text in row.values.split("|")]
        if knob.key not in current:
            continue
        now = _as_is(knob, current[knob.key])
        expert = _value(knob, row.expert, cpus) if row.expert else None
        values += [] if expert is None else [expert]
        more = [value for value in dict.fromkeys(values) if not setting_value.same(value, now)]
        if more:
            needs = _needed(row, others)
            changeable.append(Tunable(knob, now, tuple(more), expert, needs))
    words = {tunable.word for tunable in changeable}
    return tuple(
        t for t in changeable if t.needs is None or t.needs[0] in words or _met(t, current, others)
    )


def _met(
    tunable: Tunable, current: Mapping[tuple[str, str], Value], others: Iterable[Knob]
) -> bool:
    """Return whether the baseline has what a knob needs, where the search never changes that."""
    word, value = tunable.needs or ("", "")
    return setting_value.same(current.get(knobs.find(word, others).key, value), value)


def _read(file: Path) -> list[Row]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            table = csv.DictReader(lines)
            rows, columns = list(table), table.fieldnames or []
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            f"{file} cannot be read", found=str(error), next_step="Name a CSV file of knobs."
        ) from None
    known = "name" in columns and set(columns) <= set(Row.__dataclass_fields__)
    if not rows or not known or any(None in row for row in rows):
        raise LabError(
            f"{file} is no table of knobs",
            found=", ".join(columns) or "nothing in it",
            expected="a first line name,values[,expert][,needs], then a line for each knob",
            next_step="See docs/tune.md.",
        )
    return [Row(**{key: (text or "").strip() for key, text in ({"values": ""} | row).items()})
            for row in rows]  # fmt: skip


def _needed(row: Row, others: Iterable[Knob]) -> tuple[str, Value] | None:
    """Return the setting that a row needs, from a text such as "UseShm=on"; None for `JOINS`.

    LabError if the text is not a setting.
    """
    if row.needs in ("", JOINS):
        return None
    name, _, text = row.needs.partition("=")
    knob = knobs.find(name.strip(), others)
    return knob.word, knobs.value(knob, text.strip())


def _value(knob: Knob, text: str, cpus: float) -> Value:
    """Return a value of the table for a host.

    "cpus", "2*cpus" and "cpus/2" follow the host, and are at least 1.
    """
    if match := _OF_CPUS.fullmatch(text.strip()):
        times, parts = (int(group or 1) for group in match.groups())
        text = str(max(1, int(times * cpus / parts)))
    return knobs.value(knob, text)


def _as_is(knob: Knob, value: Value) -> Value:
    """Return a value that a program shows in the table's form; unchanged if it has no such form."""
    try:
        return knobs.value(knob, str(value))
    except LabError:
        return value
