"""The part of an experiment that can be measured on a cluster that the lab did not start.

It consists of the points and contrasts that need nothing but numbers of servers and clients on the
cluster's endpoints. What is left out is listed with the reasons.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ndblab.design.contrast import DUET, RESTARTS, STARTS, TWINS, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.planning.point import DEFAULT_TRANSPORTER, NONE, Point
from ndblab.planning.workload import OWN
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.design.variant import Variant
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Job

_SHAPES = ("networking",)
"""Fields of a shape that an experiment's points can do without."""


@dataclass(frozen=True)
class Attachable(Experiment):
    """An experiment on an attached cluster: its load uses the lab's own schema there.

    `user` and `options_file` are those of a `Job`. Tables with options have schemas of their own;
    `more` maps these options to the schemas.
    """

    schema: str = ""
    user: str = ""
    options_file: str = ""
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def schemas(self) -> tuple[str, ...]:
        """All of the lab's own schemas that the load uses."""
        return (self.schema, *self.more.values())

    @property
    def variables(self) -> frozenset[str]:
        """The global variables that its variants set."""
        return frozenset(name for variant in self.variants for name in variant.set_global)

    def job(self, *args: Any, **options: Any) -> Job:
        """Return what the load generator of a point is asked to do, in that schema."""
        usual = super().job(*args, **options)
        schema = self.more.get(usual.table_options, self.schema)
        return replace(usual, database=schema, user=self.user, options_file=self.options_file)


def part(experiment: Experiment, servers: int, transporter: str, **own: Any) -> Attachable:
    """Return the part of an experiment that a cluster with so many endpoints allows.

    `transporter`, "shm" or "tcp", is that of all endpoints; `own` are the fields that only
    `Attachable` has. LabError if no part is possible.
    """
    check(experiment)
    known = {f.name: getattr(experiment, f.name) for f in fields(Experiment)}
    known |= {
        "variants": tuple(v for v in experiment.variants if not _needs(v, experiment)),
        "grid": _grid(experiment, transporter),
        "contrasts": experiment.contrasts and _contrasts(experiment, servers, transporter),
        "shape": {},
        "spare_servers": 0,
        "after_filling": None,
    }
    return Attachable(**known, **own)


def check(experiment: Experiment) -> None:
    """Refuse an experiment if an attached cluster allows no part of it; LabError says why."""
    if why := why_not(experiment):
        from ndblab.design.catalogue import every

        raise LabError(
            f"{experiment.name} cannot be measured on an attached cluster",
            found=why,
            expected="one of " + ", ".join(n for n, e in every().items() if not why_not(e)),
            next_step="Choose one of them with --experiment, or drop --attach.",
        )


def why_not(experiment: Experiment) -> str:
    """Return why an attached cluster allows no part of an experiment; empty if it allows some."""
    if experiment.grid is None:
        return "it measures nothing"
    if strange := sorted(set(experiment.shape) - {*_SHAPES}):
        return f"its clusters are of a shape of their own ({', '.join(strange)})"
    if experiment.compares_engines:
        return "it compares two installations"
    if why := _needs(experiment.variants[0], experiment):
        return why
    points = experiment.grid(experiment, experiment.size("smoke"))
    usable = {v.name for v in experiment.variants if not _needs(v, experiment)}
    if not any(point.variant in usable for point in points):
        return _needs(experiment.variant(points[0].variant), experiment)
    if why := next(filter(None, (_load(point.workload, experiment) for point in points)), ""):
        return why
    compared = {v.name for v in experiment.variants if not v.contrasts_only}
    if len(compared) > 1 and len(compared & usable) == 1:
        [other, *_] = compared - usable
        why = _needs(experiment.variant(other), experiment)
        return f"all that it compares, such as {other}, {why}"
    return experiment.not_attached


def _load(workload: str, experiment: Experiment) -> str:
    """Return why a load cannot be run on an attached cluster; empty if it can."""
    generator = registry.find(workload)
    if generator is sysbench:
        return ""
    if not workload.startswith(OWN):
        return "its load is not sysbench's"
    if generator.schema or generator.own_prepare:
        return "its load makes tables of its own"
    if not generator.reads_only and not experiment.sets_variables:
        return "its load may change data"
    return ""


def left_out(experiment: Experiment, servers: int, size: Profile) -> list[str]:
    """List what a cluster with so many endpoints does not allow, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for variant in experiment.variants:
        if why := _needs(variant, experiment):
            reasons.setdefault(why, []).append(f"variant {variant.name}")
    for contrast in experiment.planned_contrasts(size):
        if why := _why_not(contrast, experiment, servers):
            reasons.setdefault(why, []).append(f"contrast {contrast.name}")
    if experiment.after_filling:
        reasons.setdefault("needs a schema more", []).append("the weight of a row")
    return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]


def _needs(variant: Variant, experiment: Experiment) -> str:
    """Return what a variant needs that an attached cluster does not allow, as a predicate."""
    may_set = experiment.sets_variables
    needs = (
        (variant.fault, "injects a fault"),
        (variant.second_engine, "needs a second installation"),
        (
            variant.shape or variant.config_ini or variant.my_cnf,
            "needs a cluster with a configuration of its own",
        ),
        (any(share is not None for share in variant.quotas.values()), "needs CPU quotas"),
        (variant.tcp_clients, "needs a socket and a port of each server"),
        (
            variant.neighbours or (variant.set_global and not may_set),
            "sets a global variable of each server",
        ),
        (variant.connections, "needs servers with other connection pools"),
        (variant.table_options and not may_set, "needs a schema more"),
    )
    return next((words for needed, words in needs if needed), "")


def _why_not(contrast: Contrast, experiment: Experiment, servers: int) -> str:
    sides = [side for side in (contrast.a, contrast.b) if side]
    if contrast.design in (RESTARTS, STARTS, TWINS) or contrast.blocks_per_start:
        return "starts clusters or servers"
    for side in sides:
        if why := _needs(experiment.variant(side.point.variant), experiment):
            return why
        if side.point.transporter != DEFAULT_TRANSPORTER:
            return "needs servers of both transporters"
    if len({side.condition for side in sides}) > 1:
        return "compares conditions of this host"
    numbers = [side.point.servers for side in sides]
    needed = sum(numbers) if contrast.design == DUET else max(numbers)
    return f"needs {count(needed, 'endpoint')}" if needed > servers else ""


def _grid(experiment: Experiment, transporter: str):
    grid = experiment.grid
    assert grid
    usable = {v.name for v in experiment.variants if not _needs(v, experiment)}

    def points(_: Experiment, size: Profile) -> tuple[Point, ...]:
        every = grid(experiment, size)
        return tuple(replace(p, transporter=transporter) for p in every if p.variant in usable)

    return points


def _contrasts(experiment: Experiment, servers: int, transporter: str):
    make = experiment.contrasts
    assert make

    def on(side: Side | None) -> Side | None:
        """Adapt a side; no CPU is kept awake, since the servers may run on other hosts."""
        return side and replace(
            side, point=replace(side.point, transporter=transporter), condition=NONE
        )

    @functools.wraps(make)
    def contrasts(_: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
        # The designs take the cluster's only transporter to be the usual one.
        known = points.assign(transporter=DEFAULT_TRANSPORTER) if len(points) else points
        return tuple(
            replace(contrast, a=on(contrast.a), b=on(contrast.b))
            for contrast in make(experiment, size, known)
            if not _why_not(contrast, experiment, servers)
        )

    return contrasts
