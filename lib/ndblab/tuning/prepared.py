"""A search, prepared: the baseline is checked, and the knobs to change on this host are known.

It starts nothing but programs that show which values they would take.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import start_stop
from ndblab.comparing import choice, comparison, knobs, read_back, sides
from ndblab.comparing.sides import Setting
from ndblab.design import time_needed
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, TWINS, Contrast, Side
from ndblab.error import LabError
from ndblab.formatting import count, duration
from ndblab.machine.own_cgroup import CpuController
from ndblab.measuring import dry_run, feasible
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.tuning import screening
from ndblab.tuning import space as spaces
from ndblab.tuning.search import Search
from ndblab.tuning.space import BASELINE, Space
from ndblab.tuning.wanted import NAME, OF_THE_BRIEF, Request, Wanted, alone, named

if TYPE_CHECKING:
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan
    from ndblab.workloads.own.resolving import Workload

_THERE = (
    "assumed: CPUs can be limited there (by root, or a systemd user manager); the same command "
    "without --host and --dry-run searches, on that host"
)

_SHARED = f"up to {spaces.TOGETHER} trials share a twin of the baseline, as far as memory suffices"


@dataclass(frozen=True)
class Tuning:
    """A search on this host, ready to be carried out."""

    wanted: Wanted
    search: Search
    binaries: Binaries
    machine: Host
    workload: str
    no_twins: str
    threads: str = ""
    left_out: tuple[str, ...] = ()
    """Knobs that are not searched, each with the reason."""

    def plan(self) -> str:
        """Say what will be tried, how and for how long, before anything is started."""
        space, search, request = self.wanted.space, self.search, self.wanted.request
        cheap = [tunable.word for tunable in space.tunables if space.cheap(tunable)]
        screened = [*screening.rows(space, search.seed), *screening.singles(space)]
        blocks_s = ", ".join(f"{name} {duration(s)}" for name, s in space.block_s.items())
        instead = f" ({self.no_twins})" if self.no_twins else ""
        first = f"first {space.words(space.expert)} (rules of thumb), then " if space.expert else ""
        lines = [f"baseline: {named([str(own) for own in self.wanted.baseline])}"]
        lines += [f"threads of a data node: {self.threads}"] if self.threads else []
        lines += [f"  {t.word}: now {t.current}; {_tried(t)}" for t in space.tunables]
        lines += [f"  left out: {line}" for line in self.left_out]
        return "\n".join(
            [
                *lines,
                f"under {self.workload}, {count(self.wanted.load.clients, 'client')}, for "
                f"{request.goal}, {request.limit} min",
                f"a block takes: {blocks_s}{instead}",
                *([_SHARED] if TWINS in space.turns else []),
                f"changed while a cluster runs: {', '.join(cheap) or 'none'}",
                f"{first}{count(len(screened), 'trial')} of the screening, a race and "
                f"the confirmation, which begins after {duration(search.search_s)}",
                "prediction, not measured: a confirmed gain is known to within "
                f"{100 * math.expm1(search.half_width):.1f} % at best, with the noise of equal "
                "configurations on 2 CPUs; unequal ones vary more between starts",
                *([_THERE] if request.described else []),
            ]
        )


def prepare(request: Request, binaries: Binaries, workload: Workload) -> Tuning:
    """Decide what is searched and how, and check the baseline before anything is started.

    LabError if a setting is refused, nothing can be changed, or the time is too short.
    """
    described = request.described
    machine = dry_run.host_of(described)
    others = comparison.known_to(binaries, machine)
    baseline = _baseline(request.words, others)
    if described is not None:
        # Nobody could try whether CPUs can be limited there.
        assumed = CpuController("cgroup2", "", "assumed of a host that is described")
        machine = dataclasses.replace(machine, cpu_controller=assumed)
    load = request.common(alone(baseline), workload.name, machine.usable_cpus)
    bare = Wanted(baseline, Space((), {}), load, request)
    experiment, size, _ = bare.base()
    places = start_stop.places(start_stop.home(), request.port)
    plan = experiment.plans(size, "auto", machine, places)[DEFAULT_VARIANT]
    if described is None:
        feasible.check(machine, plan)
    current = _current(bare, read_back.effective(binaries, plan, baseline))
    rows = spaces.table(Path(request.knob_file) if request.knob_file else None)
    usable = [row for row in rows if not (plan.tls and row.name.lower() == "useshm")]
    tunables = spaces.tunables(usable, current, machine.usable_cpus, others, workload.may_join)
    tunables = _served(tunables, bare.point(BASELINE, DEFAULT_VARIANT).clients)
    left_out = _left_out(rows, tunables, current, others)
    free = math.inf if described else feasible.disk_free_bytes(plan)
    no_twins = choice.no_twins(machine, (plan, plan), (baseline, baseline), free)
    _check_knobs(tunables, left_out)
    space = _space(bare, tunables, STARTS if no_twins else TWINS, workload.takes_turns)
    budget_s = 60 * request.limit - time_needed.sweep_s(experiment, size)
    search = Search(space, budget_s, size.seed, request.kept)
    _check_time(search, request.limit)
    wanted = dataclasses.replace(bare, space=space)
    return Tuning(
        wanted, search, binaries, machine, workload.label, no_twins, _threads(plan, baseline),
        left_out,
    )  # fmt: skip


def _served(tunables: tuple[spaces.Tunable, ...], clients: int) -> tuple[spaces.Tunable, ...]:
    """Return knobs without numbers of MySQL servers for which there are never enough clients."""
    tried = [int(v) for t in tunables if t.knob.name == "clients" for v in t.values]
    most = max([clients, *tried])
    fit = []
    for tunable in tunables:
        if tunable.knob.name == "servers":
            few = tuple(value for value in tunable.values if int(value) <= most)
            rule = tunable.expert if tunable.expert in few else None
            tunable = dataclasses.replace(tunable, values=few, expert=rule)
        fit += [tunable] if tunable.values else []
    return tuple(fit)


def _left_out(
    rows: Sequence[spaces.Row],
    tunables: Sequence[spaces.Tunable],
    current: Mapping[tuple[str, str], spaces.Value],
    others: Sequence[knobs.Knob],
) -> tuple[str, ...]:
    """Say which knobs of the table are not searched, and why."""
    searched = {tunable.knob.key for tunable in tunables}
    left_out = []
    for row in rows:
        knob = knobs.find(row.name, others)
        if knob.key in searched:
            continue
        if knob.name == "engine":
            why = "a search has one engine"
        elif row.needs:
            why = f"no other value to try, or without effect unless {row.condition}"
        elif knob.key in current:
            why = "no other value to try"
        elif knob.file in (knobs.LAB, knobs.TABLE):
            why = "your configuration does not set it"
        else:
            why = "the installed programs do not show its value"
        left_out.append(f"{knob.word} ({why})")
    return tuple(left_out)


def _check_knobs(tunables: Sequence[spaces.Tunable], left_out: Sequence[str]) -> None:
    """Refuse a search without knobs."""
    if not tunables:
        raise LabError(
            "There is nothing to search",
            found=f"left out: {', '.join(left_out)}" if left_out else "no knobs",
            next_step="Add knobs with --knobs FILE (docs/tune.md).",
        )


def _space(bare: Wanted, tunables: tuple[spaces.Tunable, ...], dear: str, turns: bool) -> Space:
    """Return the knobs, and the seconds of a block in each design that compares their values.

    Parameters
    ----------
    turns : whether the clients of the load can take turns.
    """
    experiment, size, _ = bare.base()
    point = bare.point(BASELINE, DEFAULT_VARIANT)
    in_turn = _in_turn(tunables, dear, point.servers) if turns else ()
    block_s = {
        design: time_needed.block_s(
            Contrast(NAME, design, Side(point), Side(point), (), turns=design in in_turn),
            experiment, size,
        )
        for design in (ALTERNATION, RESTARTS, dear)
    }  # fmt: skip
    sd = choice.DEVIATION | {design: choice.TURNS_DEVIATION[design] for design in in_turn}
    logs = choice.logs(alone(bare.baseline))
    return Space(tunables, block_s, dear, sd, point.servers, in_turn, logs)


def _in_turn(tunables: tuple[spaces.Tunable, ...], dear: str, servers: int) -> tuple[str, ...]:
    """Return the designs in which clients take turns.

    `ALTERNATION` is among them if the knobs whose values clients do not keep can be tried well in
    other designs.
    """
    others = [t.knob for t in tunables if t.cheap and not choice.with_clients(t.knob)]
    elsewhere = servers == 1 and dear == TWINS and choice.by_servers(others)
    designs = (RESTARTS, TWINS) if dear == TWINS else (RESTARTS,)
    return (ALTERNATION, *designs) if elsewhere or not others else designs


def _check_time(search: Search, minutes: int) -> None:
    """Refuse a time in which nothing can be confirmed."""
    if search.budget_s < search.least_s:
        raise LabError(
            "The time is too short to confirm anything",
            found=f"{minutes} min",
            expected=f"at least {math.ceil(minutes + (search.least_s - search.budget_s) / 60)} min",
            next_step="Give it more --minutes.",
        )


def _baseline(words: Sequence[str], others: Sequence[knobs.Knob]) -> tuple[Setting, ...]:
    """Return the settings of the user's configuration."""
    if not words:
        return ()
    parsed = sides.parse(_spelled_out(words), others)
    if parsed.a:
        raise _two_baselines(f"{parsed.words('a')}, and {parsed.words('b')}")
    if parsed.value("b", "engine") is not None:
        raise LabError("A search has one engine", next_step="Compare two with ./lab compare.")
    return parsed.of("b")


def _spelled_out(words: Sequence[str]) -> list[str]:
    """Replace "brief" by its settings; those that are typed beside it take precedence."""
    own = [word for word in words if word != sides.BRIEF]
    if len(own) == len(words):
        return own
    if any("=" not in word for word in own):
        raise _two_baselines(" ".join(words))
    typed = {word.partition("=")[0] for word in own}
    return [*(word for word in OF_THE_BRIEF if word.partition("=")[0] not in typed), *own]


def _two_baselines(typed: str) -> LabError:
    return LabError(
        "A search has one baseline",
        found=typed,
        expected="one value of each setting, one folder or one file",
        next_step="Compare two of them with ./lab compare.",
    )


def _threads(plan: Plan, baseline: Sequence[Setting]) -> str:
    """Return the lab's threads of a data node as a setting; empty if the user sets them."""
    if any(setting.knob.name in ("ThreadConfig", "NumCPUs") for setting in baseline):
        return ""
    automatic = plan.threads.automatic_cpus
    return f"NumCPUs={automatic}" if automatic else f"ThreadConfig={plan.threads.config()}"


def _current(
    wanted: Wanted, has: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], spaces.Value]:
    """Return the values of all knobs in the baseline, except those that are not known."""
    point = wanted.point(BASELINE, DEFAULT_VARIANT)
    values: dict[tuple[str, str], spaces.Value] = dict(has)
    lab = {"servers": point.servers, "clients": point.clients}
    values |= {knobs.find(name).key: value for name, value in lab.items()}
    return values | {setting.knob.key: setting.value for setting in wanted.baseline}


def _tried(tunable: spaces.Tunable) -> str:
    values = ", ".join(map(str, tunable.values))
    return f"tried {values}" + (f" (rule: {tunable.expert})" if tunable.expert is not None else "")
