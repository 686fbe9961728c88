"""A measurement on a cluster that the lab did not start, from its endpoints to a dataset.

What the cluster does not allow of an experiment is left out, and said once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from ndblab import install
from ndblab.attach import attachable, own_schema
from ndblab.attach import cluster as attached
from ndblab.attach import facts as reading
from ndblab.attach import plan as planning
from ndblab.attach import target as naming
from ndblab.error import LabError
from ndblab.formatting import duration
from ndblab.install.binaries import is_at_least
from ndblab.machine import host
from ndblab.measuring import dry_run, manifest, measurement, prerequisites
from ndblab.measuring.clusters import Clusters, described_filling
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.attach.attachable import Attachable
    from ndblab.attach.facts import Facts
    from ndblab.attach.target import Target
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.point import Point
    from ndblab.planning.profile import Profile

CONFIG, VARIABLES = "attached-config.csv", "attached-variables.csv"
"""Files of a dataset: parameters of the data nodes, variables of the MySQL servers."""
OTHERS_PER_S = 100
"""Operations of the data nodes up to which nobody else is taken to use a cluster."""
_KINDS = {"NDB": "data node", "MGM": "management node", "API": "API node"}


@dataclass(frozen=True)
class Prepared:
    """What is known before the first statement that writes.

    `given` are the options that the user gave of a size; `options` is the descriptor of the file
    with the password, if there is one.
    """

    size: Profile
    given: Mapping[str, object]
    binaries: Binaries
    machine: host.Host
    target: Target
    facts: Facts
    plan: Plan
    allowed: Attachable
    options: int | None

    def notes(self, experiment: Experiment, minutes: int | None = None) -> Iterator[str]:
        """Yield what the user should know before it begins."""
        yield f"{experiment.name}: {experiment.question}"
        yield self.machine.describe()
        yield measurement.expected(self.allowed, self.size, minutes)
        yield f"budget {self.plan.budget.kind}: {self.plan.budget.reason}"
        if out := attachable.left_out(experiment, len(self.target.endpoints), self.size):
            yield "\n  ".join(["not with --attach:", *out])
        if idle := self.facts.deactivated:
            names = ", ".join(f"{_KINDS[node.kind]} {node.node_id}" for node in idle)
            yield f"deactivated, and so left out: {names}"
        if (others := attached.others_per_s(self.target)) > OTHERS_PER_S:
            yield f"others use the cluster too, with {others:.0f} operations/s before it begins"
        if len(list(attached.local_processes(self.facts, self.plan))) < len(self.plan.nodes):
            yield (
                "not all of its nodes run on this host: no CPU of its processes, only of NDB "
                "threads"
            )
        if any(endpoint.on_network for endpoint in self.target.endpoints):
            yield "over the network sysbench sends its queries and their answers in plain text"
        servers = self.facts.servers
        if logging := [str(s.endpoint) for s in servers if s.variables.get("log_bin") == "ON"]:
            yield (
                f"{', '.join(logging)} write a binary log: what fills the lab's schema goes into "
                "it, and to replicas"
            )
        if any(not is_at_least(server.version, "9.0.0") for server in servers):
            yield "ndbinfo before 9.0 does not tell transporters: UseShm does"


@contextlib.contextmanager
def _prepared(
    experiment: Experiment,
    target: Target,
    size: str,
    overrides: Mapping[str, object] | None,
    binaries: Binaries,
    clearing: bool,
) -> Iterator[Prepared]:
    """Read a cluster and decide what is measured; first remove what labs have left, if `clearing`.

    LabError if the cluster or the account cannot be used for it.
    """
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    fitting = _size(experiment, size, given, len(target.endpoints))
    facts = _read(target, binaries)
    if clearing and (removed := attached.detach(target, facts)):
        print(f"removed what a killed lab had left: {removed}", file=sys.stderr)
        facts = _read(target, binaries)
    planning.check_room(facts, fitting)
    plan = planning.plan(facts, attached.places(), max(fitting.clients))
    with attached.secret(target.login) as options:
        allowed = attachable.part(
            experiment, len(target.endpoints), facts.transporter,
            own_schema.new_name(facts.servers[0].node_id), target.login.user,
            f"/proc/self/fd/{options}" if options is not None else "",
        )  # fmt: skip
        yield Prepared(fitting, given, binaries, host.read(), target, facts, plan, allowed, options)


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
    """Measure what an attached cluster allows of an experiment.

    Parameters
    ----------
    connectstring, endpoints : as the user typed them.
    again, minutes : as for `measurement.measure`.

    Raises
    ------
    LabError
        If the cluster or the account cannot be used for it; completed runs are saved.
    """

    attachable.check(experiment)
    target = naming.target(connectstring, endpoints)
    with _prepared(
        experiment, target, size, overrides, _binaries(progress), clearing=True
    ) as prepared:
        if progress:
            print(*prepared.notes(experiment, minutes), sep="\n", file=sys.stderr)
        described, identity = describe(prepared)
        typed = {"attach": connectstring, "endpoints": endpoints}
        command = measurement.command(experiment, size, "auto", prepared.given)
        command += "".join(f" --{name} {shlex.quote(str(word))}" for name, word in typed.items())
        allowed, plan = prepared.allowed, prepared.plan
        return measurement.carry_out(
            allowed, prepared.size, described, identity,
            lambda writer: AttachedCluster(
                allowed, prepared.size, {v.name: plan for v in allowed.variants},
                prepared.binaries, writer, progress, prepared=prepared,
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
    """Describe what `measure` would do: it reads the cluster, and writes nothing there.

    Raises
    ------
    LabError
        As `measure`, or if the programs are not installed: then nothing can be read.
    """
    attachable.check(experiment)
    target = naming.target(connectstring, endpoints)
    if (binaries := install.find()) is None:
        raise LabError(
            "A dry run reads the cluster by NDB's management client",
            found="no NDB Cluster on this machine",
            expected="ndb_mgm",
            next_step="Install it first: ./lab install",
        )
    with _prepared(experiment, target, size, overrides, binaries, clearing=False) as prepared:
        allowed, notes = prepared.allowed, list(prepared.notes(experiment))
    todo = allowed.sweep(prepared.size)
    jobs = [allowed.job(prepared.size, binaries, prepared.plan, point) for point, _ in todo.order()]
    make, remove = own_schema.statements(allowed.schema)
    lines = [
        *(f"# {line}" for note in notes for line in note.splitlines()),
        *dry_run.contrasts(allowed, prepared.size),
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
    return "\n".join([*lines, ending, *(f"{statement};" for statement in remove)])


def detach(connectstring: str, endpoints: str | None) -> str:
    """Remove what killed labs have left on an attached cluster; return what that was, or nothing.

    Raises
    ------
    LabError
        If the cluster cannot be entered, or a lab is or may be alive.
    """
    target = naming.target(connectstring, endpoints)
    return attached.detach(target, _read(target, _binaries(progress=True)))


def describe(prepared: Prepared) -> tuple[dict[str, object], dict[str, object]]:
    """Describe a measurement for its manifest; return that and its identity."""
    experiment, facts, binaries = prepared.allowed, prepared.facts, prepared.binaries
    todo = experiment.sweep(prepared.size)
    versions = {"ndb": facts.ndb_version, "mysqld": facts.servers[0].version}
    for workload in {point.workload for point in todo.points}:
        versions |= registry.find(workload).versions(binaries)
    shared = {
        "versions": versions,
        "builds": {"sysbench": binaries.fingerprint()["sysbench"]},
        "plan": prepared.plan.identity(),
        "variants": {variant.name: variant.to_dict() for variant in experiment.variants},
        "profile": prepared.size.to_dict(),
    }
    described = {
        **shared,
        "attached": facts.to_dict(),
        "host": prepared.machine.to_dict(),
        "overrides": dict(prepared.given),
        "git_commit": manifest.git_commit(),
    }
    identity = {
        **shared,
        "attached": facts.identity(),
        "host": prepared.machine.fingerprint,
        "sweep": todo.to_dict(),
    }
    return described, identity | manifest.of_contrasts(experiment, prepared.size)


@dataclass
class AttachedCluster(Clusters):
    """An attached cluster in place of those that the lab starts: always the same one."""

    prepared: Prepared | None = field(default=None, kw_only=True)

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        known = self.prepared
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
            filled=described_filling(filled),
        )
        self.progress = False
        self._cluster, self._running, self._neighbours = cluster, (plan, binaries), False


def files(facts: Facts) -> dict[str, str]:
    """Return what was read of the configuration as files, by name."""
    config = (
        (node, name, value)
        for node, parameters in facts.config.items()
        for name, value in parameters.items()
    )
    variables = (
        (server.node_id, server.endpoint, name, value)
        for server in facts.servers
        for name, value in sorted(server.variables.items())
    )
    return {
        CONFIG: _csv(config, "node_id", "parameter", "value"),
        VARIABLES: _csv(variables, "node_id", "endpoint", "variable", "value"),
    }


def _csv(rows: Iterable[tuple], *columns: str) -> str:
    return pd.DataFrame(rows, columns=columns).to_csv(index=False)


def _read(target: Target, binaries: Binaries) -> Facts:
    """Read a cluster; LabError if it is not whole, or not that of its endpoints."""
    facts = reading.read(target, binaries)
    planning.check(facts)
    return facts


def _binaries(progress: bool) -> Binaries:
    """Return the programs: of NDB's only its management client is used."""
    if install.find() is None:
        prerequisites.require(host.read(), installing=True)
        if progress:
            seconds = duration(measurement.INSTALL_S)
            print(f"one-time install of NDB's client and sysbench: about {seconds} more",
                  file=sys.stderr)  # fmt: skip
    return install.ensure(progress=progress)


def _size(
    experiment: Experiment, name: str, given: Mapping[str, object], endpoints: int
) -> Profile:
    """Return the size that so many endpoints allow.

    Raises
    ------
    LabError
        If the user asked for more servers than that.
    """
    size = experiment.size(name, given)
    if max(size.servers) <= endpoints:
        return size
    if "servers" in given:
        raise LabError(
            "There are more --servers than endpoints",
            found=f"{max(size.servers)} servers, {endpoints} endpoints",
            expected=f"at most {endpoints}",
            next_step="Name more --endpoints, or fewer --servers.",
        )
    fitting = tuple(n for n in size.servers if n <= endpoints)
    return dataclasses.replace(size, servers=fitting or (endpoints,))
