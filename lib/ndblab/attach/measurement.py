"""A measurement on a cluster that the lab did not start, from its endpoints to a dataset.

Parts of an experiment that the cluster does not allow are left out, and reported once.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.attach import attachable, own_schema
from ndblab.attach import cluster as attached
from ndblab.attach import target as naming
from ndblab.attach.prepared import Prepared, prepared, read
from ndblab.measuring import dry_run, feasible, manifest, measurement
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.dry_run import noted
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.workloads import registry

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.attach.attachable import Attachable
    from ndblab.attach.facts import Facts
    from ndblab.attach.target import Target
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.measuring.request import Request
    from ndblab.planning.deployment import Plan
    from ndblab.planning.point import Point

CONFIG, VARIABLES = "attached-config.csv", "attached-variables.csv"
"""Files of a dataset: parameters of the data nodes, variables of the MySQL servers."""


def measure(experiment: Experiment, request: Request) -> datasets.Dataset:
    """Measure what an attached cluster allows of an experiment; LabError says why if that fails.

    Completed runs are saved.
    """
    target, progress = _target(experiment, request), request.progress
    binaries = feasible.programs(progress=progress)
    with prepared(experiment, target, request, binaries, True) as known:
        if progress:
            print(*known.notes(experiment, request.minutes), sep="\n", file=sys.stderr)
        described, identity = describe(known)
        allowed, plans = known.allowed, {v.name: known.plan for v in known.allowed.variants}
        return measurement.carry_out(
            allowed, request, known.size, described, identity,
            lambda writer: AttachedCluster(
                allowed, known.size, plans, known.binaries, writer, progress, known=known
            ),
        )  # fmt: skip


def _target(experiment: Experiment, request: Request) -> Target:
    """Return the cluster of a request; LabError if the experiment cannot be measured there."""
    attachable.check(experiment)
    assert request.attach
    return naming.target(*request.attach)


def describe_only(experiment: Experiment, request: Request) -> str:
    """Describe what `measure` would do; read the cluster, but write nothing there."""
    target, binaries = _target(experiment, request), feasible.programs(only_plan=True)
    with prepared(experiment, target, request, binaries, False) as known:
        notes = list(known.notes(experiment))
    allowed, todo = known.allowed, known.allowed.sweep(known.size)
    jobs = [allowed.job(known.size, binaries, known.plan, point) for point, _ in todo.order()]
    loads = dict.fromkeys(point.workload for point in todo.points)
    lines = [
        *(f"# {line}" for note in notes for line in note.splitlines()),
        *dry_run.contrasts(allowed, known.size),
        f"# endpoints: {', '.join(map(str, target.endpoints))}, as {target.login.user}",
        "# a schema, whose name is random, by the first of them",
        *(f"{made};" for name in allowed.schemas for made in own_schema.statements(name)[0]),
        "# the load; sysbench reads the password, if there is one, from a file in memory",
        *(line for name in loads for line in noted.inputs(registry.find(name))),
        *_prepared(allowed, known),
    ]
    for (point, repeat), job in zip(todo.order(), jobs, strict=True):
        lines.append(f"# {point.run_id(repeat)}")
        set_global = allowed.variant(point.variant).set_global
        lines += [f"SET GLOBAL {name} = {value};" for name, value in set_global.items()]
        generator = registry.find(point.workload)
        lines += (command.line([]) for command in generator.commands(job))
    names = ", ".join(sorted(allowed.variables))
    lines += [f"# at the end the values of before: {names}"] if names else []
    lines += ["# at the end, or by ./lab cluster.detach, after its tables one by one"]
    lines += [f"{own_schema.statements(name)[1]};" for name in allowed.schemas]
    return "\n".join(lines)


def _prepared(allowed: Attachable, known: Prepared) -> list[str]:
    """Return the commands that fill the tables, for each kind of them."""
    first = allowed.sweep(known.size).points[0]
    points = (dataclasses.replace(first, variant=name) for name in allowed.filled(DEFAULT_VARIANT))
    jobs = (allowed.job(known.size, known.binaries, known.plan, point) for point in points)
    return [registry.find(job.point.workload).prepare_command(job).line([]) for job in jobs]


def detach(connectstring: str | None, endpoints: str | None) -> str:
    """Remove what killed labs have left on an attached cluster; return what that was, or nothing.

    LabError if the cluster cannot be entered, or a lab is or may be alive.
    """
    target = naming.target(connectstring, endpoints)
    return attached.detach(target, read(target, feasible.programs()))


def describe(known: Prepared) -> tuple[dict[str, object], dict[str, object]]:
    """Describe a measurement for its manifest; return that and its identity."""
    experiment, facts, binaries = known.allowed, known.facts, known.binaries
    todo = experiment.sweep(known.size)
    versions = {"ndb": facts.ndb_version, "mysqld": facts.servers[0].version}
    for workload in {point.workload for point in todo.points}:
        versions |= registry.find(workload).versions(binaries)
    shared = {
        "versions": versions,
        "builds": {"sysbench": binaries.fingerprint()["sysbench"]},
        "plan": known.plan.identity(),
        "variants": {variant.name: variant.to_dict() for variant in experiment.variants},
        "profile": dataclasses.asdict(known.size),
    }
    described = {
        **shared,
        "attached": facts.to_dict(),
        "host": known.machine.to_dict(),
        "overrides": dict(known.given),
        "git_commit": manifest.git_commit(),
    }
    if experiment.asked:
        described["asked"] = shared["asked"] = dict(experiment.asked)
    identity = {
        **shared,
        "attached": facts.identity(),
        "host": known.machine.fingerprint,
        "sweep": dataclasses.asdict(todo),
    }
    return described, identity | manifest.of_experiment(experiment, known.size)


@dataclass
class AttachedCluster(Clusters):
    """An attached cluster in place of those that the lab starts: always the same one."""

    startable = False
    known: Prepared | None = field(default=None, kw_only=True)

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        known = self.known
        assert known
        self.close()
        self.starts += 1
        self.contrasts.clear()
        cluster = self._stack.enter_context(attached.running(known))
        first = dataclasses.replace(point, variant=DEFAULT_VARIANT)
        filled = self._fill(cluster, first, plan, binaries)
        own = getattr(registry.find(point.workload), "files", {})
        for name, text in (files(known.facts) | dict(own)).items():
            self.writer.add_config(name, text)
        self.writer.note(
            starts=self.starts,
            timings={"prepare_s": sum(load.seconds for _, load in filled)},
            filled=filled[0][1].to_dict(),
        )
        self.progress = False
        self._cluster, self._running, self._neighbours = cluster, (plan, binaries), False
        self._set, self._started_with = {}, {}


def files(facts: Facts) -> dict[str, str]:
    """Return what was read of the configuration as files, by name."""
    config = [(node, *pair) for node, known in facts.config.items() for pair in known.items()]
    variables = [
        (s.node_id, s.endpoint, *v) for s in facts.servers for v in sorted(s.variables.items())
    ]
    tables = {
        CONFIG: pd.DataFrame(config, columns=["node_id", "parameter", "value"]),
        VARIABLES: pd.DataFrame(variables, columns=["node_id", "endpoint", "variable", "value"]),
    }
    return {name: table.to_csv(index=False) for name, table in tables.items()}
