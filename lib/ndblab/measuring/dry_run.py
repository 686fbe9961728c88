"""What a measurement would do, without doing it: its plan, its time, its files, its commands."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from ndblab.hosts import connected, roles, spread
from ndblab.install import Binaries
from ndblab.install.binaries import named
from ndblab.judging import publication
from ndblab.machine import cgroups, host
from ndblab.measuring import feasible
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
    machine, places = host_of(described), _places(described, None)
    planned = experiment.plans(wanted, budget, machine, places)
    return _files(planned[DEFAULT_VARIANT], _binaries(described))


def dry_run(
    experiment: Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | str | None,
    described: str | None = None,
    engines: str | None = None,
    hosts: str | None = None,
    insecure_network: bool = False,
) -> str:
    """Describe what a measurement would do: the plan, the time, and every command in its order.

    The commands of the load are those that the measurement itself runs.

    Parameters
    ----------
    described : as for `configuration`; with `hosts`, what each of them is.
    engines : as for `measurement.measure`; without them a comparison shows the programs of this
        machine for both.
    hosts, insecure_network : as for `measurement.measure`; hosts are looked at, unless `described`.

    Raises
    ------
    LabError
        If `engines` or `hosts` do not suit the experiment, or cannot be used or reached.
    """
    if engines:
        experiment.check_engines(engines)
    if hosts:
        connected.refuse_unsuitable(experiment, hosts)
    wanted = experiment.size(size, overrides)
    machine = host_of(described)
    with _hosts(experiment, machine, described, hosts, insecure_network) as there:
        over = there and there.hosts
        planned = experiment.plans(wanted, budget, machine, _places(described, port), over)
        wrong = _problems(machine, planned.values(), there, described, engines)
    usual = planned[DEFAULT_VARIANT]
    lines = [
        f"# {experiment.name}: {experiment.question}",
        *([] if there and there.sites else [f"# {machine.describe()}"]),
        f"# budget {usual.budget.kind}: {usual.budget.reason}",
        f"# {count(len(experiment.sweep(wanted)), 'run')}, about "
        f"{duration(time_needed.sweep_s(experiment, wanted))} once installed",
        *contrasts(experiment, wanted),
        "# The lab itself writes the clusters' files and creates the databases for the load.",
        *(_where(there, hosts) if there else ()),
        *wrong,
    ]
    if experiment.compares_engines and not engines:
        lines += ["# It compares two installations, which --engines A,B names."]
    programs = _installations(described, engines)
    if None in programs:
        both = f"Not both are installed yet: {engines}"
        absent = both if engines else "NDB Cluster is not installed yet: ./lab install"
        return "\n".join([*lines, f"# {absent}"])
    known = over.described if over else {}
    lines += _commands(experiment, wanted, planned, programs, machine, known)
    engines_of = dict(zip((False, True), programs, strict=True))
    for each in experiment.planned_contrasts(wanted):
        if each.design == designs.TWINS and not (described or over):
            lines += _twins(experiment, wanted, each, planned, machine, engines_of)
        elif each.design == designs.RESTARTS:
            lines += _restarts(experiment, wanted, each, usual, programs[0])
    return "\n".join(lines)


def _where(there: connected.Connected, given: str | None) -> Iterator[str]:
    """Name the hosts, and what runs on each."""
    placed = there.hosts.placed
    over = count(len(placed), "host")
    if given in (None, roles.NAMESPACES):
        over = f"{len(placed)} network namespaces of this machine, named by letters"
    elif not there.sites:
        over += " such as this one; none was reached"
    yield f"# over {over}:"
    for one in placed:
        known = f"; {there.hosts.described[one.name].describe()}" if there.sites else ""
        yield f"#   {one.name}: {', '.join(one.roles)}{known}"


def _problems(
    machine: host.Host,
    plans: Collection[Plan],
    there: connected.Connected | None,
    described: str | None,
    engines: str | None,
) -> list[str]:
    """Return as comments what would keep a measurement from beginning here."""
    try:
        if there and there.sites:
            there.check(*plans)
        elif described is None:
            feasible.check(machine, *plans, engines=engines)
            if there and (why := connected.lacks()):
                return [f"# not possible here: {why}"]
        for plan in plans if described else ():
            feasible.check_size(machine, plan, free_bytes=math.inf)
    except LabError as error:
        return [f"# {line}" for line in str(error).splitlines()]
    return []


def _commands(
    experiment: Experiment,
    wanted: Profile,
    planned: Mapping[str, Plan],
    programs: tuple[Binaries, Binaries],
    machine: host.Host,
    known: Mapping[str, host.Host],
) -> Iterator[str]:
    """Yield the commands of all clusters and runs; `known` are the hosts, if there are several."""
    (first, second), usual = programs, planned[DEFAULT_VARIANT]
    running, told, shown = None, False, set()
    for point, repeat in experiment.sweep(wanted).order():
        plan, variant = planned[point.variant], experiment.variant(point.variant)
        binaries = second if variant.second_engine else first
        job = experiment.job(wanted, binaries, plan, point)
        groups = _groups(plan, known.get(job.host, machine), job.host)
        generator = registry.find(point.workload)
        if (plan, variant.second_engine) != running:
            yield from ("", f"# cluster of variant {point.variant}")
            if point.workload not in shown:
                shown.add(point.workload)
                yield from _inputs(getattr(generator, "files", {}))
                if getattr(generator, "statements", ()):
                    yield "# no server has checked this SQL yet: that needs the tables"
            yield from _changes(_files(plan, binaries), _files(usual, first))
            # Limits are set once the tables are filled.
            prefix = [] if groups else client_prefix(plan, None)
            yield from _started(experiment, wanted, point, plan, binaries, prefix)
            if groups:
                yield f"# CPU limits from here on, by control groups in {groups.base}"
            running, told = (plan, variant.second_engine), False
        yield f"# {point.run_id(repeat)}"
        if told != variant.neighbours:
            told = not told
            for node in plan.servers:
                statements = "; ".join(neighbours(plan, node, told))
                yield f"# {node.name}: {statements}"
        if variant.set_global:
            set_ = "; ".join(f"SET GLOBAL {k} = {v}" for k, v in variant.set_global.items())
            yield f"# every MySQL server: {set_}; put back for other variants"
        if variant.fault:
            before_s = wanted.warmup_s + wanted.duration_s
            yield from (f"# {line}" for line in variant.fault.describe(before_s))
        if job.processes > 1:
            yield f"# {job.processes} processes at the same time:"
        prefix = client_prefix(plan, groups)
        yield from (_on(job.host, command.line(prefix)) for command in generator.commands(job))


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


def _restarts(
    experiment: Experiment, size: Profile, contrast: Contrast, plan: Plan, binaries: Binaries
) -> Iterator[str]:
    """Describe a block of restarts: what each MySQL server is restarted with, and its load."""
    yield from ("", f"# {contrast.name}: for each block all MySQL servers are restarted at once")
    seconds = sum(contrast.length(experiment.slice_length(size)))
    whole = dataclasses.replace(size, warmup_s=0, duration_s=seconds)
    for name in (designs.A, designs.B):
        side = contrast.side(name)
        job = experiment.job(whole, binaries, plan, side.point, side.options)
        for node in job.servers:
            own = [f"{key}={value}" for key, value in node.options]
            own += [f"{len(node.node_ids)} connections"] if node.pool_node_ids else []
            yield f"# side {name}: {node.name} with {listed(own) if own else 'nothing of its own'}"
        commands = registry.find(side.point.workload).commands(job)
        yield from (command.line(client_prefix(plan, None)) for command in commands)
    order = " ".join(each.side for slot in contrast.block(1, size.seed) for each in slot)
    yield f"# loaded in turn, {order}, a slice each; in the next block they exchange all this"


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


def _inputs(files: Mapping[str, str]) -> Iterator[str]:
    """Show the inputs of a load of the user's own, such as the script that a file became."""
    for name, text in files.items():
        yield f"# {name}:"
        yield from (f"#   {line}".rstrip() for line in text.splitlines())


def _on(host: str, command: str) -> str:
    """Name the host of a command, if there are several."""
    return f"{command}  # on {host}" if host else command


def contrasts(experiment: Experiment, size: Profile) -> Iterator[str]:
    """Name the contrasts that would follow the sweep."""
    planned = experiment.planned_contrasts(size)
    if planned and experiment.asked:
        yield "# then blocks of a contrast:"
    elif planned:
        yield "# then contrasts, in which the clients of the best throughput follow from the sweep;"
        yield "# here, before it, they are the middle ones of the profile:"
    for each in planned:
        sides = listed(_side(side) for side in (each.a, each.b) if side)
        block = duration(time_needed.block_s(each, experiment, size))
        yield f"#   {each.name} ({each.design}, {block} a block): {sides}"
        yield f"#     for {', '.join(each.claims) or f'{each.blocks} blocks'}"


def _side(side: Side) -> str:
    """Name what differs from a plain load of the default variant."""
    point = side.point
    plain = Point(point.servers, point.clients)
    words = [f"{count(point.servers, 'server')}, {count(point.clients, 'client')}"]
    names = ("transporter", "workload", "variant")
    words += [getattr(point, n) for n in names if getattr(point, n) != getattr(plain, n)]
    words += [f"{name}={value}" for name, value in side.options.items()]
    words += [side.condition] if side.condition else []
    return f"({', '.join(words)})"


def host_of(described: str | None) -> host.Host:
    """Return the host that is described, or this one."""
    if described == BRIEF_HOST:
        return host.load(publication.FOLDER / "host.json")
    return host.load(Path(described)) if described else host.read()


def _places(described: str | None, port: int | str | None) -> Places:
    if described == BRIEF_HOST:
        return Places(brief=True)
    return start_stop.places(start_stop.home(), port)


@contextlib.contextmanager
def _hosts(
    experiment: Experiment,
    machine: host.Host,
    described: str | None,
    given: str | None,
    insecure_network: bool,
) -> Iterator[connected.Connected | None]:
    """Have the hosts of an experiment: those `given`, or namespaces if it needs several."""
    if not given and not experiment.hosts:
        yield None
    elif described or given in (None, roles.NAMESPACES):
        wanted = experiment.hosts, machine, given or roles.NAMESPACES
        hosts = spread.stand_ins(*wanted, insecure_network or given is None)
        yield connected.Connected(hosts, {}, {})
    else:
        with connected.opened(given, None, experiment.hosts, insecure_network) as there:
            yield there


def _binaries(described: str | None) -> Binaries | None:
    """The programs of this host; for another host their names, as on its PATH."""
    return named(PUBLISHED_NDB, PUBLISHED_SYSBENCH) if described else install.find()


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
    known = binaries or named(PUBLISHED_NDB, PUBLISHED_SYSBENCH)
    return {
        config.CONFIG_INI: config.config_ini(plan, known.ndb_version),
        config.MY_CNF: config.my_cnf(plan, known.mysqld_version),
    }


def _changes(files: Mapping[str, str], usual: Mapping[str, str]) -> Iterator[str]:
    """Name the lines of the configuration files that the usual cluster does not have."""
    for name, text in files.items():
        known = usual[name].splitlines()
        yield from (f"# {name}: {line}" for line in text.splitlines() if line not in known)
