"""What a search is about, and a trial as variants, points and an experiment of the lab.

Pure. It includes the limits that configurations must keep (`--keep "p95 < 20 ms"`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndblab.comparing import knobs, made
from ndblab.comparing.request import Options
from ndblab.comparing.request import Request as Comparison
from ndblab.comparing.sides import Setting, Sides
from ndblab.design.contrast import ALTERNATION, RESTARTS, TWINS, A, B
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.error import LabError
from ndblab.formatting import listed, plain
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.tuning.history import Trial
from ndblab.tuning.space import BASELINE, TOGETHER, Configuration, Space

if TYPE_CHECKING:
    from ndblab.planning.profile import Profile

NAME = "tune"
GOAL = "throughput"
GOALS = {GOAL: 0, "p95": 1, "cpu": 2}
"""Goals of a search, each with its place in the result of `judged.blocks`."""
OF_THE_BRIEF = ("servers=16", "data_nodes=25%")
"""The word "brief" as a baseline: what the lab's default lacks of the configuration with which the
brief measured its 1.7 million queries/s. There, each data node had 32 of 256 logical CPUs; the
MySQL servers and their clients shared the rest. Threads, pool and batch size are the default's."""
_QUANTITIES = {"p95": ("p95_ms", "ms"), "throughput": ("qps", "queries/s")}
_TEXT = re.compile(r"\s*(\w+)\s*([<>])\s*(\d+(?:\.\d+)?)\s*(ms|queries/s)?\s*")


def named(words: Sequence[str]) -> str:
    """Name a baseline, from its settings as a user types them.

    >>> named(["data_nodes=25%", "servers=16"])
    "the brief's configuration on this host (servers=16 and data_nodes=25%)"
    >>> named(["servers=2"]), named([])
    ('servers=2', "the lab's default")
    """
    if set(words) == set(OF_THE_BRIEF):
        return f"the brief's configuration on this host ({listed(OF_THE_BRIEF)})"
    return listed(words) if words else "the lab's default"


@dataclass(frozen=True)
class Limit:
    """What a configuration must keep, whatever its gain: a quantity below or above a bound."""

    quantity: str
    below: bool
    bound: float

    def __str__(self) -> str:
        unit = _QUANTITIES[self.quantity][1]
        return f"{self.quantity} {'<' if self.below else '>'} {plain(self.bound)} {unit}"

    def broken(self, levels: Mapping[str, float]) -> str:
        """Say how a configuration breaks the limit; empty if it does not, or that is not known."""
        column, unit = _QUANTITIES[self.quantity]
        value = levels.get(column)
        if value is None or value != value or (value < self.bound) == self.below:
            return ""
        return f"{self.quantity} is {plain(value)} {unit}, not {self}"


def limits(text: str) -> tuple[Limit, ...]:
    """Return the limits of a text such as "p95 < 20 ms, throughput > 5000".

    LabError if a part of the text is not a limit.
    """
    kept = []
    for part in text.split(","):
        match = _TEXT.fullmatch(part)
        known = match and _QUANTITIES.get(match[1].lower())
        if not match or not known or match[4] not in (None, known[1]):
            raise LabError(
                "--keep has a condition that cannot be kept",
                found=part.strip() or "nothing",
                expected='p95 in ms or throughput in queries/s, such as "p95 < 20 ms"',
                next_step="Write it like that; several with a comma between.",
            )
        kept.append(Limit(match[1].lower(), match[2] == "<", float(match[3])))
    return tuple(kept)


@dataclass(frozen=True)
class Request(Options):
    """The options of `./lab tune`; LabError if there is no such goal or limit.

    The words are one side, the user's configuration; none for the lab's default. The minutes are
    those of all sessions together.

    Parameters
    ----------
    knob_file : CSV that adds, replaces or removes knobs (`space.table`).
    goal : one of `GOALS`.
    keep : as `limits` takes it.
    described : another host, as `dry_run.host_of` takes it, for which only the plan is made.
    """

    USUAL_MINUTES = 60

    knob_file: str | None = None
    goal: str = GOAL
    keep: str | None = None
    described: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.goal not in GOALS:
            raise LabError(
                "Unknown --goal",
                found=self.goal,
                expected=", ".join(GOALS),
                next_step="Choose one.",
            )
        _ = self.kept

    @property
    def kept(self) -> tuple[Limit, ...]:
        """Return what a configuration must keep."""
        return limits(self.keep) if self.keep else ()


@dataclass(frozen=True)
class Wanted:
    """What a search is about: the user's own settings, the knobs, the load, and the request."""

    baseline: tuple[Setting, ...]
    space: Space
    load: made.Load
    request: Request

    def settings(self, configuration: Configuration) -> tuple[Setting, ...]:
        """Return all settings of a configuration: the user's own, replaced where it differs."""
        settings = {setting.knob.key: setting for setting in self.baseline}
        for word, value in configuration:
            knob = self.space.tunable(word).knob
            settings[knob.key] = Setting(knob, value)
        return tuple(settings.values())

    def point(self, configuration: Configuration, variant: str) -> Point:
        """Return the point at which a configuration is measured.

        LabError if it has fewer clients than servers.
        """
        point = made.point(alone(self.settings(configuration)), A, self.load)
        if point.clients < point.servers:
            raise LabError(
                f"{point.servers} MySQL servers are too many for {point.clients} clients",
                next_step="Use more --clients.",
            )
        return dataclasses.replace(point, variant=variant)

    @property
    def divided(self) -> bool:
        """Return whether the baseline limits CPUs; only then may a knob do so."""
        return any(setting.knob.name in knobs.QUOTAS for setting in self.baseline)

    def variant(self, configuration: Configuration, name: str) -> Variant:
        """Return the variant of a cluster that has a configuration from its start."""
        variant = made.variant(alone(self.settings(configuration)), A, TWINS)
        quotas = variant.quotas or (dict(NO_QUOTAS) if self.divided else {})
        variant = dataclasses.replace(variant, name=name, quotas=quotas)
        return made.of_twins(variant, (1 + TOGETHER) * self._most_servers)

    @property
    def _most_servers(self) -> int:
        """Return the most MySQL servers of any configuration."""
        known = [int(s.value) for s in self.baseline if s.knob.name == "servers"]
        known += self._tried("servers")
        return max((servers for servers in known if servers <= self.load.clients), default=1)

    def _tried(self, name: str) -> list[int]:
        """Return the values that the search tries of the lab's own knob of a name."""
        return [int(v) for t in self.space.tunables if t.knob.name == name for v in t.values]

    def switched(self, configuration: Configuration, base: Configuration, name: str) -> Variant:
        """Return the variant that changes a running cluster of `base` to a configuration."""
        own = self.variant(configuration, name)
        changed = self._changed(configuration, base)
        live = {s.knob.name: s.value for s in changed if s.knob.file == knobs.MY_CNF}
        return dataclasses.replace(self.variant(base, name), set_global=live, quotas=own.quotas)

    def _changed(self, configuration: Configuration, base: Configuration) -> tuple[Setting, ...]:
        """Return the settings that turn `base` into a configuration."""
        now = {t.word: t.current for t in self.space.tunables}
        wanted, started = {**now, **dict(configuration)}, {**now, **dict(base)}
        return tuple(
            Setting(self.space.tunable(word).knob, value)
            for word, value in wanted.items()
            if value != started[word]
        )

    def beside(self, configuration: Configuration, base: Configuration) -> Sides:
        """Return `base` and a configuration as sides with a server each in one cluster."""
        own = self._changed(configuration, base)
        keys = {setting.knob.key for setting in own}
        there = self.settings(base)
        return Sides(
            tuple(setting for setting in there if setting.knob.key in keys), own,
            tuple(setting for setting in there if setting.knob.key not in keys),
        )  # fmt: skip

    def compared(self, a: Configuration, b: Configuration) -> Comparison:
        """Return the request of `./lab compare` for two configurations."""
        sides: dict[Setting, None] = {}
        for word in sorted({word for word, _ in (*a, *b)}):
            tunable = self.space.tunable(word)
            for own in (a, b):
                sides[Setting(tunable.knob, dict(own).get(word, tunable.current))] = None
        keys = {setting.knob.key for setting in sides}
        both = [setting for setting in self.baseline if setting.knob.key not in keys]
        typed = self.request
        return Comparison(
            tuple(map(str, (*sides, *both))), typed.workload, typed.schema, typed.writes,
            typed.servers, self.load.clients, profile=typed.profile, overrides=typed.overrides,
            port=typed.port,
        )  # fmt: skip

    def variants(self, trial: Trial, names: Mapping[str, str]) -> list[Variant]:
        """Return the variants of a trial's sides, under these names."""
        own, base = trial.configuration, trial.against
        if trial.design == RESTARTS:
            sides = self.beside(own, base)
            return [
                dataclasses.replace(made.variant(sides, side, RESTARTS), name=name)
                for side, name in names.items()
            ]
        first = self.variant(base, names[A])
        switched = trial.design == ALTERNATION
        return [
            first, self.switched(own, base, names[B]) if switched else self.variant(own, names[B])
        ]  # fmt: skip

    def shape(self, trial: Trial) -> dict[str, object]:
        """Return the shape of a trial's clusters, as far as their variants do not give it."""
        if trial.design != RESTARTS:
            return {}
        return made.servers_of(self.beside(trial.configuration, trial.against))

    def experiment(self, variants: Sequence[Variant], points: Sequence[Point]) -> Experiment:
        """Return the experiment of some variants, of which the first is the baseline."""
        return Experiment(
            NAME,
            "Which configuration is best on this host?",
            notebook="",
            figures=(),
            claims=(),
            grid=lambda *_: tuple(points),
            workload=self.load.workload,
            sizes={"quick": {"repeats": 1}},
            variants=tuple(variants),
            budget="scaled" if self.divided else "shared",
            asked={
                "baseline": [str(setting) for setting in self.baseline],
                "knobs": {t.word: [t.current, *t.values] for t in self.space.tunables},
                "goal": self.request.goal,
                # A search with other kinds of blocks is another search.
                **({"turns": list(self.space.turns)} if self.space.turns else {}),
            },
        )

    def given(self, *trials: Trial) -> dict[str, object]:
        """Return the overrides of the size that the clusters of trials have."""
        clients = {self.load.clients, *self._tried("clients")}
        servers = {number for trial in trials for number in self.servers(trial)}
        return self.request.given | {"servers": sorted(servers), "clients": sorted(clients)}

    def base(self) -> tuple[Experiment, Profile, dict[str, object]]:
        """Return the experiment of the baseline alone, its size and the overrides of that."""
        point = self.point(BASELINE, DEFAULT_VARIANT)
        own = self.experiment([self.variant(BASELINE, DEFAULT_VARIANT)], [point])
        given = self.given(Trial("", BASELINE, 0, ALTERNATION))
        return own, own.size(self.request.profile, given), given

    def servers(self, trial: Trial) -> list[int]:
        """Return the numbers of servers of the two configurations of a trial."""
        return [self.point(own, "").servers for own in (trial.against, trial.configuration)]


def alone(settings: tuple[Setting, ...]) -> Sides:
    """Return the settings of a single configuration as those of both sides."""
    return Sides((), (), settings)
