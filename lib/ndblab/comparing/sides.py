"""The two sides of a comparison, from the words that a user typed.

It reads files that the words name, and starts nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ndblab.comparing import files, installed, knobs
from ndblab.comparing.knobs import Knob
from ndblab.error import LabError, naming
from ndblab.formatting import listed
from ndblab.planning import setting_value

BRIEF = "brief"
"""The side without settings of its own: the published configuration with one server and undivided
CPUs. For a search, the word means more of that configuration (`tuning.wanted.OF_THE_BRIEF`)."""
_EXAMPLES = "See `./lab --help compare`, such as: ./lab compare ndb_batch_size=64K"


class Alike(LabError):
    """The two sides do not differ."""


@dataclass(frozen=True)
class Setting:
    """A knob with its value, as the programs have it."""

    knob: Knob
    value: int | str

    def __str__(self) -> str:
        percent = "%" if self.knob.values.endswith("%") else ""
        return f"{self.knob.word}={self.value}{percent}"


@dataclass(frozen=True)
class Sides:
    """The settings of A alone, of B alone and of both, and what was left out of their files."""

    a: tuple[Setting, ...]
    b: tuple[Setting, ...]
    both: tuple[Setting, ...] = ()
    left_out: tuple[str, ...] = ()

    def of(self, side: str) -> tuple[Setting, ...]:
        """Return all settings of side "a" or "b"."""
        return (*self.both, *self.own(side))

    def own(self, side: str) -> tuple[Setting, ...]:
        """Return the settings of side "a" or "b" alone."""
        return self.a if side == "a" else self.b

    def value(self, side: str, knob: Knob | str) -> int | str | None:
        """Return a side's value of a knob, given itself or by name; None if it has none."""
        mine = (s for s in self.of(side) if knob in (s.knob, s.knob.name))
        return next((setting.value for setting in mine), None)

    @property
    def differing(self) -> tuple[Knob, ...]:
        """The knobs in which the sides differ."""
        return tuple({s.knob.key: s.knob for s in (*self.a, *self.b)}.values())

    def words(self, side: str) -> str:
        """Name a side by its own settings."""
        own = self.own(side)
        return listed(map(str, own)) if own else "the default"


def parse(words: Sequence[str], others: Iterable[Knob] = ()) -> Sides:
    """Make two sides from words: settings, files, or "brief".

    A single side is compared with the default. Without files, a name that comes twice has the value
    of A first, then that of B, and a name that comes once beside such a pair is for both sides.
    Beside a file or "brief", every setting is for both sides and replaces that of the file; if a
    name comes twice there, the last value counts.

    LabError if the words do not make two sides; `Alike` if the sides do not differ.

    Parameters
    ----------
    others : knobs that the installed programs know, to complement the lab's table.
    """
    others = tuple(others)
    typed = [_setting(word, others) for word in words if _is_setting(word)]
    sources = [_source(word, others) for word in words if not _is_setting(word)]
    if len(sources) > 2:
        raise LabError(
            "A comparison has two sides",
            found=", ".join(word for word in words if not _is_setting(word)),
            expected="one or two folders or files",
            next_step=_EXAMPLES,
        )
    if not typed and not sources:
        raise LabError("Say what to compare", found="nothing", next_step=_EXAMPLES)
    if sources:
        first, second = ((), sources[0][0]) if len(sources) == 1 else (s[0] for s in sources)
        left_out = dict.fromkeys(line for _, lines in sources for line in lines)
        return _differing(first, second, typed, tuple(left_out))
    first, second, both = _paired(typed)
    return _differing(first, second, both)


def without_effect(parsed: Sides, has: Mapping[str, Mapping[tuple[str, str], str]]) -> Sides:
    """Return the sides; a setting of one that the other has anyway is moved to both.

    `Alike` if nothing is left in which they differ.

    Parameters
    ----------
    has : the values that programs would take, by side and knob.
    """
    needless = {
        setting.knob.key
        for own, side, other in ((parsed.a, "a", "b"), (parsed.b, "b", "a"))
        for setting in own
        if parsed.value(other, setting.knob) is None
        and setting_value.same(setting.value, has[other].get(setting.knob.key))
    }
    a, b = (tuple(s for s in own if s.knob.key not in needless) for own in (parsed.a, parsed.b))
    alike = tuple(s for s in (*parsed.a, *parsed.b) if s.knob.key in needless)
    if not a and not b:
        raise _alike(alike)
    return replace(parsed, a=a, b=b, both=(*parsed.both, *alike))


def _is_setting(word: str) -> bool:
    # Unlike Path.exists, os.path.exists says that a long list of threads is no file.
    return "=" in word and not os.path.exists(word)


def _setting(word: str, others: Iterable[Knob]) -> Setting:
    name, _, text = word.partition("=")
    installed.refuse_placed(word)
    knob = knobs.find(name, others)
    return Setting(knob, knobs.value(knob, text))


def _source(word: str, others: Iterable[Knob]) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    if word == BRIEF:
        return (), ()
    pairs, left_out = files.read(Path(word))
    with naming(word):
        settings = tuple(_setting(f"{name}={text}", others) for name, text in pairs)
    return settings, left_out


def _paired(typed: Sequence[Setting]) -> tuple[list[Setting], list[Setting], list[Setting]]:
    """Split settings, in the order typed, into those of A, of B and of both."""
    together: dict[tuple[str, str], list[Setting]] = {}
    for setting in typed:
        together.setdefault(setting.knob.key, []).append(setting)
    if many := next((group for group in together.values() if len(group) > 2), None):
        raise LabError(
            "A comparison has two sides",
            found=" ".join(map(str, many)),
            expected="a setting once or twice",
            next_step="Compare two of them at a time.",
        )
    pairs = [group for group in together.values() if len(group) == 2]
    single = [group[0] for group in together.values() if len(group) == 1]
    if not pairs:
        return [], single, []
    return [first for first, _ in pairs], [second for _, second in pairs], single


def _differing(
    first: Iterable[Setting],
    second: Iterable[Setting],
    both: Iterable[Setting],
    left_out: tuple[str, ...] = (),
) -> Sides:
    """Return the sides; what they share moves to both, and settings of both replace a file's."""
    common = {setting.knob.key: setting for setting in both}
    a, b = (
        {setting.knob.key: setting for setting in side if setting.knob.key not in common}
        for side in (first, second)
    )
    shared = {key for key in a.keys() & b.keys() if setting_value.same(a[key].value, b[key].value)}
    own_a = tuple(setting for key, setting in a.items() if key not in shared)
    own_b = tuple(setting for key, setting in b.items() if key not in shared)
    if not own_a and not own_b:
        raise _alike({**a, **common}.values())
    # In the order of the file: that of a set differs between processes.
    same = (setting for key, setting in a.items() if key in shared)
    return Sides(own_a, own_b, (*common.values(), *same), left_out)


def _alike(settings: Iterable[Setting]) -> Alike:
    both = ", ".join(map(str, settings))
    return Alike(
        "The two sides differ in nothing",
        found=f"{both} on both sides, set or by default" if both else "the default on both sides",
        expected="a value that the other side does not have",
        next_step="Give one of them another value." if both else _EXAMPLES,
    )
