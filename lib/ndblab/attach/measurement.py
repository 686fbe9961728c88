"""A measurement on a cluster that the lab did not start, from its endpoints to a dataset.

What the cluster does not allow of an experiment is left out, and said once.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from ndblab import install
from ndblab.attach import attachable, own_schema
from ndblab.attach import cluster as attached
from ndblab.attach import target as naming
from ndblab.attach.prepared import Prepared, prepared, read
from ndblab.error import LabError
from ndblab.formatting import duration
from ndblab.machine import host
from ndblab.measuring import dry_run, manifest, measurement, prerequisites
from ndblab.measuring.clusters import Clusters
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.attach.facts import Facts
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.point import Point

CONFIG, VARIABLES = "attached-config.csv", "attached-variables.csv"
"""Files of a dataset: parameters of the data nodes, variables of the MySQL servers."""


def measure(
    experiment: Experiment,
    connectstring: str,
    endpoints: str | None,
    size: str = "quick",
    overrides: Mapping[str, object] | None = None,
    progress: bool = True,
    again: bool = True,
    minutes: int | None = None,
) -> datasets.Dataset:
    """Measure what an attached cluster allows of an experiment; LabError says why if that fails.

    Completed runs are saved. `connectstring` and `endpoints` are as the user typed them, `again`
    and `minutes` as for `measurement.measure`.
    """
    attachable.check(experiment)
    target = naming.target(connectstring, endpoints)
    with prepared(experiment, target, size, overrides, _binaries(progress), True) as known:
        if progress:
            print(*known.notes(experiment, minutes), sep="\n", file=sys.stderr)
        described, identity = describe(known)
        command = measurement.command(experiment, size, "auto", known.given)
        command += f" --attach {shlex.quote(connectstring)} --endpoints {shlex.quote(endpoints)}"
        allowed, plans = known.allowed, {v.name: known.plan for v in known.allowed.variants}
        return measurement.carry_out(
            allowed, known.size, described, identity,
            lambda writer: AttachedCluster(
                allowed, known.size, plans, known.binaries, writer, progress, known=known
            ),
            command, progress=progress, again=again, minutes=minutes,
        )  # fmt: skip


def describe_only(
    experiment: Experiment,
    connectstring: str,
    endpoints: str | None,
    size: str = "quick",
    overrides: Mapping[str, object] | None = None,
) -> str:
    """Describe what `measure` would do: it reads the cluster, and writes nothing there."""
    attachable.check(experiment)
    target = naming.target(connectstring, endpoints)
    if (binaries := install.find()) is None:
        raise LabError(
            "A dry run reads the cluster by NDB's management client",
            found="no NDB Cluster on this machine",
            expected="ndb_mgm",
            next_step="Install it first: ./lab install",
        )
    with prepared(experiment, target, size, overrides, binaries, False) as known:
        notes = list(known.notes(experiment))
    allowed, todo = known.allowed, known.allowed.sweep(known.size)
    jobs = [allowed.job(known.size, binaries, known.plan, point) for point, _ in todo.order()]
    make, remove = own_schema.statements(allowed.schema)
    lines = [
        *(f"# {line}" for note in notes for line in note.splitlines()),
        *dry_run.contrasts(allowed, known.size),
        f"# endpoints: {', '.join(map(str, target.endpoints))}, as {target.login.user}",
        "# the schema, whose name is random, by the first of them",
        *(f"{statement};" for statement in make),
        "# the load; sysbench reads the password, if there is one, from a file in memory",
        sysbench.prepare_command(jobs[0]).line([]),
    ]
    for (point, repeat), job in zip(todo.order(), jobs, strict=True):
        lines.append(f"# {point.run_id(repeat)}")
        lines += (command.line([]) for command in sysbench.commands(job))
    ending = "# at the end, or by ./lab cluster.detach, after its tables one by one"
    return "\n".join([*lines, ending, f"{remove};"])


def detach(connectstring: str, endpoints: str | None) -> str:
    """Remove what killed labs have left on an attached cluster; return what that was, or nothing.

    LabError if the cluster cannot be entered, or a lab is or may be alive.
    """
    target = naming.target(connectstring, endpoints)
    return attached.detach(target, read(target, _binaries(progress=True)))


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
        "profile": known.size.to_dict(),
    }
    described = {
        **shared,
        "attached": facts.to_dict(),
        "host": known.machine.to_dict(),
        "overrides": dict(known.given),
        "git_commit": manifest.git_commit(),
    }
    identity = {
        **shared,
        "attached": facts.identity(),
        "host": known.machine.fingerprint,
        "sweep": todo.to_dict(),
    }
    return described, identity | manifest.of_contrasts(experiment, known.size)


@dataclass
class AttachedCluster(Clusters):
    """An attached cluster in place of those that the lab starts: always the same one."""

    restarts = False
    known: Prepared | None = field(default=None, kw_only=True)

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        known = self.known
        assert known
        self.close()
        self.starts += 1
        self.contrasts.clear()
        cluster = self._stack.enter_context(
            attached.running(
                known.target, known.facts, plan, binaries, known.allowed.schema, known.options
            )
        )
        first = dataclasses.replace(point, variant=DEFAULT_VARIANT)
        filled = sysbench.prepare(cluster, self.experiment.job(self.size, binaries, plan, first))
        for name, text in files(known.facts).items():
            self.writer.add_config(name, text)
        self.writer.note(
            starts=self.starts,
            timings={"prepare_s": filled.seconds},
            filled=filled.to_dict(),
        )
        self.progress = False
        self._cluster, self._running, self._neighbours = cluster, (plan, binaries), False


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


def _binaries(progress: bool) -> Binaries:
    """Return the programs: of NDB's only its management client is used."""
    if install.find() is None:
        prerequisites.require(host.read(), installing=True)
        if progress:
            seconds = duration(install.usual_s())
            print(f"one-time install of NDB's client and sysbench: about {seconds} more",
                  file=sys.stderr)  # fmt: skip
    return install.ensure(progress=progress)
