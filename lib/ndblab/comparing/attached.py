"""A comparison on a cluster that the lab did not start, of settings that change while it runs.

A is the cluster as it is now, unless a side says otherwise. Global variables are set only with the
user's consent, and restored afterwards (`attach.put_back`).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from ndblab.attach import measurement as attaching
from ndblab.attach import put_back
from ndblab.attach import target as naming
from ndblab.comparing import choice, comparison, knobs, made, sides
from ndblab.comparing.comparison import Comparison
from ndblab.comparing.request import Request
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring import feasible
from ndblab.planning import setting_value
from ndblab.planning.cpu_budget import ATTACHED
from ndblab.planning.workload import OWN
from ndblab.workloads import registry, sysbench
from ndblab.workloads.own import slow_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ndblab.attach.target import Target
    from ndblab.comparing.sides import Setting, Sides
    from ndblab.dataset import Dataset
    from ndblab.install import Binaries
    from ndblab.workloads.own.resolving import Workload

_LOCKS_OUT = "max_connections"
"""Below the number of open sessions, nobody could log in to put it back."""
_OWN = ("servers", "clients")
"""The lab's settings that an attached cluster allows: which endpoints are loaded, and how."""


def compare(
    request: Request, *, notebook: Callable[[Dataset, float], Path | None] | None = None
) -> tuple[str, int]:
    """Compare two sides on an attached cluster, as `comparison.compare` does on the lab's own.

    LabError if a side needs more than a running cluster allows; nothing has been changed then.
    """
    load = loaded(request)
    target = naming.target(request.attach, request.endpoints)
    binaries = feasible.programs(request.only_plan)
    # Side A is what the servers have now: first put back what a killed lab has changed.
    if not request.only_plan and (done := attaching.detach(request.attach, request.endpoints)):
        print(f"Cleared up after a killed lab: {done}.", file=sys.stderr)
    prepared = prepare(request, binaries, target, load)
    return comparison.carried_out(
        prepared, request, attaching.describe_only, attaching.measure, notebook
    )


def prepare(request: Request, binaries: Binaries, target: Target, workload: Workload) -> Comparison:
    """Decide how two sides are compared on a cluster; read its variables, and change nothing.

    LabError if they cannot be compared there.
    """
    machine = host.read()
    parsed = sides.parse(request.words, comparison.known_to(binaries, machine))
    check(parsed, request.may_change)
    there = has(target, parsed)
    parsed = sides.without_effect(parsed, dict.fromkeys(made.VARIANTS, there))
    common = request.common(parsed, workload.name, machine.usable_cpus)
    # Settings of both sides are set on the running servers too: the lab has no file for them.
    of_each = replace(parsed, a=parsed.of("a"), b=parsed.of("b"), both=())
    chosen = choice.choose(parsed, startable=False)
    experiment = made.experiment(of_each, chosen, common)
    # A side without a value has that of the servers: with another one it is another measurement.
    one = (k for k in parsed.differing if None in (parsed.value("a", k), parsed.value("b", k)))
    now = {knob.name: there[knob.key] for knob in one if knob.key in there}
    asked = {**experiment.asked, "now": now} if now else experiment.asked
    experiment = replace(experiment, asked=asked, budget=ATTACHED, sets_variables=True)
    size, given = comparison.size_of(experiment, parsed, common, request)
    return Comparison(parsed, chosen, experiment, size, given, None, workload.label)


def check(parsed: Sides, may_change: bool) -> None:
    """Refuse sides that need more than an attached cluster allows.

    LabError if something must be restarted, or would be set without the user's consent.
    """
    settings = list(dict.fromkeys((*parsed.both, *parsed.a, *parsed.b)))
    if refused := [setting for setting in settings if not _allowed(setting)]:
        raise LabError(
            "A cluster that runs already is not restarted or configured",
            found="; ".join(f"{setting}: {_way(setting)}" for setting in refused),
            expected="variables of mysqld that can be set while it runs, table options, servers, "
            "clients",
            next_step="Leave these out, or compare them on the lab's own clusters, without "
            "--attach.",
        )
    set_ = [str(setting) for setting in settings if setting.knob.file == knobs.MY_CNF]
    if set_ and not may_change:
        raise LabError(
            "Global variables of the attached MySQL servers would be set for this",
            found=", ".join(set_),
            expected="--may-change",
            next_step="Add it: each server gets its own values back at the end. Sessions that "
            "others open until then begin with the lab's, and keep session variables until they "
            "close.",
        )


def _allowed(setting: Setting) -> bool:
    knob = setting.knob
    if knob.file == knobs.LAB:
        return knob.name in _OWN
    live = knob.file == knobs.MY_CNF and knob.change in knobs.WHILE_RUNNING
    return (live and knob.name != _LOCKS_OUT) or knob.file == knobs.TABLE


def _way(setting: Setting) -> str:
    knob = setting.knob
    if knob.name == _LOCKS_OUT:
        return "with too few, nobody could log in to put it back"
    if knob.source == knobs.UNLISTED:
        return knobs.UNLISTED
    return "CPU quotas are set" if knob.name in knobs.QUOTAS else choice.RESTARTS_FOR[knob.change]


def has(target: Target, parsed: Sides) -> dict[tuple[str, str], str]:
    """Return the current values of the variables that would be set; all servers must agree."""
    settings = [*parsed.both, *parsed.a, *parsed.b]
    names = {knobs.folded(s.knob.name) for s in settings if s.knob.file == knobs.MY_CNF}
    values: dict[str, str] = {}
    for place in range(1, len(target.endpoints) + 1) if names else ():
        with target.session(place) as session:
            shown = put_back.shown(session, names)
        for name, value in shown.items():
            if not setting_value.same(values.setdefault(name, value), value):
                raise LabError(
                    f"The endpoints do not agree on {name}",
                    found=f"{values[name]} on {target.endpoints[0]}, {value} on "
                    f"{target.endpoints[place - 1]}",
                    expected="the same value on all of them",
                    next_step="Compare on endpoints that agree, or let them agree first.",
                )
    return {("mysqld", name): value for name, value in values.items()}


def loaded(request: Request) -> Workload:
    """Return the requested workload, if it may run on an attached cluster.

    A workload that is not visibly read-only, such as a program, needs the user's consent. One that
    makes tables of its own is refused: the lab removes what it has made there, and knows only
    sysbench's tables. LabError if it may not run there.
    """
    # The reads of a log are replayed in its databases; writes keep to the lab's own tables.
    in_place = not request.writes
    asked = comparison.resolved(request.load, request.schema, request.writes, in_place)
    own = asked.generator
    if own is sysbench or registry.find(asked.name) is sysbench:
        return asked
    if not asked.name.startswith(OWN):
        raise LabError(
            f"{asked.label} cannot be run on an attached cluster",
            found="a load generator of the lab's, which makes tables of its own",
            expected="a script of sysbench, or a file or a program of yours",
            next_step="Choose another --workload, or compare without --attach.",
        )
    if own.schema or own.own_prepare:
        raise LabError(
            f"{asked.label} would make tables of its own on the attached cluster",
            found=f"--schema {own.schema.name}" if own.schema else "a script with a prepare",
            expected="sysbench's tables, or tables that are there already, as DATABASE.TABLE",
            next_step="Name them so in the statements, or compare without --attach.",
        )
    if not own.reads_only and not request.may_change:
        raise LabError(
            f"{asked.label} may change data of the attached cluster",
            found=next(
                (f"{place}: {text}" for place, text in own.statements if not slow_log.reads(text)),
                "a script or a program, which the lab cannot see through",
            ),
            expected="SELECTs that take no lock, or --may-change",
            next_step="Leave out what writes or locks, or add --may-change: what the load changes "
            "is not put back.",
        )
    return asked
