"""What a measurement would do, without doing it: its plan, its time, its files, its commands."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.design import catalogue, time_needed
from ndblab.design import contrast as designs
from ndblab.error import LabError
from ndblab.formatting import count, duration, listed
from ndblab.hosts import connected, roles, spread
from ndblab.install.binaries import named
from ndblab.judging import publication
from ndblab.machine import host
from ndblab.measuring import feasible, performing
from ndblab.measuring.dry_run import noted
from ndblab.planning import twins
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.shape import Places
from ndblab.workloads import turns

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast, Side, Slice
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.measuring.dry_run.noted import NotedClusters
    from ndblab.measuring.request import Request
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Job

BRIEF_HOST = "brief"


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
    return noted.files(planned[DEFAULT_VARIANT], _binaries(described))


def dry_run(experiment: Experiment, request: Request, described: str | None = None) -> str:
    """Describe what a measurement would do: the plan, the time, and every command in order.

    Without `request.engines`, a comparison of engines shows the programs of this machine for both.
    LabError if engines or hosts do not suit the experiment, or cannot be used or reached.

    Parameters
    ----------
    described : as for `configuration`; it describes each of several hosts, which are inspected
        otherwise.
    """
    engines, hosts = request.engines, request.hosts
    if engines:
        experiment.check_engines(engines)
    if hosts:
        connected.refuse_unsuitable(experiment, hosts)
    wanted = experiment.size(request.size, request.overrides)
    machine = host_of(described)
    with _hosts(experiment, machine, described, request) as there:
        over, places = there and there.hosts, _places(described, request.port)
        planned = experiment.plans(wanted, request.budget, machine, places, over)
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
        *(_where(there, hosts) if there else ()), *wrong,
    ]  # fmt: skip
    if experiment.compares_engines and not engines:
        lines += ["# It compares two installations, which --engines A,B names."]
    programs = _installations(described, engines)
    if None in programs:
        both = f"Not both are installed yet: {engines}"
        absent = both if engines else "NDB Cluster is not installed yet: ./lab install"
        return "\n".join([*lines, f"# {absent}"])
    clusters = noted.NotedClusters(
        experiment, wanted, planned, programs[0], noted.Unwritten(), False, programs[1],
        machine=machine, known=over.described if over else {},
    )  # fmt: skip
    _measure(clusters, twins_too=not (described or over))
    return "\n".join([*lines, *clusters.lines])


def _measure(clusters: NotedClusters, twins_too: bool) -> None:
    """Note the sweep, and a block of each contrast that starts or restarts something of its own."""
    experiment, size = clusters.experiment, clusters.size
    performing.perform(experiment.sweep(size), clusters, progress=False)
    for contrast in experiment.planned_contrasts(size):
        if contrast.design == designs.TWINS and twins_too:
            _twins(clusters, contrast)
        elif contrast.design == designs.RESTARTS:
            _restarts(clusters, contrast)


def _where(there: connected.Connected, given: str | None) -> Iterator[str]:
    """Name the hosts, and what runs on each."""
    placed = there.hosts.placed
    over = count(len(placed), "host")
    if given in (None, roles.NAMESPACES):
        over = f"{len(placed)} network namespaces of this machine, named by letters"
    elif not there.sites:
        over += " such as this one; none was reached"
    yield f"# over {over}:"
    for place in placed:
        known = f"; {there.hosts.described[place.name].describe()}" if there.sites else ""
        yield f"#   {place.name}: {', '.join(place.roles)}{known}"


def _problems(
    machine: host.Host,
    plans: Collection[Plan],
    there: connected.Connected | None,
    described: str | None,
    engines: str | None,
) -> list[str]:
    """Return, as comments, what would prevent a measurement here."""
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


def _restarts(clusters: NotedClusters, contrast: Contrast) -> None:
    """Note a block of restarts: what each MySQL server is restarted with, and its load."""
    cluster = clusters.ready(*(contrast.side(name).point for name in (designs.A, designs.B)))
    about = f"# {contrast.name}: for each block all MySQL servers are restarted at once"
    clusters.lines += ("", about)
    for name in (designs.A, designs.B):
        job = _job_of_block(clusters, contrast, name, cluster.plan)
        for node in job.servers:
            own = [f"{key}={value}" for key, value in node.options]
            own += [f"{len(node.node_ids)} connections"] if node.pool_node_ids else []
            told = listed(own) if own else "nothing of its own"
            clusters.lines.append(f"# side {name}: {node.name} with {told}")
        clusters.load(cluster, job)
    order = _order(contrast, clusters)
    clusters.lines.append(f"# {order}; in the next block they exchange all this")


def _twins(clusters: NotedClusters, contrast: Contrast) -> None:
    """Note the first block of twins: both clusters in their places, then the load of each."""
    clusters.lines += (
        "",
        f"# twins {contrast.name}: two clusters, started at the same moment,",
        "# each in a control group of its own of equal weight, if the host has such;",
        "# while one of them works, all processes of the other are stopped",
    )
    plans = [clusters.plans[contrast.side(name).point.variant] for name in (designs.A, designs.B)]
    if why := twins.lack(plans, clusters.machine, feasible.disk_free_bytes(plans[0])):
        why = f"# not possible here, so one cluster after the other: {why}"
        clusters.lines.append(why)
        return
    slices = _slices(contrast, clusters)
    started = {slice_.side: clusters.twin(contrast, slice_)[0] for slice_ in slices}
    order = _order(contrast, clusters)
    clusters.lines.append(f"# {order}; with exchanged places in the next block")
    for name in (designs.A, designs.B):
        clusters.lines.append(f"# side {name}")
        job = _job_of_block(clusters, contrast, name, started[name].plan)
        clusters.load(started[name], job)


def _slices(contrast: Contrast, clusters: NotedClusters) -> list[Slice]:
    """Return the slices of the first block."""
    return list(itertools.chain(*contrast.block(1, clusters.size.seed)))


def _order(contrast: Contrast, clusters: NotedClusters) -> str:
    order = " ".join(slice_.side for slice_ in _slices(contrast, clusters))
    if contrast.turns:
        return f"all clients connected, they work in turn, {order}, a second each"
    return f"loaded in turn, {order}, a slice each"


def _job_of_block(clusters: NotedClusters, contrast: Contrast, name: str, plan: Plan) -> Job:
    """Return the load of a side for as long as a block lasts, as its slices share one."""
    experiment, side = clusters.experiment, contrast.side(name)
    length = contrast.length(experiment.slice_length(clusters.size))
    order = [slice_.side for slice_ in _slices(contrast, clusters)]
    own = turns.Schedule.of(order, length.warmup_s, contrast.pause_s)
    seconds = own.load_s if contrast.turns else sum(length)
    whole = dataclasses.replace(clusters.size, warmup_s=0, duration_s=seconds)
    binaries = clusters.binaries_of(side.point.variant)
    return experiment.job(whole, binaries, plan, side.point, side.options)


def contrasts(experiment: Experiment, size: Profile) -> Iterator[str]:
    """Name the contrasts that would follow the sweep."""
    planned = experiment.planned_contrasts(size)
    if planned and experiment.asked:
        yield "# then blocks of a contrast:"
    elif planned:
        yield "# then contrasts, with the clients that gave the best throughput in the sweep;"
        yield "# here, before the sweep, with the profile's middle number of clients:"
    for contrast in planned:
        sides = listed(map(_side, contrast.sides))
        block = duration(time_needed.block_s(contrast, experiment, size))
        yield f"#   {contrast.name} ({contrast.design}, {block} a block): {sides}"
        yield f"#     for {', '.join(contrast.claims) or f'{contrast.blocks} blocks'}"


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
    experiment: Experiment, machine: host.Host, described: str | None, request: Request
) -> Iterator[connected.Connected | None]:
    """Yield the hosts of an experiment: those given, or namespaces if it needs several."""
    given, insecure_network = request.hosts, request.insecure_network
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
    """Return the programs of this host, or for another host their names, as on its PATH."""
    return named(noted.PUBLISHED_NDB, noted.PUBLISHED_SYSBENCH) if described else install.find()


def _installations(
    described: str | None, engines: str | None
) -> tuple[Binaries | None, Binaries | None]:
    """Return the programs of the usual variants and the second engine; None if not installed."""
    if engines and described is None:
        from ndblab.install.engines import find

        return find(engines) or (None, None)
    usual = _binaries(described)
    # A cluster of each is shown, though both would be the same.
    return usual, usual and dataclasses.replace(usual, origin="the second installation")
