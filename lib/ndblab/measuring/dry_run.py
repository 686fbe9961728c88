"""What a measurement would do, without doing it: its plan, its time, its files, its commands."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.cluster.cluster import client_prefix, neighbours
from ndblab.design import catalogue, time_needed
from ndblab.design import contrast as designs
from ndblab.design.contrast import Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.formatting import count, duration, listed
from ndblab.hosts import connected
from ndblab.install import Binaries
from ndblab.judging import publication
from ndblab.machine import cgroups, host
from ndblab.measuring import feasible, measurement
from ndblab.planning import config, twins
from ndblab.planning.deployment import Plan
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile
from ndblab.planning.shape import Places
from ndblab.workloads import registry

BRIEF_HOST = "brief"
PUBLISHED_NDB, PUBLISHED_SYSBENCH = "8.0.26", "1.1.0"
"""The versions of the brief (Table 2 and its text), for hosts other than this one."""


def configuration(
    described: str | None, size: str, budget: str, overrides: dict[str, object]
) -> dict[str, str]:
    """Write config.ini and my.cnf of the multi-server sweep for a host, by file name.

    Parameters
    ----------
    described : the file of a host description, "brief" for the brief's own server with the
        places it published, or None for this host.
    """
    experiment = catalogue.find(figure=6)
    wanted = experiment.size("brief" if described == BRIEF_HOST else size, overrides)
    _, planned = _plan(experiment, wanted, budget, None, described)
    binaries = _binaries(described)
    return _files(planned[DEFAULT_VARIANT], binaries)


def dry_run(
    experiment: Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | str | None,
    described: str | None = None,
    engines: str | None = None,
) -> str:
    """Describe what a measurement would do: the plan, the time, and every command in its order.

    The commands of the load are those that the measurement itself runs.

    Parameters
    ----------
    described : as for `configuration`.
    engines : as for `measurement.measure`; without them a comparison shows the programs of this
        machine for both.

    Raises
    ------
    LabError
        If the experiment compares no engines, or one of those named cannot be used.
    """
    if engines:
        experiment.check_engines(engines)
    wanted = experiment.size(size, overrides)
    todo = experiment.sweep(wanted)
    machine, planned = _plan(experiment, wanted, budget, port, described)
    hosts = planned[DEFAULT_VARIANT].hosts
    usual = planned[DEFAULT_VARIANT]
    estimate = duration(time_needed.sweep_s(experiment, wanted))
    lines = [
        f"# {experiment.name}: {experiment.question}",
        f"# {machine.describe()}",
        f"# budget {usual.budget.kind}: {usual.budget.reason}",
        f"# {count(len(todo), 'run')}, about {estimate} once installed",
        *contrasts(experiment, wanted),
        "# The lab itself writes the clusters' files and creates the databases for the load.",
    ]
    if hosts:
        lines += [f"# over {len(hosts)} network namespaces of this machine, named by letters:"]
        lines += [f"#   {each.name}: {', '.join(each.roles)}" for each in hosts]
    try:
        if described is None:
            measurement.check(machine, *planned.values(), engines=engines)
            if hosts and (why := connected.lacks()):
                lines += [f"# not possible here: {why}"]
        for plan in planned.values() if described else ():
            measurement.check_size(machine, plan, disk_free_bytes=math.inf)
    except LabError as error:
        lines += [f"# {line}" for line in str(error).splitlines()]
    if experiment.compares_engines and not engines:
        lines += ["# It compares two installations, which --engines A,B names."]
    first, second = _installations(described, engines)
    if first is None or second is None:
        absent = "NDB Cluster is not installed yet: ./lab install"
        if engines:
            absent = f"Not both are installed yet: {engines}"
        return "\n".join([*lines, f"# {absent}"])
    running, told = None, False
    for point, repeat in todo.order():
        plan, variant = planned[point.variant], experiment.variant(point.variant)
        binaries, fault = second if variant.second_engine else first, variant.fault
        job = experiment.job(wanted, binaries, plan, point)
        generator, groups = registry.find(point.workload), _groups(plan, machine, job.host)
        if (plan, variant.second_engine) != running:
            lines += ["", f"# cluster of variant {point.variant}"]
            lines += _changes(_files(plan, binaries), _files(usual, first))
            # Limits are set once the tables are filled.
            prefix = [] if groups else client_prefix(plan, None)
            lines += _started(experiment, wanted, point, plan, binaries, prefix)
            if groups:
                lines.append(f"# CPU limits from here on, by control groups in {groups.base}")
            running, told = (plan, variant.second_engine), False
        lines.append(f"# {point.run_id(repeat)}")
        if told != variant.neighbours:
            told = not told
            for node in plan.servers:
                statements = "; ".join(neighbours(plan, node, told))
                lines.append(f"# {node.name}: {statements}")
        if variant.set_global:
            set_ = "; ".join(f"SET GLOBAL {k} = {v}" for k, v in variant.set_global.items())
            lines.append(f"# every MySQL server: {set_}; put back for other variants")
        if fault:
            before_s = wanted.warmup_s + wanted.duration_s
            lines += (f"# {line}" for line in fault.describe(before_s))
        if job.processes > 1:
            lines.append(f"# {job.processes} processes at the same time:")
        prefix = client_prefix(plan, groups)
        lines += (_on(job.host, command.line(prefix)) for command in generator.commands(job))
    engines_of = {False: first, True: second}
    for each in _of_twins(experiment, wanted) if described is None else ():
        lines += _twins(experiment, wanted, each, planned, machine, engines_of)
    return "\n".join(lines)


def _started(
    experiment: Experiment,
    size: Profile,
    point: Point,
    plan: Plan,
    binaries: Binaries,
    prefix: Sequence[str],
) -> Iterator[str]:
    """Write the commands that start a cluster and fill its tables."""
    for node in plan.nodes:
        yield _on(node.host, shlex.join(config.node_argv(plan, node, binaries)))
    for name in experiment.filled(point.variant):
        job = experiment.job(size, binaries, plan, dataclasses.replace(point, variant=name))
        yield _on(job.host, registry.find(point.workload).prepare_command(job).line(prefix))


def _of_twins(experiment: Experiment, size: Profile) -> list[Contrast]:
    import pandas as pd

    found = experiment.contrasts(experiment, size, pd.DataFrame()) if experiment.contrasts else ()
    return [each for each in found if each.design == designs.TWINS]


def _twins(
    experiment: Experiment,
    size: Profile,
    contrast: Contrast,
    planned: Mapping[str, Plan],
    machine: host.Host,
    engines_of: Mapping[bool, Binaries],
) -> Iterator[str]:
    """Describe the first block of twins: both clusters in their places, then the load of each."""
    usual, slots = planned[DEFAULT_VARIANT], contrast.block(1, size.seed)
    yield from (
        "",
        f"# twins {contrast.name}: two clusters, started at the same moment,",
        "# each in a control group of its own of equal weight, if the host has such",
    )
    points = {name: contrast.side(name).point for name in (designs.A, designs.B)}
    plans = [planned[point.variant] for point in points.values()]
    if why := twins.lack(*plans, machine, feasible.disk_free_bytes(plans[0])):
        yield f"# not possible here, so one cluster after the other: {why}"
        return
    places = (plans[0].places, start_stop.places_of_twin(plans[0].places))
    seconds = sum(contrast.length(experiment.slice_length(size)))
    whole, loads = dataclasses.replace(size, warmup_s=0, duration_s=seconds), {}
    for (name, point), plan, there in zip(points.items(), plans, places, strict=True):
        binaries = engines_of[experiment.variant(point.variant).second_engine]
        plan = twins.moved(plan, there)
        groups = _groups(plan, machine, "")
        prefix = client_prefix(plan, groups)
        yield f"# side {name}, variant {point.variant}, in {there.cluster_dir}"
        yield from _changes(_files(plan, binaries), _files(usual, engines_of[False]))
        yield from _started(experiment, size, point, plan, binaries, [] if groups else prefix)
        job = experiment.job(whole, binaries, plan, point, contrast.side(name).options)
        generator = registry.find(point.workload)
        loads[name] = [command.line(prefix) for command in generator.commands(job)]
    order = " ".join(each.side for slot in slots for each in slot)
    yield f"# loaded in turn, {order}, a slice each; with exchanged places in the next block"
    for name, commands in loads.items():
        yield from (f"# side {name}", *commands)


def _on(host: str, command: str) -> str:
    """Name the host of a command, if there are several."""
    return f"{command}  # on {host}" if host else command


def contrasts(experiment: Experiment, size: Profile) -> Iterator[str]:
    """Name the contrasts that would follow the sweep."""
    import pandas as pd

    if experiment.contrasts is None:
        return
    if experiment.asked:
        yield "# then blocks of a contrast:"
    else:
        yield "# then contrasts, in which the clients of the best throughput follow from the sweep;"
        yield "# here, before it, they are the middle ones of the profile:"
    for each in experiment.contrasts(experiment, size, pd.DataFrame()):
        sides = listed(_side(side) for side in (each.a, each.b) if side)
        block = duration(time_needed.block_s(each, experiment, size))
        yield f"#   {each.name} ({each.design}, {block} a block): {sides}"
        yield f"#     for {', '.join(each.claims) or f'{each.blocks} blocks'}"


def _side(side: Side) -> str:
    """Name what differs from a plain load of the default variant."""
    point = side.point
    plain = Point(point.servers, point.clients)
    words = [f"{count(point.servers, 'server')}, {count(point.clients, 'client')}"]
    words += [
        getattr(point, name)
        for name in ("transporter", "workload", "variant")
        if getattr(point, name) != getattr(plain, name)
    ]
    words += [f"{name}={value}" for name, value in side.options.items()]
    words += [side.condition] if side.condition else []
    return f"({', '.join(words)})"


def _plan(
    experiment: Experiment,
    size: Profile,
    budget: str,
    port: int | str | None,
    described: str | None,
) -> tuple[host.Host, dict[str, Plan]]:
    """Plan the cluster of each variant on the host that is described, or on this one."""
    if described == BRIEF_HOST:
        machine, places = host.load(publication.FOLDER / "host.json"), Places(brief=True)
    else:
        machine = host.load(Path(described)) if described else host.read()
        places = start_stop.places(start_stop.home(), port)
    hosts = connected.stand_ins(experiment.hosts, machine) if experiment.hosts else None
    return machine, experiment.plans(size, budget, machine, places, hosts)


def _binaries(described: str | None) -> Binaries | None:
    """The programs of this host; for another host their names, as on its PATH."""
    if described is None:
        return install.find()
    names = ("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm", "sysbench")
    return Binaries(
        **{name: Path(name) for name in names},
        ndb_version=PUBLISHED_NDB,
        mysqld_version=PUBLISHED_NDB,
        sysbench_version=PUBLISHED_SYSBENCH,
        origin="PATH",
        basedir=Path("/usr"),
        mysqld_args=(),
        sysbench_env={},
    )


def _installations(
    described: str | None, engines: str | None
) -> tuple[Binaries | None, Binaries | None]:
    """The programs of the usual variants and those of the second engine; None if not installed."""
    if engines and described is None:
        from ndblab.install.engines import find

        return find(engines) or (None, None)
    usual = _binaries(described)
    return usual, usual


def _groups(plan: Plan, machine: host.Host, load_host: str) -> cgroups.Groups | None:
    if plan.budget.kind != "scaled":
        return None
    folders = {each.name: each.folder for each in plan.hosts}
    name = start_stop.groups_name(Path(folders.get(load_host, plan.places.cluster_dir)))
    return cgroups.groups(machine.cpu_controller, name)


def _files(plan: Plan, binaries: Binaries | None) -> dict[str, str]:
    """Write the configuration files for these programs, or for those of the brief."""
    known = (binaries.ndb_version, binaries.mysqld_version) if binaries else None
    ndb, mysqld = known or (PUBLISHED_NDB, PUBLISHED_NDB)
    return {
        config.CONFIG_INI: config.config_ini(plan, ndb),
        config.MY_CNF: config.my_cnf(plan, mysqld),
    }


def _changes(files: Mapping[str, str], usual: Mapping[str, str]) -> Iterator[str]:
    """Name the lines of the configuration files that the usual cluster does not have."""
    for name, text in files.items():
        known = usual[name].splitlines()
        yield from (f"# {name}: {line}" for line in text.splitlines() if line not in known)
