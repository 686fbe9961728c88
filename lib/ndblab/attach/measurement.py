"""A measurement on a cluster that the lab did not start, from its endpoints to a dataset.

In: an experiment, a connect string and endpoints. Out: a dataset in `data/runs` that names the
cluster. What the cluster does not allow is left out, and said once.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndblab import install
from ndblab.attach import attachable, own_schema
from ndblab.attach import cluster as attached
from ndblab.attach import plan as planning
from ndblab.attach.cluster import Target
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
    from ndblab.attach.plan import Facts
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.point import Point
    from ndblab.planning.profile import Profile

CONFIG, VARIABLES = "attached-config.csv", "attached-variables.csv"
"""Files of a dataset: parameters of the data nodes, variables of the MySQL servers."""
OTHERS_PER_S = 100
"""Operations of the data nodes up to which nobody else is taken to use a cluster."""


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

    def say(text: str) -> None:
        if progress:
            print(text, file=sys.stderr)

    attachable.check(experiment)
    wanted = attached.target(connectstring, endpoints)
    machine, binaries = host.read(), _binaries(progress)
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    fitting = _size(experiment, size, given, len(wanted.endpoints))
    facts = attached.read(wanted, binaries)
    if removed := attached.detach(wanted, facts):
        say(f"removed what a lab had left: {removed}")
        facts = attached.read(wanted, binaries)
    planning.check_room(facts, fitting)
    plan = planning.plan(facts, attached.places(), max(fitting.clients))
    with attached.secret(wanted.login) as options:
        allowed = _allowed(experiment, wanted, facts, options)
        say(f"{experiment.name}: {experiment.question}\n{machine.describe()}")
        say(measurement.expected(allowed, fitting, minutes))
        say(f"budget {plan.budget.kind}: {plan.budget.reason}")
        for line in _notes(experiment, facts, plan, wanted, fitting):
            say(line)
        described, identity = describe(allowed, fitting, machine, binaries, facts, plan, given)
        typed = {"attach": connectstring, "endpoints": endpoints}
        command = measurement.command(experiment, size, "auto", given)
        command += "".join(f" --{name} {shlex.quote(str(word))}" for name, word in typed.items())
        return measurement.carry_out(
            allowed, fitting, described, identity,
            lambda writer: AttachedCluster(
                allowed, fitting, {v.name: plan for v in allowed.variants}, binaries, writer,
                progress, wanted=wanted, facts=facts, options=options,
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
    wanted, machine = attached.target(connectstring, endpoints), host.read()
    if (binaries := install.find()) is None:
        raise LabError(
            "A dry run reads the cluster by NDB's management client",
            found="no NDB Cluster on this machine",
            expected="ndb_mgm",
            next_step="Install it first: ./lab install",
        )
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    fitting = _size(experiment, size, given, len(wanted.endpoints))
    facts = attached.read(wanted, binaries)
    planning.check_room(facts, fitting)
    plan = planning.plan(facts, attached.places(), max(fitting.clients))
    with attached.secret(wanted.login) as options:
        allowed = _allowed(experiment, wanted, facts, options)
        todo = allowed.sweep(fitting)
        jobs = [allowed.job(fitting, binaries, plan, point) for point, _ in todo.order()]
    begin, end = own_schema.described()
    lines = [
        f"# {experiment.name}: {experiment.question}",
        f"# {machine.describe()}",
        f"# budget {plan.budget.kind}: {plan.budget.reason}",
        f"# {measurement.expected(allowed, fitting, None)}",
        *dry_run.contrasts(allowed, fitting),
        *(f"# {line}" for note in _notes(experiment, facts, plan, wanted, fitting)
          for line in note.splitlines()),
        f"# on every endpoint: {', '.join(map(str, wanted.endpoints))}, as {wanted.login.user}",
        *(f"{statement};" for statement in begin),
        "# the load; sysbench reads the password, if there is one, from a file in memory",
        sysbench.prepare_command(jobs[0]).line([]),
    ]  # fmt: skip
    for (point, repeat), job in zip(todo.order(), jobs, strict=True):
        lines.append(f"# {point.run_id(repeat)}")
        lines += (command.line([]) for command in sysbench.commands(job))
    ending = "# at the end, or by ./lab cluster.detach; the tables one by one"
    return "\n".join([*lines, ending, *(f"{statement};" for statement in end)])


def _allowed(
    experiment: Experiment, wanted: Target, facts: Facts, options: int | None
) -> Attachable:
    """Return what a cluster allows of an experiment, with the file of the password."""
    file = f"/proc/self/fd/{options}" if options is not None else ""
    return attachable.part(
        experiment, len(wanted.endpoints), facts.transporter, own_schema.SCHEMA,
        wanted.login.user, file,
    )  # fmt: skip


def detach(connectstring: str, endpoints: str | None) -> str:
    """Remove what a killed lab has left on an attached cluster; return what that was, or nothing.

    Raises
    ------
    LabError
        If the cluster cannot be entered, or what is there is not a lab's.
    """
    wanted = attached.target(connectstring, endpoints)
    return attached.detach(wanted, attached.read(wanted, _binaries(progress=True)))


def describe(
    experiment: Attachable,
    size: Profile,
    machine: host.Host,
    binaries: Binaries,
    facts: Facts,
    plan: Plan,
    overrides: Mapping[str, object],
) -> tuple[dict[str, object], dict[str, object]]:
    """Describe a measurement for its manifest; return that and its identity."""
    todo = experiment.sweep(size)
    versions = {"ndb": facts.ndb_version, "mysqld": facts.servers[0].version}
    for workload in {point.workload for point in todo.points}:
        versions |= registry.find(workload).versions(binaries)
    shared = {
        "versions": versions,
        "builds": {"sysbench": binaries.fingerprint()["sysbench"]},
        "plan": plan.identity(),
        "variants": {variant.name: variant.to_dict() for variant in experiment.variants},
        "profile": size.to_dict(),
    }
    described = {
        **shared,
        "attached": facts.to_dict(),
        "host": machine.to_dict(),
        "overrides": dict(overrides),
        "git_commit": manifest.git_commit(),
    }
    identity = {
        **shared,
        "attached": facts.identity(),
        "host": machine.fingerprint,
        "sweep": todo.to_dict(),
    }
    return described, identity | manifest.of_contrasts(experiment, size)


@dataclass
class AttachedCluster(Clusters):
    """An attached cluster in place of those that the lab starts: always the same one."""

    wanted: Target | None = field(default=None, kw_only=True)
    facts: Facts | None = field(default=None, kw_only=True)
    options: int | None = field(default=None, kw_only=True)

    def _start(self, point: Point, plan: Plan, binaries: Binaries) -> None:
        assert self.wanted
        assert self.facts
        self.close()
        self.starts += 1
        self.contrasts.clear()
        running = attached.running(self.wanted, self.facts, plan, binaries, self.options)
        cluster = self._stack.enter_context(running)
        first = dataclasses.replace(point, variant=DEFAULT_VARIANT)
        job = self.experiment.job(self.size, binaries, plan, first)
        filled = sysbench.prepare(cluster, job)
        for name, text in files(self.facts).items():
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
    return {
        CONFIG: _csv(
            ("node_id", "parameter", "value"),
            (
                (node, name, value)
                for node, parameters in facts.config.items()
                for name, value in parameters.items()
            ),
        ),
        VARIABLES: _csv(
            ("node_id", "endpoint", "variable", "value"),
            (
                (server.node_id, server.endpoint, name, value)
                for server in facts.servers
                for name, value in sorted(server.variables.items())
            ),
        ),
    }


def _csv(columns, rows) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _binaries(progress: bool) -> Binaries:
    """Return the programs: of NDB's only its management client is used."""
    if install.find() is None:
        prerequisites.require(host.read(), installing=True)
        if progress:
            seconds = duration(install.usual_s())
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


def _notes(experiment: Experiment, facts: Facts, plan: Plan, wanted: Target, size: Profile):
    """Yield what the user should know before it begins."""
    if out := attachable.left_out(experiment, len(wanted.endpoints), size):
        yield "\n  ".join(["not with --attach:", *out])
    if (others := attached.others_per_s(wanted)) > OTHERS_PER_S:
        yield f"others use the cluster too, with {others:.0f} operations/s before it begins"
    if len(list(attached.local_processes(facts, plan))) < len(plan.nodes):
        yield "not all of its nodes run on this host: no CPU of its processes, only of NDB threads"
    if any(endpoint.on_network for endpoint in wanted.endpoints):
        yield "over the network sysbench sends its queries and their answers in plain text"
    logging = [s.endpoint for s in facts.servers if s.variables.get("log_bin") == "ON"]
    if logging:
        yield (
            f"{', '.join(map(str, logging))} write a binary log: what fills the schema "
            f"{own_schema.SCHEMA} goes into it, and to replicas"
        )
    if any(not is_at_least(s.version, "9.0.0") for s in facts.servers):
        yield "ndbinfo before 9.0 does not tell transporters: UseShm does"
